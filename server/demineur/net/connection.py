"""``Connection``: one client's websocket, as the rest of the server sees it.

Law of this module: whatever a client does, a connection costs bounded memory and bounded time
of the event loop, and what its endpoint raises ends this connection only.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag
from typing import Protocol, TypeAlias

import structlog
from websockets.frames import CloseCode as WireCode
from websockets.frames import Frame, Opcode
from websockets.server import ServerProtocol

from demineur.net.limits import Limits, in_ns
from demineur.net.link import Link, Turn
from demineur.net.metrics import CLOSED, FAULTS, TRAFFIC
from demineur.net.rates import TokenBucket
from demineur.net.wheel import Wheel
from demineur.protocol.codes import CLOSE_REASONS, CloseCode

_log = structlog.stdlib.get_logger(__name__)

_HELD_BYTES_MAX = 32_768
_FRAME_OVERHEAD = 64


class Endpoint(Protocol):
    """What the rest of the server does with a connection.

    All calls come on the event loop, in order: ``opened`` once, ``received`` for each message,
    ``closed`` once. An exception is logged and closes the connection with 1011.
    """

    def opened(self, connection: "Connection") -> None:
        """The handshake is done."""

    def received(self, connection: "Connection", text: bytes, arrived_ns: int) -> None:
        """A message: valid UTF-8, within the limit. ``arrived_ns``: ``time.monotonic_ns``."""

    def closed(self, connection: "Connection", code: int) -> None:
        """It is over: the code of the side that closed first, 1005 without one, or 1006."""


class _Pause(IntFlag):
    """Why nothing is read from a client at the moment."""

    HELD = 1
    SLICED = 2
    BACKPRESSURE = 4


_Call: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who has connected, and to what."""

    path: str
    address: str
    relayed: bool


