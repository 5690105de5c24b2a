"""What may be asked of a room. Time and randomness come in from outside, as arguments."""

from dataclasses import dataclass

from demineur.race.settings import RoomSettings


@dataclass(frozen=True, slots=True)
class Draw:
    """Randomness for one race: a 16-byte seed in hex, and a number to pick the marked cell."""

    seed: str
    marked: int


@dataclass(frozen=True, slots=True)
class Create:
    """Create the room; see ``demineur.race.creation``."""

    code: str
    settings: RoomSettings
    player: str
    name: str


@dataclass(frozen=True, slots=True)
class Join:
    """Take a seat, or return to one's own."""

    player: str
    name: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Give the seat up."""

    seat: int


@dataclass(frozen=True, slots=True)
class Drop:
    """The seat's connection is gone."""

    seat: int


@dataclass(frozen=True, slots=True)
class Rename:
    """Take another name (already clean)."""

    seat: int
    name: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Be ready, or no longer. The draw is for a rematch that this completes."""

    seat: int
    ready: bool
    draw: Draw


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """The host picks other settings."""

    seat: int
    settings: RoomSettings


@dataclass(frozen=True, slots=True)
class Start:
    """The host starts."""

    seat: int
    draw: Draw


@dataclass(frozen=True, slots=True)
class Prepared:
    """The search found a guess-free board for this seed at this attempt."""

    seed: str
    attempt: int


@dataclass(frozen=True, slots=True)
class PrepareFailed:
    """The search for this seed ended without a board."""

    seed: str


@dataclass(frozen=True, slots=True)
class Tap:
    """A tap."""

    seat: int
    n: int
    cell: int


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag."""

    seat: int
    n: int
    cell: int


@dataclass(frozen=True, slots=True)
class Rematch:
    """Ask for another round."""

    seat: int
    draw: Draw


@dataclass(frozen=True, slots=True)
class Stall:
    """Credit an outage of ``ms``."""

    ms: int


@dataclass(frozen=True, slots=True)
class HandOver:
    """The node gives the room up."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: whatever is due happens."""


Command = (
    Join
    | Leave
    | Drop
    | Rename
    | Ready
    | ChangeSettings
    | Start
    | Prepared
    | PrepareFailed
    | Tap
    | Flag
    | Rematch
    | Stall
    | HandOver
    | Tick
)
