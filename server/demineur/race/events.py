"""Everything that can happen in a room, as frozen facts: what the log holds.

``at_ms`` is room time: the node's clock less all stalls credited so far, so it never goes
back, and an outage lies between two events without width. A seat is a player's number in the
room, given once and never to another.
"""

from dataclasses import dataclass
from enum import StrEnum

from demineur.race.settings import RoomSettings


class Ending(StrEnum):
    """How a player's run in a race ended."""

    WON = "won"
    LOST = "lost"
    LEFT = "left"
    ABSENT = "absent"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Created:
    """The room exists; seat 0 is its host's."""

    at_ms: int
    code: str
    settings: RoomSettings
    player: str
    name: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A player took a seat."""

    at_ms: int
    seat: int
    player: str
    name: str


@dataclass(frozen=True, slots=True)
class Left:
    """A player gave the seat up, or was gone too long while nobody raced."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """A player took another name."""

    at_ms: int
    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class Readied:
    """A player is ready, or no longer."""

    at_ms: int
    seat: int
    ready: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """A player's connection is gone; the place is kept for a while."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A player who had dropped is back."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class HostChanged:
    """Another player is host."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The host picked other settings."""

    at_ms: int
    settings: RoomSettings


@dataclass(frozen=True, slots=True)
class Preparing:
    """A guess-free board is being searched from this seed, this marked cell, for these seats."""

    at_ms: int
    seed: str
    marked: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unprepared:
    """The search ended without a board."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class CountdownStarted:
    """A race will begin at ``go_ms`` (room time) for these seats."""

    at_ms: int
    seed: str
    attempt: int
    marked: int | None
    go_ms: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountdownStopped:
    """Everybody who was to race has left, during the search or the countdown."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Went:
    """Go; the race ends at ``ends_ms`` (room time) at the latest."""

    at_ms: int
    ends_ms: int


@dataclass(frozen=True, slots=True)
class Tapped:
    """A tap that the rules did not ignore; ``n`` is the player's own counter."""

    at_ms: int
    seat: int
    n: int
    cell: int


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flag set or lifted; ``n`` is the player's own counter."""

    at_ms: int
    seat: int
    n: int
    cell: int


@dataclass(frozen=True, slots=True)
class ClockStarted:
    """A clock that its player's first tap had not started started by itself."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A player's race has ended."""

    at_ms: int
    seat: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class Finished:
    """Nobody plays any longer."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Rematched:
    """Back to the lobby for another round. ``seat`` asked for it."""

    at_ms: int
    seat: int


@dataclass(frozen=True, slots=True)
class Stalled:
    """A failure of the server or its store took ``ms``, which are on nobody's clock (R19)."""

    at_ms: int
    ms: int


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The node gives the room up: time until another goes on with it is a stall from here."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The room is over for good."""

    at_ms: int


Event = (
    Created
    | Joined
    | Left
    | Renamed
    | Readied
    | Dropped
    | Returned
    | HostChanged
    | SettingsChanged
    | Preparing
    | Unprepared
    | CountdownStarted
    | CountdownStopped
    | Went
    | Tapped
    | Flagged
    | ClockStarted
    | RunEnded
    | Finished
    | Rematched
    | Stalled
    | HandedOver
    | Closed
)
