"""An independent reading of a room's log: what was played, and what must have come out.

It reads the stored JSON by the letters of ``docs/redis-keys.md`` and plays the moves with the
engine alone; nothing of the server's own folding is used.
"""

from dataclasses import dataclass, field
from typing import Any

import orjson
import redis

from demineur.engine import LEVELS, Layout, Run, Status

COUNTDOWN, TAP, FLAG, CLOCK, ENDED, STALLED, SETTINGS, CREATED = (
    "k",
    "t",
    "f",
    "m",
    "e",
    "y",
    "s",
    "c",
)
PENALTY_MS = 10_000


@dataclass
class SeatLog:
    """One player's run in one round."""

    run: Run
    moves: list[tuple[int, str, int]] = field(default_factory=list)
    """Counter, kind and cell."""
    started_ms: int | None = None
    ended_ms: int | None = None
    ending: str | None = None


@dataclass
class RoundLog:
    """One race."""

    number: int
    seats: dict[int, SeatLog]


@dataclass
class Stall:
    """A credited outage, on the wall clock."""

    from_ms: int
    ms: int


@dataclass
class RoomLog:
    """A whole log, read independently."""

    rounds: list[RoundLog] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    last_ms: int = 0


def read(client: "redis.Redis", code: str) -> RoomLog:
    """Read a room's log from Redis; its versions have no gap."""
    entries: Any = client.xrange(f"room:{{{code}}}:log")
    versions = [int(entry_id.split(b"-")[0]) for entry_id, _ in entries]
    assert versions == list(range(1, len(versions) + 1)), "the log has a gap"
    log, level, penalty, credited = RoomLog(), "", False, 0
    for _, fields in entries:
        letter, at_ms, *values = orjson.loads(fields[b"e"])
        assert at_ms >= log.last_ms, "room time went back"
        log.last_ms = at_ms
        if letter == CREATED:
            level, penalty = values[1][0], values[1][3] == "penalty"
        elif letter == SETTINGS:
            level, penalty = values[0][0], values[0][3] == "penalty"
        elif letter == COUNTDOWN:
            log.rounds.append(_round(len(log.rounds) + 1, level, penalty, values))
        elif letter == STALLED:
            log.stalls.append(Stall(at_ms + credited, values[0]))
            credited += values[0]
        elif letter in {TAP, FLAG, CLOCK, ENDED}:
            _play(log.rounds[-1].seats[values[0]], letter, at_ms, values[1:])
    return log


def _round(number: int, level: str, penalty: bool, values: list[Any]) -> RoundLog:
    seed, attempt, _marked, _go_ms, seats = values
    size = LEVELS[level]
    layout = Layout(size.geometry, size.mines, bytes.fromhex(seed), attempt)
    return RoundLog(number, {seat: SeatLog(Run(layout, penalty=penalty)) for seat in seats})


def _play(seat: SeatLog, letter: str, at_ms: int, values: list[Any]) -> None:
    if letter == CLOCK:
        seat.started_ms = at_ms
    elif letter == ENDED:
        seat.ending, seat.ended_ms = values[0], at_ms
    else:
        n, cell = values
        assert not seat.moves or n > seat.moves[-1][0], "a move is in the log twice"
        if letter == TAP:
            assert seat.run.tap(cell), "a tap that the rules ignore is in the log"
            if seat.started_ms is None:
                seat.started_ms = at_ms
        else:
            assert seat.run.flag(cell), "a flag that the rules ignore is in the log"
        seat.moves.append((n, "tap" if letter == TAP else "flag", cell))


def check_result(log: RoomLog, result: dict[str, Any]) -> None:
    """Hold a result table against the moves of its round, replayed."""
    played = log.rounds[result["round"] - 1]
    assert {row["seat"] for row in result["standings"]} == set(played.seats)
    keys = []
    for row in result["standings"]:
        seat = played.seats[row["seat"]]
        board = seat.run.board
        assert row["ending"] == seat.ending
        assert (row["ending"] == "won") == (seat.run.status is Status.WON)
        assert row["three_bv"] == (board.three_bv if board else None)
        assert row["three_bv_solved"] == seat.run.three_bv_solved
        assert (row["taps"], row["flags"]) == (seat.run.taps, seat.run.flag_moves)
        assert row["first_tap"] == seat.run.first_tap
        if seat.ended_ms is not None and seat.started_ms is not None and not seat.run.penalty:
            assert row["ms"] == seat.ended_ms - seat.started_ms
        keys.append((row["place"], row["ending"] != "won", row["ms"]))
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    winners = [key[2] for key in keys if not key[1]]
    assert winners == sorted(winners)
    assert keys == sorted(keys, key=lambda key: (key[1], key[0]))
