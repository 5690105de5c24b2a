"""``Visitor``: somebody who has said hello, on one connection, in or before one room."""

from enum import Enum, auto

from demineur import protocol as wire
from demineur.net import Connection


class Hold(Enum):
    """Why what a client says has to wait."""

    AWAITING = auto()
    """Something that it asked for has to be awaited."""
    FROZEN = auto()
    """The store does not answer, and time stands still."""
    MOVING = auto()
    """Its room is made anew, or handed over."""


class Latch:
    """Holds a connection for as long as there is a reason to."""

    __slots__ = ("_reasons", "connection")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._reasons: set[Hold] = set()

    def hold(self, reason: Hold) -> None:
        """Let what the client says wait, for this reason too."""
        self._reasons.add(reason)
        self.connection.hold()

    def release(self, reason: Hold) -> None:
        """Hand over what waited, unless there is another reason to wait."""
        self._reasons.discard(reason)
        if not self._reasons:
            self.connection.release()

    def clear(self) -> None:
        """Hold for no reason any more: the connection ends."""
        self._reasons.clear()
        self.connection.release()


class Visitor:
    """An identity on a connection. ``seat`` is set by the runner that seats it."""

    __slots__ = (
        "_latch",
        "answered_n",
        "arrived_ns",
        "asked_n",
        "connection",
        "done_n",
        "name",
        "player",
        "seat",
    )

    def __init__(self, latch: Latch, player: str, name: str) -> None:
        self._latch = latch
        self.connection = latch.connection
        self.player = player
        """The identity's public id."""
        self.name = name
        self.seat: int | None = None
        self.answered_n = 0
        """The last move that was answered as made: what the client relies on."""
        self.asked_n = self.done_n = 0
        """The last move that was taken in, and the last that was answered in any way."""
        self.arrived_ns = 0
        """``time.monotonic_ns`` at which the message in hand arrived."""

    @property
    def is_waiting(self) -> bool:
        """Whether a move of this client has no answer yet."""
        return self.asked_n != self.done_n

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self.connection.send(frame)

    def send_droppable(self, frame: bytes) -> bool:
        """Send a frame that a slow receiver may miss."""
        return self.connection.send_droppable(frame)

    def hold(self, reason: Hold) -> None:
        """Let what the client says wait."""
        self._latch.hold(reason)

    def release(self, reason: Hold) -> None:
        """Hand over what waited, unless there is another reason to wait."""
        self._latch.release(reason)

    def end(self, code: wire.CloseCode, retry_ms: int | None = None) -> None:
        """Say goodbye with the reason, and close."""
        part(self.connection, code, retry_ms)
        self._latch.clear()


def part(connection: Connection, code: wire.CloseCode, retry_ms: int | None = None) -> None:
    """Say goodbye with the reason, and close the connection."""
    text = wire.CLOSE_REASONS[code]
    connection.send(wire.encode(wire.Goodbye(code=code, text=text, retry_ms=retry_ms)))
    connection.close(code, text)
