"""``Link``: one websocket over one TCP connection, text in and text out.

Law of this module: no task, queue or future per message. Bytes come in by a callback, whole
messages go out of it by a callback, and all that is sent in one turn of the event loop is one
write. The protocol itself (control frames, fragments, closing, what is an error) is that of
``websockets``' Sans-I/O core; only the everyday frame, a whole text message, goes past it.
"""

import asyncio
import struct
import sys
import time
from abc import abstractmethod

from websockets.frames import CloseCode as WireCode
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol

from demineur.net.metrics import TRAFFIC

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiled wheel for this platform
    from websockets.utils import apply_mask

_REASON_BYTES_MAX = 123
_TEXT_FIN = 0x80 | Opcode.TEXT
_SHORT_MAX = 125
_HEAD_16 = 126
_HEAD_64 = 127

ABNORMAL = int(WireCode.ABNORMAL_CLOSURE)
NO_STATUS = int(WireCode.NO_STATUS_RCVD)


def text_head(length: int) -> bytes:
    """Return the head of an unmasked, unfragmented text frame.

    >>> text_head(5).hex(), text_head(300).hex()
    ('8105', '817e012c')
    """
    if length <= _SHORT_MAX:
        return bytes((_TEXT_FIN, length))
    if length < 1 << 16:
        return struct.pack("!BBH", _TEXT_FIN, _HEAD_16, length)
    return struct.pack("!BBQ", _TEXT_FIN, _HEAD_64, length)


