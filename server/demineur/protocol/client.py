"""What a client may say: ``ClientMessage``, one object a frame, told apart by ``t``.

Every field is bounded and nothing else is taken (``extra="forbid"``), so that what is past
``decode`` needs no second look at its form; but for names, which ``clean_name`` bounds, so that
one that is too long is called a bad name. Whether a cell is on the board, or a move is
allowed now, is the race's to say.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

CELL_MAX = 255 * 255 - 1
COUNTER_MAX = 2**31 - 1


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Settings(_Message):
    """What the host picks: the level, the start, and what a mine does."""

    level: Literal["beginner", "intermediate", "hard", "expert", "extreme", "marathon"]
    start: Literal["own", "shared"] = "own"
    guess_free: bool = False
    """Only with a shared start."""
    mine: Literal["out", "penalty"] = "out"
    players: Annotated[int, Field(ge=2, le=32)] = 8
    listed: bool = False


class Hello(_Message):
    """The first frame of every connection."""

    t: Literal["hello"]
    token: Annotated[str, Field(max_length=200)] | None = None
    """What an earlier welcome gave; without it the server makes a new identity."""
    name: str | None = None


class Create(_Message):
    """Create the room of this address; the sender becomes its host and first player."""

    t: Literal["create"]
    settings: Settings


class Join(_Message):
    """Join the room of this address, or return to one's place in it.

    ``since`` and ``n`` name the last event version that this client holds, and the last of its
    moves of which it was told an effect; with them the server may send just what was missed.
    """

    t: Literal["join"]
    role: Literal["player", "spectator"] = "player"
    since: Annotated[int, Field(ge=0, le=COUNTER_MAX)] | None = None
    n: Annotated[int, Field(ge=0, le=COUNTER_MAX)] | None = None


class Rename(_Message):
    """Take another name."""

    t: Literal["rename"]
    name: str


class Ready(_Message):
    """Say that one is ready, or no longer."""

    t: Literal["ready"]
    ready: bool


class SettingsChange(_Message):
    """The host picks other settings, while nobody races."""

    t: Literal["settings"]
    settings: Settings


class Start(_Message):
    """The host starts the countdown."""

    t: Literal["start"]


class Tap(_Message):
    """Tap a cell: open a hidden one, chord on an open number. ``n`` counts one's own moves."""

    t: Literal["tap"]
    n: Annotated[int, Field(ge=1, le=COUNTER_MAX)]
    c: Annotated[int, Field(ge=0, le=CELL_MAX)]


class Flag(_Message):
    """Set or lift a flag on a hidden cell."""

    t: Literal["flag"]
    n: Annotated[int, Field(ge=1, le=COUNTER_MAX)]
    c: Annotated[int, Field(ge=0, le=CELL_MAX)]


class Leave(_Message):
    """Give up one's place. In a race this ends one's run."""

    t: Literal["leave"]


class Rematch(_Message):
    """After a race: ask for another one with the same settings."""

    t: Literal["rematch"]


class Ping(_Message):
    """Ask for a ``pong``: keeps the line open and the client's idea of the clock right."""

    t: Literal["ping"]
    at: Annotated[float, Field(ge=0, le=2**53)]
    """Any number of the client's; it comes back as it is."""


ClientMessage = Annotated[
    Hello
    | Create
    | Join
    | Rename
    | Ready
    | SettingsChange
    | Start
    | Tap
    | Flag
    | Leave
    | Rematch
    | Ping,
    Field(discriminator="t"),
]
