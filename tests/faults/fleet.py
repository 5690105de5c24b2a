"""Many races at once, over one or more servers, and what must be true of them afterwards."""

import asyncio
import random
import secrets
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from demineur.protocol import ALPHABET, CODE_LENGTH
from tests.faults import audit
from tests.faults.racer import Racer

RACING_S = 60.0


@dataclass
class Fleet:
    """Rooms of players who race."""

    rooms: list[list[Racer]]

    @classmethod
    def of(
        cls,
        count: int,
        addresses: list[str],
        *,
        players: int = 2,
        pace_ms: int = 400,
        seed: int = 1,
        spread: bool = True,
        **settings: Any,
    ) -> "Fleet":
        """Make ``count`` rooms; with ``spread`` their players begin at different addresses."""
        source = random.Random(seed)
        settings = {"level": "intermediate", **settings}
        rooms = []
        for number in range(count):
            code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
            created = asyncio.Event()
            room = []
            for seat in range(players):
                turn = (number + (seat if spread else 0)) % len(addresses)
                room.append(
                    Racer(
                        addresses[turn:] + addresses[:turn],
                        code,
                        random.Random(source.random()),
                        pace_ms,
                        settings if seat == 0 else None,
                        created,
                        players,
                    )
                )
            rooms.append(room)
        return cls(rooms)

    @property
    def racers(self) -> list[Racer]:
        """All players."""
        return [racer for room in self.rooms for racer in room]

    def start(self, until_round: int = 1) -> "asyncio.Task[None]":
        """Let them play until that many rounds are over."""

        async def everybody() -> None:
            async with asyncio.TaskGroup() as group:
                for racer in self.racers:
                    group.create_task(racer.race(until_round))

        return asyncio.create_task(everybody())

    async def under_way(self) -> None:
        """Return once every room races, and every player has made a move."""
        async with asyncio.timeout(RACING_S):
            while not all(racer.phase == "racing" for racer in self.racers):
                await asyncio.sleep(0.02)
            while not all(racer.answered or racer.is_over for racer in self.racers):
                await asyncio.sleep(0.02)

    def check(self, client: "redis.Redis") -> list[audit.RoomLog]:
        """Hold every ledger and every result against the logs; return the logs."""
        logs = []
        for room in self.rooms:
            log = audit.read(client, room[0].code)
            logs.append(log)
            for racer in room:
                assert racer.seat is not None
                for result in racer.results:
                    audit.check_result(log, result)
                    assert result == room[0].results[result["round"] - 1]
                self._check_ledger(log, racer)
        return logs

    @staticmethod
    def _check_ledger(log: audit.RoomLog, racer: Racer) -> None:
        assert racer.seat is not None
        for move in racer.answered:
            seat = log.rounds[move.round - 1].seats[racer.seat]
            count = seat.moves.count((move.n, move.kind, move.cell))
            assert count == 1, f"an answered move is in the log {count} times: {move}"

    def back_after_s(self) -> list[float]:
        """How long those who lost their line in a race took until they played again."""
        return [seconds for racer in self.racers for seconds in racer.back_after_s]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of the values lie; 0 without values."""
    if not values:
        return 0.0
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def median(values: Sequence[float]) -> float:
    """Return the median; 0 without values."""
    return statistics.median(values) if values else 0.0
