"""``relay``: pass a client's connection on to the node that runs its room.

Law of this module: frames keep their order and none is lost; what waits stays bounded on
both sides, because each side stops reading while the other is full; and the code of the side
that closes first reaches the other. One hop: what came by a relay is not relayed again.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable

from websockets.client import ClientProtocol
from websockets.frames import CloseCode as WireCode
from websockets.protocol import CONNECTING
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from demineur.net.connection import Connection, Endpoint
from demineur.net.link import ABNORMAL, NO_STATUS, Link, Turn
from demineur.net.metrics import RELAYS
from demineur.net.relay_proof import (
    ADDRESS_HEADER,
    PATH_PREFIX,
    PROOF_HEADER,
    checked_secret,
    proof,
)
from demineur.protocol.codes import CLOSE_REASONS, CloseCode
from demineur.protocol.wire import SUBPROTOCOL

_CORE_LOG = logging.getLogger("demineur.net.core")

_HEAD_BYTES_MAX = 16_384
_FRAME_BYTES_MAX = 1_048_576
"""From a node of ours, so only a fault may reach it."""

_HIGH_WATER_BYTES = 65_536
_CLOSE_TIMEOUT_S = 3.0
_STALL_TIMEOUT_S = 10.0
"""How long the node may leave the client's messages unread; then it counts as lost."""
_DEAD_PEER_MS = 10_000


class RelayError(Exception):
    """The connection could not be passed on; nothing was forwarded, and it is still held."""


