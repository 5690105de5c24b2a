"""What the server says: ``ServerMessage``, one object a frame, told apart by ``t``.

What belongs to a board leaves only as ``Segments`` of cells that the receiver has opened, made
by the engine's view, which cannot express another cell. Optional fields that are null are left
out of the frame. Times are whole milliseconds; ``…_at_ms`` are points on the server's clock
(``now_ms``), everything else is a length.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from demineur.protocol.client import Settings

Phase = Literal["lobby", "preparing", "countdown", "racing", "finished"]
PlayerStatus = Literal["waiting", "playing", "finished", "out"]
Ending = Literal["won", "lost", "left", "absent", "timeout"]
Segments = list[tuple[int, str]]
"""Start cell and one character a cell along the row: a digit, or ``*`` for a mine hit."""


class _Frame(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Welcome(_Frame):
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


class Error(_Frame):
    """A message was refused; nothing has changed; the connection stays."""

    t: Literal["error"] = "error"
    code: str
    text: str
    n: int | None = None
    retry_ms: int | None = None


class Pong(_Frame):
    """Answers ``ping``."""

    t: Literal["pong"] = "pong"
    at: float
    now_ms: int


class Goodbye(_Frame):
    """Comes right before the server closes, for clients that cannot read close codes."""

    t: Literal["goodbye"] = "goodbye"
    code: int
    text: str
    retry_ms: int | None = None


class BoardSize(_Frame):
    """Columns, rows and mines of the room's level."""

    width: int
    height: int
    mines: int


class Player(_Frame):
    """One place in the room, as everybody may see it."""

    seat: int
    name: str
    ready: bool
    present: bool
    status: PlayerStatus
    percent: int = 0
    """Share of 3BV solved, 0 to 100, rounded down."""
    flags: int = 0
    ms: int | None = None
    """One's time, once one's run has ended."""


class RaceInfo(_Frame):
    """The race under way, or the last one."""

    round: int
    commitment: str
    marked: int | None = None
    """Shared start: the cell that everybody's first tap must be on."""
    seats: list[int]
    """Who races; the others in the room watch."""


class OwnClock(_Frame):
    """One's own clock at the frame's ``now_ms``."""

    ms: int
    running: bool
    frozen_ms: int = 0
    """How long one's moves are still ignored after a mine (penalty)."""


class Clock(_Frame):
    """The room's times, fresh at the moment of sending."""

    now_ms: int
    go_at_ms: int | None = None
    ends_at_ms: int | None = None
    own: OwnClock | None = None


class OwnRun(_Frame):
    """One's own run, whole."""

    n: int
    """The last move of one's own that the server holds; 0 before the first."""
    status: Literal["ready", "playing", "won", "lost"]
    open: Segments
    flags: list[int]
    exploded: list[int]
    """Mines hit, all of them open."""


class You(_Frame):
    """The receiver's own part of a snapshot."""

    role: Literal["player", "spectator"]
    seat: int | None = None
    run: OwnRun | None = None


class Standing(_Frame):
    """One line of the result table."""

    place: int
    seat: int
    name: str
    ending: Ending
    ms: int
    percent: int
    three_bv: int | None = None
    """Null for a player who never tapped: there is no board then."""
    three_bv_solved: int
    taps: int
    flags: int
    """Flag moves made."""
    penalty_ms: int
    first_tap: int | None = None


class Result(_Frame):
    """A race that is over, with all that proves it fair."""

    round: int
    seed: str
    attempt: int
    commitment: str
    width: int
    height: int
    mines: int
    marked: int | None = None
    standings: list[Standing]


class RoomSnapshot(_Frame):
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


class _Event(_Frame):
    pass


class Joined(_Event):
    """A new player."""

    e: Literal["joined"] = "joined"
    player: Player


class Left(_Event):
    """A player gave up the place."""

    e: Literal["left"] = "left"
    seat: int


class Renamed(_Event):
    """A player has another name."""

    e: Literal["renamed"] = "renamed"
    seat: int
    name: str


class Readied(_Event):
    """A player is ready, or no longer."""

    e: Literal["ready"] = "ready"
    seat: int
    ready: bool


class Presence(_Event):
    """A player's connection dropped, or is back."""

    e: Literal["presence"] = "presence"
    seat: int
    present: bool


class HostChanged(_Event):
    """Another player is host."""

    e: Literal["host"] = "host"
    seat: int


class SettingsChanged(_Event):
    """The host picked other settings; nobody is ready any longer."""

    e: Literal["settings"] = "settings"
    settings: Settings
    board: BoardSize


class Preparing(_Event):
    """A guess-free board is being searched."""

    e: Literal["preparing"] = "preparing"


class Unprepared(_Event):
    """The search found none in its time; back in the lobby."""

    e: Literal["unprepared"] = "unprepared"


class Countdown(_Event):
    """The countdown runs."""

    e: Literal["countdown"] = "countdown"
    race: RaceInfo
    go_at_ms: int


class Went(_Event):
    """Go."""

    e: Literal["go"] = "go"
    ends_at_ms: int


class RunEnded(_Event):
    """A player's run has ended: finished or out."""

    e: Literal["ended"] = "ended"
    seat: int
    status: Literal["finished", "out"]
    ms: int


class Stalled(_Event):
    """A failure of ours took ``ms``; they are on nobody's clock."""

    e: Literal["stalled"] = "stalled"
    ms: int


class Finished(_Event):
    """The race is over."""

    e: Literal["finished"] = "finished"
    result: Result


class Rematched(_Event):
    """Somebody asked for a rematch: back in the lobby, the old result stays on screen."""

    e: Literal["rematch"] = "rematch"
    seat: int
    round: int


RoomEvent = Annotated[
    Joined
    | Left
    | Renamed
    | Readied
    | Presence
    | HostChanged
    | SettingsChanged
    | Preparing
    | Unprepared
    | Countdown
    | Went
    | RunEnded
    | Stalled
    | Finished
    | Rematched,
    Field(discriminator="e"),
]


class Event(_Frame):
    """Something happened in the room that everybody may know; versions have no gaps."""

    t: Literal["event"] = "event"
    v: int
    event: RoomEvent


class Moved(_Frame):
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


class Missed(_Frame):
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


class Progress(_Frame):
    """How far others are, gathered; at most five a second."""

    t: Literal["progress"] = "progress"
    p: list[tuple[int, int, int]]
    """Seat, percent, flags: of those who changed."""


class Spectators(_Frame):
    """How many watch."""

    t: Literal["spectators"] = "spectators"
    count: int


class ClockStarted(_Frame):
    """One's own clock started by itself, 10 s after go."""

    t: Literal["clock"] = "clock"
    clock: Clock


class ListedRoom(_Frame):
    """A room that its host listed."""

    code: str
    host: str
    settings: Settings
    players: int
    phase: Phase


class Lobby(_Frame):
    """The listed rooms, newest first; comes again when it changes, at most once a second."""

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