class Turn:
    """The links that write at the end of this turn of the event loop."""

    __slots__ = ("_links", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._links: list[Link] = []

    def add(self, link: "Link") -> None:
        """Have the link flushed once in this turn; the caller adds it once."""
        if not self._links:
            self._loop.call_soon(self._flush)
        self._links.append(link)

    def _flush(self) -> None:
        links, self._links = self._links, []
        for link in links:
            link.flush()


class Link(asyncio.Protocol):
    """The part that both ends of a websocket have in common.

    A subclass says what happens with a message (``_message``), at the end (``_ended``, once),
    and where time limits are armed (``_closing``).
    """

    __slots__ = (
        "_in_parts",
        "_in_turn",
        "_is_closing",
        "_is_cut",
        "_is_lost",
        "_is_masked",
        "_last_ns",
        "_max_bytes",
        "_max_frames",
        "_out",
        "_out_bytes",
        "_partial",
        "_sends_eof",
        "_transport",
        "_wire",
        "turn",
    )

    def __init__(self, wire: Protocol, turn: Turn, max_bytes: int) -> None:
        self._wire = wire
        self.turn = turn
        """What flushes this link, and may flush others of the same event loop."""
        self._max_bytes = max_bytes
        self._max_frames = sys.maxsize
        """Frames that one ``_take`` works off; a subclass that sets it looks at ``_is_cut``."""
        self._is_cut = False
        """Whether the last ``_take`` may have left whole frames for another."""
        self._is_masked = wire.side is SERVER
        self._transport: asyncio.Transport | None = None
        self._partial = b""
        self._in_parts: bytearray | None = None
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._in_turn = False
        self._sends_eof = False
        self._is_closing = False
        self._is_lost = False
        self._last_ns = time.monotonic_ns()

    # What a subclass is told.

    @abstractmethod
    def _message(self, text: bytes, arrived_ns: int) -> None:
        """One whole message, valid UTF-8."""

    @abstractmethod
    def _ended(self, code: int, reason: str) -> None:
        """The websocket is over; called at least once, with the final code first."""

    @abstractmethod
    def _closing(self) -> None:
        """A closing handshake has begun: bound it. Called once."""

    # Sending.

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent: no close has been sent or received, nothing is lost."""
        return self._wire.state is OPEN and not self._is_lost

    @property
    def buffered(self) -> int:
        """Bytes that wait in this process for the other side to read."""
        transport = self._transport
        if transport is None:
            return self._out_bytes
        return self._out_bytes + transport.get_write_buffer_size()

    def _write_text(self, text: bytes) -> None:
        wire = self._wire
        TRAFFIC.frames_out += 1
        TRAFFIC.bytes_out += len(text)
        if self._is_masked and not wire.extensions:
            self._queue(text_head(len(text)))
            self._queue(text)
        else:
            wire.send_text(text)
            self._pump()

    def _queue(self, chunk: bytes) -> None:
        self._out.append(chunk)
        self._out_bytes += len(chunk)
        if not self._in_turn:
            self._in_turn = True
            self.turn.add(self)

    def _pump(self) -> None:
        """Queue what the protocol core wants to send."""
        for chunk in self._wire.data_to_send():
            if chunk:
                self._queue(chunk)
            else:
                self._sends_eof = True
                self._queue(b"")

    def flush(self) -> None:
        """Write everything that waits, in one write. Called by the ``Turn``."""
        transport = self._transport
        out, self._out, self._out_bytes, self._in_turn = self._out, [], 0, False
        if transport is None or transport.is_closing():
            return
        data = b"".join(out)
        if data:
            transport.write(data)
        if self._sends_eof:
            self._sends_eof = False
            # Half-close: a full close with unread input would reset the connection and could
            # destroy the close frame on its way.
            if transport.can_write_eof():
                transport.write_eof()
            else:
                transport.close()

    def _send_close(self, code: int, reason: str) -> None:
        if not self.is_open:
            return
        self._wire.send_close(code, _cut(reason))
        self._pump()
        self._begin_closing()

    def _fail(self, code: int, reason: str) -> None:
        """End the websocket for what the other side did; its input is not read any more."""
        if self._is_lost or self._wire.eof_sent:
            return
        self._wire.fail(code, _cut(reason))
        self._pump()
        self._begin_closing()
        self._ended(*self._final())

    def _begin_closing(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._closing()

    def abort(self) -> None:
        """Drop the connection at once; what waits is lost."""
        if self._transport is not None and not self._is_lost:
            self._transport.abort()

    # Receiving.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Work off what has arrived."""
        self._last_ns = time.monotonic_ns()
        self._take(data, self._last_ns)

    def eof_received(self) -> bool:
        """Tell the core, and let the transport close."""
        self._wire.receive_eof()
        self._after_wire(time.monotonic_ns())
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the subclass how it ended, if it has not been told."""
        self._is_lost = True
        self._out.clear()
        self._out_bytes = 0
        self._partial = b""
        self._in_parts = None
        self._wire.parser.close()  # it and the core hold each other; nobody waits for the GC
        self._ended(*self._final())

    def _take(self, data: bytes, arrived_ns: int) -> int:
        """Cut into frames, at most ``_max_frames`` of them; return how many there were.

        The core is fed whole frames only, so it always stands between two frames, and the
        everyday one may go past it. What is not the head of an acceptable frame is handed to
        it at once: it knows the error's name.
        """
        if self._partial:
            data = self._partial + data
            self._partial = b""
        position, end, frames = 0, len(data), 0
        mask_bytes = 4 if self._is_masked else 0
        while end - position >= 2 and frames < self._max_frames and not self._wire.eof_sent:
            first, second = data[position], data[position + 1]
            length, head = second & 0x7F, 2 + mask_bytes
            if length > _SHORT_MAX:
                extra = 2 if length == _HEAD_16 else 8
                if end - position < 2 + extra:
                    break
                length = int.from_bytes(data[position + 2 : position + 2 + extra])
                head += extra
            if length > self._max_bytes or (second >> 7) != self._is_masked:
                self._through_wire(data[position:], arrived_ns)
                return frames + 1
            stop = position + head + length
            if stop > end:
                break
            frames += 1
            if first == _TEXT_FIN and self._in_parts is None and self.is_open:
                text = data[position + head : stop]
                if mask_bytes:
                    text = apply_mask(text, data[position + head - 4 : position + head])
                self._whole(text, arrived_ns)
            else:
                self._other(first & 0x0F, data[position:stop], arrived_ns)
            position = stop
        if position < end and not self._wire.eof_sent:
            self._partial = data[position:]
        self._is_cut = frames == self._max_frames and bool(self._partial)
        return frames

    def _whole(self, text: bytes, arrived_ns: int) -> None:
        if not text.isascii():
            try:
                text.decode()
            except UnicodeDecodeError:
                self._fail(WireCode.INVALID_DATA, "text frames must be UTF-8")
                return
        TRAFFIC.frames_in += 1
        TRAFFIC.bytes_in += len(text)
        self._message(text, arrived_ns)

    def _other(self, opcode: int, frame: bytes, arrived_ns: int) -> None:
        """A frame that is not an everyday one. After our close only the answer to it counts:
        not even a ping is answered any more."""
        if not self._is_closing or opcode == Opcode.CLOSE:
            self._through_wire(frame, arrived_ns)

    def _through_wire(self, data: bytes, arrived_ns: int) -> None:
        self._wire.receive_data(data)
        self._after_wire(arrived_ns)

    def _after_wire(self, arrived_ns: int) -> None:
        for event in self._wire.events_received():
            if isinstance(event, Frame):
                self._frame(event, arrived_ns)
        self._pump()
        if self._wire.state is not OPEN:
            self._begin_closing()
            if self._wire.close_rcvd is not None or self._wire.eof_sent:
                self._ended(*self._final())

    def _frame(self, frame: Frame, arrived_ns: int) -> None:
        if frame.opcode is Opcode.BINARY:
            self._fail(WireCode.UNSUPPORTED_DATA, "text frames only")
        elif frame.opcode is Opcode.TEXT or frame.opcode is Opcode.CONT:
            if self._in_parts is None:
                self._in_parts = bytearray()
            self._in_parts += frame.data
            if frame.fin:
                text, self._in_parts = bytes(self._in_parts), None
                if self.is_open:
                    self._whole(text, arrived_ns)

    def _final(self) -> tuple[int, str]:
        """Return code and reason: of the side that closed first; 1006 where none did."""
        wire = self._wire
        close = wire.close_rcvd if wire.close_rcvd_then_sent else wire.close_sent
        close = close or wire.close_rcvd
        return (ABNORMAL, "") if close is None else (int(close.code), close.reason)


def _cut(reason: str) -> str:
    """Return the reason, short enough for a close frame."""
    return reason.encode()[:_REASON_BYTES_MAX].decode(errors="ignore")
