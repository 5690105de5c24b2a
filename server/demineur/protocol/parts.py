"""Parts that several of the server's messages are made of."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Phase = Literal["lobby", "preparing", "countdown", "racing", "finished"]
PlayerStatus = Literal["waiting", "playing", "finished", "out"]
Ending = Literal["won", "lost", "left", "absent", "timeout"]
Segments = list[tuple[int, str]]
"""Start cell and one character a cell along the row: a digit, or ``*`` for a mine hit."""


class Frame(BaseModel):
    """Base of everything the server says: no field but those declared."""

    model_config = ConfigDict(extra="forbid")


class BoardSize(Frame):
    """Columns, rows and mines of the room's level."""

    width: int
    height: int
    mines: int


class Player(Frame):
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
    left: bool | None = None
    """True: gave the place up in this round; it stays in the list until the next one."""


class RaceInfo(Frame):
    """The race under way, or the last one."""

    round: int
    commitment: str
    marked: int | None = None
    """Shared start: the cell that everybody's first tap must be on."""
    seats: list[int]
    """Who races; the others in the room watch."""


class Standing(Frame):
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


class Result(Frame):
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
