"""``Limits``: every number that bounds what one client, or all of them, may cost a node.

Law of this module: a limit of the transport is a field here, with its unit in its name, its
default, and what happens at it. Nothing in ``net`` holds such a number elsewhere.
"""

from dataclasses import dataclass, fields

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a ``Listener`` allows. Frozen: a change means another listener.

    Raises ``ValueError`` for a value that is not positive, or that contradicts another.
    """

    max_frame_bytes: int = 4096
    """A client's message, fragments together; above: close 1009."""

    max_connections: int = 10_000
    """Websockets open at once; above: HTTP 503 at the handshake."""

    max_connections_per_address: int = 128
    """Websockets of one address (one /64 of IPv6) at once; above: HTTP 429 at the handshake.

    The same number bounds its sockets that are not websockets yet; above: dropped on accept.
    """

    max_pending: int = 1024
    """Sockets that are not websockets (yet): handshakes and plain HTTP. Above: the one that
    has been quiet the longest is dropped for the new one, so half-open handshakes cannot
    lock anybody out."""

    handshakes_per_s: float = 50.0
    """Websocket handshakes of one address, sustained; above: HTTP 429."""

    handshake_burst: int = 500
    """Websocket handshakes of one address at once (all of a school behind one address comes
    back after a restart); above: HTTP 429."""

    handshake_timeout_s: float = 5.0
    """From accept to a whole request head, however slowly it trickles; then HTTP 408."""

    keep_alive_s: float = 10.0
    """How long a plain HTTP connection may rest between requests; then closed."""

    response_timeout_s: float = 60.0
    """How long a client may take to read an HTTP response; then aborted."""

    max_requests: int = 500
    """Plain HTTP requests over one connection; the last answer says ``Connection: close``."""

    requests_per_turn: int = 4
    """Requests, handshakes among them, that are answered in one turn of the event loop; the others
    wait in line: a request costs as much as several moves."""

    max_head_bytes: int = 16_384
    """A request's head; above: HTTP 431."""

    first_frame_s: float = 5.0
    """From handshake to the first whole message; then close 4001."""

    ping_interval_s: float = 20.0
    """Silence after which a ping is sent. Whatever a client sends counts as a sign of life."""

    ping_timeout_s: float = 20.0
    """Silence after that ping; then the connection is dropped (1006)."""

    close_timeout_s: float = 3.0
    """For the closing handshake and the flush of what waits before it; then aborted."""

    frames_per_s: float = 200.0
    """Frames of one connection, control frames included, sustained; above: close 4008.

    This guards the event loop. What a fair player may send is limited above this floor, with
    an answer instead of a close.
    """

    frame_burst: int = 2000
    """Frames of one connection at once; above: close 4008."""

    address_frames_per_s: float = 40.0
    """Frames of one address, sustained, for each of the ``max_connections_per_address`` that it
    may have (5,120 a second together); above: close 4008 for whoever sends then.

    As much as so many players make, and a quarter of what a node can work off: so that no one
    address, whatever it sends over however many connections, keeps the others from playing.
    """

    address_frame_burst: float = 80.0
    """The same at once (10,240 together)."""

    max_buffered_bytes: int = 262_144
    """Waiting in this process for a client that reads slowly; above: close 4009."""

    droppable_bytes: int = 16_384
    """Waiting bytes above which droppable frames (progress) are dropped."""

    stall_timeout_s: float = 20.0
    """How long more than ``droppable_bytes`` may wait without most of them being read; then
    close 4009. So one that reads a byte a second is not kept for ever."""

    send_buffer_bytes: int = 65_536
    """``SO_SNDBUF`` of each socket. The system's own choice may grow to megabytes, which would
    hide a slow reader from the two limits above and feed it stale progress."""

    read_slice_bytes: int = 2048
    """Bytes of one connection that are worked off in one turn of the event loop; the rest of
    a burst waits its turn behind the other connections."""

    read_slice_frames: int = 8
    """Frames of one connection in one such turn: a slice may hold hundreds of small ones."""

    brisk_frames: int = 300
    """Frames that a connection may be ahead of ``frames_per_s`` before its turns hold one frame
    each. No person and no fair program is ever so far ahead; a flood is, and then costs the others
    a frame a turn."""

    deflate: bool = False
    """Whether permessage-deflate is accepted. Off: it costs up to 40 KiB a connection, and
    frames are small."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name != "deflate" and not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name} must be positive")
        if self.droppable_bytes > self.max_buffered_bytes:
            raise ValueError("droppable_bytes must not be above max_buffered_bytes")


def in_ns(seconds: float) -> int:
    """Return seconds as whole nanoseconds, the unit of ``time.monotonic_ns``."""
    return int(seconds * _NS_PER_S)
