"""``Visitor``: somebody who has said hello, on one connection, in or before one room."""

from demineur import protocol as wire
from demineur.net import Connection


class Visitor:
    """An identity on a connection. ``seat`` is set by the runner that seats it."""

    __slots__ = (
        "answered_n",
        "arrived_ns",
        "connection",
        "is_spectator",
        "name",
        "player",
        "seat",
    )

    def __init__(self, connection: Connection, player: str, name: str) -> None:
        self.connection = connection
        self.player = player
        """The identity's public id."""
        self.name = name
        self.seat: int | None = None
        self.is_spectator = False
        self.answered_n = 0
        """The last move that was answered as made: what the client relies on."""
        self.arrived_ns = 0
        """``time.monotonic_ns`` at which the message in hand arrived."""

    def send(self, frame: bytes) -> None:
        """Send a frame."""
        self.connection.send(frame)

    def send_droppable(self, frame: bytes) -> bool:
        """Send a frame that a slow receiver may miss."""
        return self.connection.send_droppable(frame)

    def hold(self) -> None:
        """Let what the client says wait."""
        self.connection.hold()

    def release(self) -> None:
        """Hand over what waited."""
        self.connection.release()

    def end(self, code: wire.CloseCode, retry_ms: int | None = None) -> None:
        """Say goodbye with the reason, and close."""
        part(self.connection, code, retry_ms)


def part(connection: Connection, code: wire.CloseCode, retry_ms: int | None = None) -> None:
    """Say goodbye with the reason, and close the connection."""
    text = wire.CLOSE_REASONS[code]
    connection.send(wire.encode(wire.Goodbye(code=code, text=text, retry_ms=retry_ms)))
    connection.close(code, text)
