"""What a room is set to, and the numbers of the rules that no host can change."""

from dataclasses import dataclass
from typing import Literal

from demineur.engine import LEVELS, Level
from demineur.race.errors import Reason, Refused

COUNTDOWN_MS = 3_000
"""From the host's start to "go" (R15)."""
CLOCK_START_MS = 10_000
"""From "go" until a clock that has not started starts by itself (R16)."""
PENALTY_MS = 10_000
"""What each mine costs where a mine is a penalty (R17)."""
ABSENCE_MS = 60_000
"""How long a dropped player's place is kept (R18)."""
LIMIT_MS = 600_000
LIMIT_MARATHON_MS = 3_600_000
"""From "go" to the end of the race at the latest (R18)."""
PREPARE_MS = 20_000
"""How long the search for a guess-free board may take before the room is told that none was
found; the median is milliseconds, so this is a limit for a node in trouble."""
IDLE_MS = 7_200_000
"""A room in which nobody does anything for this long closes."""
MOVES_MAX = 20_000
"""Moves of one player in one race: six for each cell of the largest level."""
EVENTS_MAX = 100_000
"""Events after which a room begins no further race, and takes no new player or name, so that its
log stays quick to fold: thirty races of thirty players, or a second of a node that takes it
over."""
PLAYERS_MIN, PLAYERS_MAX = 2, 32


@dataclass(frozen=True, slots=True)
class RoomSettings:
    """What the host picks (R15). ``checked`` says whether it can be."""

    level: str
    start: Literal["own", "shared"] = "own"
    guess_free: bool = False
    mine: Literal["out", "penalty"] = "out"
    players: int = 8
    listed: bool = False

    def checked(self) -> "RoomSettings":
        """Return itself, or raise ``Refused`` (``bad_settings``)."""
        if self.level not in LEVELS:
            raise Refused(Reason.BAD_SETTINGS, "There is no such level.")
        if self.start not in {"own", "shared"} or self.mine not in {"out", "penalty"}:
            raise Refused(Reason.BAD_SETTINGS, "There is no such start or mine setting.")
        if self.guess_free and self.start != "shared":
            raise Refused(Reason.BAD_SETTINGS, "Only a shared start can be guess-free.")
        if not PLAYERS_MIN <= self.players <= PLAYERS_MAX:
            raise Refused(Reason.BAD_SETTINGS, "A room is for 2 to 32 players.")
        return self

    @property
    def board(self) -> Level:
        """The level: its columns, rows and mines."""
        return LEVELS[self.level]

    @property
    def limit_ms(self) -> int:
        """The race's time limit, from "go"."""
        return LIMIT_MARATHON_MS if self.level == "marathon" else LIMIT_MS
