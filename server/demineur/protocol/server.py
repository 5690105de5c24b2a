"""What the server says: ``ServerMessage``, one object a frame, told apart by ``t``.

What belongs to a board leaves only as ``Segments`` of cells that the receiver has opened, made
by the engine's view, which cannot express another cell. Optional fields that are null are left
out of the frame. Times are whole milliseconds; ``…_at_ms`` are points on the server's clock
(``now_ms``), everything else is a length.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from demineur.protocol.client import Settings
from demineur.protocol.events import RoomEvent
from demineur.protocol.parts import (
    BoardSize,
    Frame,
    Phase,
    Player,
    RaceInfo,
    Result,
    Segments,
)


class Welcome(Frame):
    """Answers ``hello``."""

    t: Literal["welcome"] = "welcome"
    player: str
    """One's own public id."""
    token: str | None = None
    """Only for a new identity: keep it, it is shown once."""
    name: str
    now_ms: int
    room: bool
    """Whether the room of this address exists."""
    member: bool = False
    """Whether this identity has a place in it."""


class Error(Frame):
    """A message was refused; nothing has changed; the connection stays."""

    t: Literal["error"] = "error"
    code: str
    text: str
    n: int | None = None
    retry_ms: int | None = None


class Pong(Frame):
    """Answers ``ping``."""

    t: Literal["pong"] = "pong"
    at: float
    now_ms: int


class Goodbye(Frame):
    """Comes right before the server closes, for clients that cannot read close codes."""

    t: Literal["goodbye"] = "goodbye"
    code: int
    text: str
    retry_ms: int | None = None


class OwnClock(Frame):
    """One's own clock at the frame's ``now_ms``."""

    ms: int
    running: bool
    frozen_ms: int = 0
    """How long one's moves are still ignored after a mine (penalty)."""


class Clock(Frame):
    """The room's times, fresh at the moment of sending."""

    now_ms: int
    go_at_ms: int | None = None
    ends_at_ms: int | None = None
    own: OwnClock | None = None


class OwnRun(Frame):
    """One's own run, whole."""

    n: int
    """The last move of one's own that the server holds; 0 before the first."""
    status: Literal["ready", "playing", "won", "lost"]
    open: Segments
    flags: list[int]
    exploded: list[int]
    """Mines hit, all of them open."""


class You(Frame):
    """The receiver's own part of a snapshot."""

    role: Literal["player", "spectator"]
    seat: int | None = None
    run: OwnRun | None = None


class RoomSnapshot(Frame):
    """The whole room, as the receiver may see it."""

    t: Literal["room"] = "room"
    v: int
    code: str
    phase: Phase
    settings: Settings
    board: BoardSize
    host: int
    players: list[Player]
    spectators: int
    race: RaceInfo | None = None
    clock: Clock
    you: You
    result: Result | None = None


class Event(Frame):
    """Something happened in the room that everybody may know; versions have no gaps."""

    t: Literal["event"] = "event"
    v: int
    event: RoomEvent


class Moved(Frame):
    """Answers one's own move ``n``. A move that the rules ignore comes back without effects."""

    t: Literal["moved"] = "moved"
    n: int
    ms: int
    """One's own clock at the move."""
    open: Segments | None = None
    flag: tuple[int, bool] | None = None
    """The cell, and whether it carries a flag now."""
    status: Literal["playing", "won", "lost"] | None = None
    """Only when it changed."""
    frozen_ms: int | None = None
    """A mine was hit (penalty): how long moves are ignored now."""
    again: bool | None = None
    """This move had been made before; its effects were told then, or are in the snapshot."""


class Missed(Frame):
    """Answers a ``join`` that named what it holds: what it missed, in order."""

    t: Literal["missed"] = "missed"
    v: int
    n: int
    """The last move of one's own that the server holds."""
    events: list[Event]
    moves: list[Moved]
    progress: list[tuple[int, int, int]]
    spectators: int
    clock: Clock


class Progress(Frame):
    """How far others are, gathered; at most five a second."""

    t: Literal["progress"] = "progress"
    p: list[tuple[int, int, int]]
    """Seat, percent, flags: of those who changed."""


class Spectators(Frame):
    """How many watch."""

    t: Literal["spectators"] = "spectators"
    count: int


class ClockStarted(Frame):
    """One's own clock started by itself, 10 s after go."""

    t: Literal["clock"] = "clock"
    clock: Clock


class ListedRoom(Frame):
    """A room that its host listed."""

    code: str
    host: str
    settings: Settings
    players: int
    phase: Phase


class Lobby(Frame):
    """The listed rooms, those that wait for players first.

    It comes again when it changes, at most once a second.
    """

    t: Literal["lobby"] = "lobby"
    rooms: list[ListedRoom]


ServerMessage = Annotated[
    Welcome
    | Error
    | Pong
    | Goodbye
    | RoomSnapshot
    | Event
    | Moved
    | Missed
    | Progress
    | Spectators
    | ClockStarted
    | Lobby,
    Field(discriminator="t"),
]

SERVER_ADAPTER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
"""Validates a server's frame: for clients written in Python, the load test, and the tests."""
