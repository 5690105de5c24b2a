"""The state of a room: plain data that ``apply`` alone changes.

All times are room time in milliseconds (see ``demineur.race.events``); ``room_ms`` makes it
from a node's clock. Nothing here decides anything.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from demineur.engine import Layout, Run, Status
from demineur.race.events import Ending
from demineur.race.settings import RoomSettings


class Phase(StrEnum):
    """Where a room is; the only ways from one to another are in ``demineur.race.apply``."""

    LOBBY = "lobby"
    PREPARING = "preparing"
    COUNTDOWN = "countdown"
    RACING = "racing"
    FINISHED = "finished"
    CLOSED = "closed"


@dataclass(slots=True)
class Seat:
    """One player in the room."""

    seat: int
    player: str
    """The identity's public id."""
    name: str
    present_since_ms: int
    absent_since_ms: int | None = None
    ready: bool = False
    left: bool = False
    """Gave the seat up in a race; the row stays until the next round."""
    racing: bool = False
    """Takes part in this round."""
    run: Run | None = None
    n: int = 0
    """The counter of the last move that is in the log."""
    started_ms: int | None = None
    ended_ms: int | None = None
    ending: Ending | None = None
    frozen_until_ms: int = 0
    """Moves before this are ignored (penalty)."""
    penalty_ms: int = 0
    """Time that mines have cost so far."""

    @property
    def present(self) -> bool:
        """Whether a connection of this player is open."""
        return self.absent_since_ms is None and not self.left

    @property
    def playing(self) -> bool:
        """Whether the run of this round has not ended."""
        return self.racing and self.ending is None

    def elapsed_ms(self, at_ms: int) -> int:
        """The player's own clock at ``at_ms`` (R9): 0 before it starts, fixed once it stops."""
        if self.started_ms is None:
            return 0
        return max(0, (at_ms if self.ended_ms is None else self.ended_ms) - self.started_ms)

    @property
    def solved(self) -> tuple[int, int]:
        """3BV solved and 3BV of the player's board; (0, 0) before the first tap."""
        if self.run is None or self.run.board is None:
            return 0, 0
        return self.run.three_bv_solved, self.run.board.three_bv

    @property
    def percent(self) -> int:
        """Share of 3BV solved in percent, rounded down; 100 exactly when the run is won."""
        if self.run is not None and self.run.status is Status.WON:
            return 100
        solved, total = self.solved
        return min(99, 100 * solved // total) if total else 0


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a result table."""

    place: int
    """From 1; equal results share one, and the next are counted on."""
    seat: int
    player: str
    name: str
    ending: Ending
    ms: int
    percent: int
    three_bv: int | None
    """None for a player who never tapped: there is no board then."""
    three_bv_solved: int
    taps: int
    flags: int
    """Flag moves made."""
    penalty_ms: int
    first_tap: int | None


@dataclass(frozen=True, slots=True)
class RaceResult:
    """A race that is over, with what proves it fair."""

    number: int
    level: str
    seed: str
    attempt: int
    commitment: str
    marked: int | None
    places: tuple[Place, ...]


@dataclass(slots=True)
class Round:
    """One race of the room."""

    number: int
    seed: str
    """32 hex digits; secret until the race is over."""
    commitment: str
    marked: int | None
    attempt: int
    layout: Layout
    go_ms: int
    ends_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Preparation:
    """A search for a guess-free board that is under way."""

    since_ms: int
    seed: str
    marked: int
    seats: tuple[int, ...]
    """Who is to race; some may have left since."""


@dataclass(slots=True)
class Room:
    """A whole room, as its log tells it."""

    code: str
    settings: RoomSettings
    created_ms: int
    host: int = 0
    phase: Phase = Phase.LOBBY
    seats: dict[int, Seat] = field(default_factory=dict)
    next_seat: int = 0
    round: Round | None = None
    rounds: int = 0
    result: RaceResult | None = None
    """The last race that is over."""
    rematch: bool = False
    """The lobby was reached by a rematch: it starts by itself when all are ready."""
    preparing: Preparation | None = None
    version: int = 0
    """Events in the log."""
    public_version: int = 0
    """Events that everybody in the room is told of."""
    last_ms: int = 0
    """Room time of the last event."""
    active_ms: int = 0
    """Room time of the last thing that somebody did."""
    stalled_ms: int = 0
    """All outages credited so far."""
    due_ms: int | None = None
    """When something happens by itself; kept by ``demineur.race.deadlines``."""

    def room_ms(self, now_ms: int) -> int:
        """Room time at a node's clock; never before the last event."""
        return max(self.last_ms, now_ms - self.stalled_ms)

    def node_ms(self, at_ms: int) -> int:
        """The node's clock at a room time, if nothing stalls any more."""
        return at_ms + self.stalled_ms

    def seat_of(self, player: str) -> Seat | None:
        """The seat that this identity holds."""
        for seat in self.seats.values():
            if seat.player == player and not seat.left:
                return seat
        return None

    def members(self) -> list[Seat]:
        """Everybody who has not left, by seat."""
        return [seat for seat in self.seats.values() if not seat.left]

    def racers(self) -> list[Seat]:
        """Everybody who takes part in this round, by seat."""
        return [seat for seat in self.seats.values() if seat.racing]