class Connection(Link):
    """One websocket of a client. All methods are synchronous, and safe after its end."""

    __slots__ = (
        "__weakref__",
        "_bucket",
        "_deadline_ns",
        "_endpoint",
        "_full_ns",
        "_has_spoken",
        "_held",
        "_held_bytes",
        "_is_held",
        "_is_over",
        "_is_slicing",
        "_limits",
        "_on_drain",
        "_on_full",
        "_on_lost",
        "_pauses",
        "_ping_ns",
        "_rest",
        "_rest_at",
        "_rest_ns",
        "_shared",
        "_wheel",
        "address",
        "due_tick",
        "path",
        "relayed",
    )

    def __init__(
        self,
        wire: ServerProtocol,
        endpoint: Endpoint,
        caller: Caller,
        *,
        limits: Limits,
        turn: Turn,
        wheel: Wheel,
        on_lost: Callable[["Connection"], None],
        shared: TokenBucket | None = None,
    ) -> None:
        """``shared`` bounds the frames of all connections of this address together."""
        super().__init__(wire, turn, limits.max_frame_bytes)
        self.path = caller.path
        """The request's path, without a query: ``/ws/K7MP3QXZ``."""
        self.address = caller.address
        """The client's address, behind trusted proxies and relays."""
        self.relayed = caller.relayed
        """Whether another node relays it; it must not be relayed again."""
        self.due_tick = 0
        self._endpoint = endpoint
        self._limits = limits
        self._wheel = wheel
        self._on_lost = on_lost
        self._on_full: _Call | None = None
        self._on_drain: _Call | None = None
        self._max_frames = limits.read_slice_frames
        self._bucket = TokenBucket(limits.frames_per_s, limits.frame_burst)
        self._shared = shared
        self._held: deque[tuple[bytes, int]] | None = None
        self._held_bytes = 0
        self._is_held = False
        self._rest = b""
        self._rest_at = 0
        self._rest_ns = 0
        self._is_slicing = False
        self._pauses = _Pause(0)
        self._has_spoken = False
        self._is_over = False
        self._ping_ns = 0
        self._full_ns = 0
        self._deadline_ns = self._last_ns + in_ns(limits.first_frame_s)

    def begin(self, transport: asyncio.Transport, rest: bytes) -> None:
        """Take the transport over after the handshake, with the bytes that came behind it."""
        self._transport = transport
        transport.set_write_buffer_limits(high=self._limits.droppable_bytes)
        transport.set_protocol(self)
        self._pump()
        self._wheel.put(self, self._deadline_ns)
        self._edge(lambda: self._endpoint.opened(self))
        if rest:
            self.data_received(rest)

    # What the rest of the server calls.

    def send(self, frame: bytes) -> None:
        """Send one message; UTF-8, not checked. Dropped when the connection is closing.

        A client for which more than ``max_buffered_bytes`` wait already is closed with 4009.
        """
        if not self.is_open:
            return
        if self.buffered > self._limits.max_buffered_bytes:
            self._give_up()
            return
        self._write_text(frame)

    def send_droppable(self, frame: bytes) -> bool:
        """Send one message that the next one makes obsolete, unless the client is behind.

        False: it was dropped, because more than ``droppable_bytes`` wait or it is closing.
        """
        if not self.is_open:
            return False
        if self.buffered > self._limits.droppable_bytes:
            TRAFFIC.dropped += 1
            return False
        self._write_text(frame)
        return True

    def close(self, code: int, reason: str = "") -> None:
        """Begin the closing handshake; nothing is received any more. A second call is nothing.

        ``reason`` is cut to the 123 bytes that a close frame carries. Raises
        ``websockets.exceptions.ProtocolError`` for a code that must not be sent.
        """
        self._send_close(code, reason)

    def hold(self) -> None:
        """Keep what arrives from now on, in order, until ``release``.

        For the time in which the endpoint has to await something before it can go on. Reading
        stops when 32 KiB are held. Every ``hold`` needs its ``release``: till then the
        endpoint is not told ``closed`` either.
        """
        if self._held is None:
            if self._is_over:
                return
            self._held = deque()
        self._is_held = True

    def release(self) -> None:
        """Hand over what was held, and its end if it has ended, and hold no more.

        A ``received`` may hold again: then the rest stays, in order, for the next release.
        """
        held = self._held
        if held is None:
            return
        self._is_held = False
        while held and not self._is_closed_here:
            text, arrived_ns = held.popleft()
            self._held_bytes -= len(text) + _FRAME_OVERHEAD
            self._deliver(text, arrived_ns)
            if self._is_held:
                return
        self._held = None
        self._held_bytes = 0
        self._pause(_Pause.HELD, on=False)
        if self._is_over:
            self._tell_closed()

    # What a relay and the listener call.

    @property
    def endpoint(self) -> Endpoint:
        """Who receives."""
        return self._endpoint

    def hand_over(self, endpoint: Endpoint) -> None:
        """Let another endpoint receive from now on; it is not told ``opened``."""
        self._endpoint = endpoint

    def on_backlog(self, full: _Call | None, drained: _Call | None) -> None:
        """Call ``full`` when more than ``droppable_bytes`` wait for the client to read, and
        ``drained`` when most of them are gone."""
        self._on_full, self._on_drain = full, drained

    def pause(self, on: bool) -> None:
        """Read nothing from the client for a while, because what it feeds is full."""
        self._pause(_Pause.BACKPRESSURE, on=on)

    def look(self, now_ns: int) -> int:
        """Do what time demands, and return when to look again (see ``Wheel``)."""
        if self._is_lost:
            return 0
        if self.is_open:
            next_ns = self._look_alive(now_ns) if self._has_spoken else self._deadline_ns
            stall_ns = self._full_ns + in_ns(self._limits.stall_timeout_s)
            if self._full_ns and now_ns >= stall_ns:
                self._give_up()
            elif not self._has_spoken and now_ns >= next_ns:
                self.close(CloseCode.NO_FIRST_FRAME, CLOSE_REASONS[CloseCode.NO_FIRST_FRAME])
            else:
                return min(next_ns, stall_ns) if self._full_ns else next_ns
        elif now_ns >= self._deadline_ns:
            self.abort()
            return 0
        return self._deadline_ns

    def _look_alive(self, now_ns: int) -> int:
        if self._pauses:  # it cannot be heard, so its silence means nothing
            self._last_ns = now_ns
        timeout_ns = in_ns(self._limits.ping_timeout_s)
        quiet_ns = in_ns(self._limits.ping_interval_s)
        if self._ping_ns > self._last_ns:
            if now_ns - self._ping_ns >= timeout_ns:
                self.abort()
                return 0
        elif now_ns - self._last_ns >= quiet_ns:
            self._wire.send_ping(b"")
            self._pump()
            self._ping_ns = now_ns
        else:
            return self._last_ns + quiet_ns
        return self._ping_ns + timeout_ns

    # What the transport calls.

    def data_received(self, data: bytes) -> None:
        """Work off one slice; a burst's rest waits for the next turn of the event loop."""
        if not self._has_more():
            self._rest_ns = self._last_ns = time.monotonic_ns()
            if len(data) <= self._limits.read_slice_bytes:
                self._take(data, self._rest_ns)
                if self._has_more():
                    self._pause(_Pause.SLICED, on=True)
                    self._slice_soon()
                return
        self._rest = self._rest[self._rest_at :] + data
        self._rest_at = 0
        self._pause(_Pause.SLICED, on=True)
        self._next_slice()

    def _next_slice(self) -> None:
        """Work off a slice of the rest, unless what it would feed is full."""
        self._is_slicing = False
        if self._is_lost or not self._has_more() or self._pauses & ~_Pause.SLICED:
            return
        data = b""
        if not self._is_cut:
            data = self._rest[self._rest_at : self._rest_at + self._limits.read_slice_bytes]
            self._rest_at += len(data)
        self._last_ns = self._rest_ns
        self._take(data, self._rest_ns)
        if self._rest_at >= len(self._rest):
            self._rest, self._rest_at = b"", 0
        if self._has_more():
            self._slice_soon()
        else:
            self._pause(_Pause.SLICED, on=False)

    def _has_more(self) -> bool:
        """Whether what has been read is not worked off yet."""
        return bool(self._rest) or self._is_cut

    def _slice_soon(self) -> None:
        """Have one slice worked off in the next turn, whoever asks for it and how often."""
        if not self._is_slicing:
            self._is_slicing = True
            asyncio.get_running_loop().call_soon(self._next_slice)

    def pause_writing(self) -> None:
        """More than ``droppable_bytes`` wait."""
        self._full_ns = time.monotonic_ns()
        self._wheel.put(self, self._full_ns)  # a look finds out which deadline is the next
        if self._on_full is not None:
            self._on_full()

    def resume_writing(self) -> None:
        """Most of what waited is gone."""
        self._full_ns = 0
        if self._on_drain is not None:
            self._on_drain()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the wheel and the listener."""
        super().connection_lost(exc)
        self._rest = b""
        self._wheel.drop(self)
        self._on_lost(self)

    # What the link calls.

    def _take(self, data: bytes, arrived_ns: int) -> int:
        frames = super()._take(data, arrived_ns)
        if frames and not (
            self._bucket.take(arrived_ns, frames)
            and (self._shared is None or self._shared.take(arrived_ns, frames))
        ):
            self._fail(CloseCode.FLOODING, CLOSE_REASONS[CloseCode.FLOODING])
        ahead = self._limits.frame_burst - self._bucket.tokens
        is_brisk = ahead <= self._limits.brisk_frames
        self._max_frames = self._limits.read_slice_frames if is_brisk else 1
        return frames

    def _frame(self, frame: Frame, arrived_ns: int) -> None:
        super()._frame(frame, arrived_ns)
        if frame.opcode is Opcode.PING and self.buffered > self._limits.max_buffered_bytes:
            self._give_up()  # one that sends pings and never reads the pongs

    def _message(self, text: bytes, arrived_ns: int) -> None:
        self._has_spoken = True
        if self._held is None:
            self._deliver(text, arrived_ns)
            return
        self._held.append((text, arrived_ns))
        self._held_bytes += len(text) + _FRAME_OVERHEAD
        if self._held_bytes > _HELD_BYTES_MAX:
            self._pause(_Pause.HELD, on=True)

    def _closing(self) -> None:
        self._deadline_ns = time.monotonic_ns() + in_ns(self._limits.close_timeout_s)
        self._wheel.put(self, self._deadline_ns)
        # The other side's close frame, or its end, must be heard now.
        self._pause(self._pauses & ~_Pause.SLICED, on=False)

    def _ended(self, code: int, reason: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        CLOSED.labels(code if code in _COUNTED_CODES else "other").inc()
        if self._held is None:
            self._tell_closed()

    # Inside.

    @property
    def _is_closed_here(self) -> bool:
        """Whether this side closed first: what came before is not for the endpoint any more."""
        return self._wire.close_sent is not None and not self._wire.close_rcvd_then_sent

    def _deliver(self, text: bytes, arrived_ns: int) -> None:
        try:
            self._endpoint.received(self, text, arrived_ns)
        except Exception:
            self._fault()

    def _tell_closed(self) -> None:
        code = self._final()[0]
        self._edge(lambda: self._endpoint.closed(self, code))

    def _edge(self, call: _Call) -> None:
        try:
            call()
        except Exception:
            self._fault()

    def _fault(self) -> None:
        FAULTS.inc()
        _log.exception("endpoint failed")
        self.close(WireCode.INTERNAL_ERROR, CLOSE_REASONS[CloseCode.INTERNAL])

    def _give_up(self) -> None:
        """Close a slow receiver; what has not reached the transport yet is dropped."""
        self._out.clear()
        self._out_bytes = 0
        self.close(CloseCode.TOO_SLOW, CLOSE_REASONS[CloseCode.TOO_SLOW])

    def _pause(self, why: _Pause, *, on: bool) -> None:
        before = self._pauses
        self._pauses = before | why if on else before & ~why
        if self._pauses == before:
            return
        if self._pauses == _Pause.SLICED and not on:  # it was full besides, and is no more
            self._slice_soon()
        transport = self._transport
        if transport is None or transport.is_closing() or bool(before) == bool(self._pauses):
            return
        if self._pauses:
            transport.pause_reading()
        else:
            transport.resume_reading()


_COUNTED_CODES = frozenset(code.value for kind in (CloseCode, WireCode) for code in kind)