class RelayRefused(RelayError):  # noqa: N818 - what happened, by blame
    """Nobody listens there, or what listens there said no.

    ``status`` is the HTTP status of a node that answered (403: another secret, 404: no such
    path, 503: full or going away), or None where nobody did.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class RelayTimeout(RelayError):  # noqa: N818
    """No answer in time: the node may be paused, or far behind."""


async def relay(
    connection: Connection,
    address: str,
    secret: str,
    *,
    first: Iterable[bytes] = (),
    timeout_s: float = 1.5,
) -> None:
    """Connect to the node's internal listener and pipe from now on; return when it is open.

    Arguments:
        connection: it is held from the first step of this call on.
        address: the node's internal address, ``host:port``.
        secret: what the nodes share.
        first: frames the endpoint has received already and the other node has to see; they go
            ahead of what is held.
        timeout_s: for connecting and the handshake together.

    When it returns, the endpoint receives no more messages; it is told ``closed`` at the end.
    ``RelayRefused`` and ``RelayTimeout`` come before anything has been forwarded: take the
    room over and ``release`` the connection. Cancelled: the same, the connection stays held.
    Raises ``ValueError`` for a connection that came by a relay, or a path without a room.
    """
    if connection.relayed or not connection.path.startswith("/ws/"):
        raise ValueError("only a client's own connection to a room can be relayed")
    connection.hold()
    try:
        upstream = await _connect(connection, address, checked_secret(secret), timeout_s)
    except RelayRefused:
        RELAYS.labels("refused").inc()
        raise
    except RelayTimeout:
        RELAYS.labels("timeout").inc()
        raise
    RELAYS.labels("opened").inc()
    upstream.pipe(connection, first)


async def _connect(
    connection: Connection, address: str, secret: bytes, timeout_s: float
) -> "_Upstream":
    path = PATH_PREFIX + connection.path.removeprefix("/ws/")
    wire = ClientProtocol(
        parse_uri(f"ws://{address}{path}"),
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        max_size=_FRAME_BYTES_MAX,
        logger=_CORE_LOG,
    )
    headers = {
        ADDRESS_HEADER: connection.address,
        PROOF_HEADER: proof(secret, wire.key, path, connection.address),
    }
    upstream = _Upstream(wire, connection.turn, headers)
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(timeout_s):
            loop = asyncio.get_running_loop()
            await loop.create_connection(lambda: upstream, host.strip("[]"), int(port))
            await upstream.shaken
    except TimeoutError:
        upstream.abort()
        raise RelayTimeout(f"no answer within {timeout_s} s") from None
    except OSError as error:
        upstream.abort()
        raise RelayRefused(f"no connection: {type(error).__name__}") from None
    except BaseException:
        upstream.abort()
        raise
    return upstream


class _Upstream(Link):
    """Our end of the websocket to the other node."""

    __slots__ = (
        "_connection",
        "_early",
        "_head",
        "_headers",
        "_is_over",
        "_loop",
        "_stall",
        "_timer",
        "shaken",
    )

    def __init__(self, wire: ClientProtocol, turn: Turn, headers: dict[str, str]) -> None:
        super().__init__(wire, turn, _FRAME_BYTES_MAX)
        self._loop = asyncio.get_running_loop()
        self._headers = headers
        self._head = b""
        self._early = b""
        self._connection: Connection | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._is_over = False
        self.shaken: asyncio.Future[None] = self._loop.create_future()
        """Done when the handshake is; fails with ``RelayRefused``."""

    def pipe(self, connection: Connection, first: Iterable[bytes]) -> None:
        """Join the two ends: what came first, then what is held, then what comes."""
        self._connection = connection
        for text in first:
            self._write_text(text)
        connection.hand_over(_Pipe(self, connection.endpoint))
        connection.on_backlog(self._stop_reading, self._go_on_reading)
        connection.release()
        early, self._early = self._early, b""
        self._go_on_reading()
        if early:
            super().data_received(early)
        if self._is_over:  # it ended between the handshake and now
            self._close_client(*self._final())

    def send(self, text: bytes) -> None:
        """Forward a client's message."""
        if self.is_open:
            self._write_text(text)

    def close(self, code: int) -> None:
        """Pass the client's end on; an end without a close frame is passed on as such."""
        if code == ABNORMAL:
            self.abort()
        elif code == NO_STATUS:
            self._send_close(WireCode.NORMAL_CLOSURE, "")
        else:
            self._send_close(code, "")

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the handshake."""
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sock is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _DEAD_PEER_MS)
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=_HIGH_WATER_BYTES)
        wire = self._wire
        if isinstance(wire, ClientProtocol):
            request = wire.connect()
            request.headers.update(self._headers)
            wire.send_request(request)
            self._pump()

    def data_received(self, data: bytes) -> None:
        """Finish the handshake, then work off frames."""
        if self._connection is not None:
            super().data_received(data)
            return
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if end:
            self._head = b""
            self._shake(head + end)
            # What the node says before the pipe is laid must wait for it.
            self._early = rest
            self._stop_reading()
        elif len(self._head) > _HEAD_BYTES_MAX:
            self._refused("its answer is no handshake", None)

    def pause_writing(self) -> None:
        """The node is behind: read no more from the client, and wait for it for a while."""
        self._stall = self._loop.call_later(_STALL_TIMEOUT_S, self.abort)
        if self._connection is not None:
            self._connection.pause(True)

    def resume_writing(self) -> None:
        """The node has caught up."""
        self._cancel(self._stall)
        if self._connection is not None:
            self._connection.pause(False)

    def eof_received(self) -> bool:
        """The node has closed."""
        if self._wire.state is CONNECTING:
            self._refused("it hung up", None)
            return False
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The node is gone."""
        self._cancel(self._stall)
        self._cancel(self._timer)
        self._refused("it hung up", None)
        super().connection_lost(exc)

    # What the link calls.

    def _message(self, text: bytes, arrived_ns: int) -> None:
        if self._connection is not None:
            self._connection.send(text)

    def _closing(self) -> None:
        self._go_on_reading()
        self._timer = self._loop.call_later(_CLOSE_TIMEOUT_S, self.abort)

    def _ended(self, code: int, reason: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._close_client(code, reason)

    # Inside.

    def _close_client(self, code: int, reason: str) -> None:
        if self._connection is None:
            return
        self._connection.on_backlog(None, None)
        if code in {ABNORMAL, NO_STATUS}:
            code, reason = CloseCode.RESTART, CLOSE_REASONS[CloseCode.RESTART]
        self._connection.close(code, reason)

    def _shake(self, head: bytes) -> None:
        status = head.split(b" ", 2)[1:2]
        if status != [b"101"]:
            known = int(status[0]) if status and status[0].isdigit() else None
            self._refused("it refused the handshake", known)
            return
        self._wire.receive_data(head)
        self._wire.events_received()
        if self._wire.handshake_exc is not None:
            self._refused("its answer is no handshake", None)
        elif not self.shaken.done():
            self.shaken.set_result(None)

    def _refused(self, text: str, status: int | None) -> None:
        if not self.shaken.done():
            self.shaken.set_exception(RelayRefused(text, status))
            self.abort()

    @staticmethod
    def _cancel(timer: asyncio.TimerHandle | None) -> None:
        if timer is not None:
            timer.cancel()

    def _stop_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def _go_on_reading(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()


class _Pipe:
    """The endpoint of a relayed connection."""

    __slots__ = ("_upstream", "_was")

    def __init__(self, upstream: _Upstream, was: Endpoint) -> None:
        self._upstream = upstream
        self._was = was

    def opened(self, connection: Connection) -> None:
        """Never called: the connection was open before."""

    def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
        """Forward it."""
        self._upstream.send(text)

    def closed(self, connection: Connection, code: int) -> None:
        """Tell both."""
        self._upstream.close(code)
        self._was.closed(connection, code)
