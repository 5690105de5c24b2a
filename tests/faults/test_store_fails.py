"""Redis is killed, paused, or failed over while races are under way."""

import asyncio
from pathlib import Path

import pytest
import redis

from tests.faults.conftest import FULL, Node
from tests.faults.fleet import Fleet, median
from tests.redis_servers import ADMIN_PASSWORD, RedisServer, SentinelSet

RACES = 100 if FULL else 10
LEVEL = "intermediate" if FULL else "beginner"


async def test_redis_killed_and_started_again_loses_no_answered_move(
    store: RedisServer, node: Node
) -> None:
    first, second = node("a", store.url), node("b", store.url)
    fleet = Fleet.of(RACES, [first.base, second.base], pace_ms=400, level=LEVEL)
    races = fleet.start()
    await fleet.under_way()
    await asyncio.sleep(1.0)
    store.kill()
    await asyncio.sleep(1.0)
    store.start()
    await asyncio.to_thread(store.ready)
    await races
    logs = fleet.check(store.client())
    credited = [sum(stall.ms for stall in log.stalls) for log in logs if log.stalls]
    assert len(credited) >= RACES // 2, "the outage was credited in hardly any room"
    assert 900 <= median(credited) <= 5_000
    assert all(racer.moves_lost == 0 for racer in fleet.racers)
    assert "Traceback" not in first.log + second.log


async def test_redis_paused_for_three_seconds_is_credited_and_loses_nothing(
    store: RedisServer, node: Node
) -> None:
    first, second = node("a", store.url), node("b", store.url)
    fleet = Fleet.of(RACES, [first.base, second.base], pace_ms=400, level=LEVEL)
    races = fleet.start()
    await fleet.under_way()
    await asyncio.sleep(0.5)
    still_racing = [room for room in fleet.rooms if room[0].phase == "racing"]
    assert still_racing
    store.pause()
    await asyncio.sleep(3.0)
    store.resume()
    await races
    fleet.check(store.client())
    credited = [racer.stalled_ms for room in still_racing for racer in room if racer.stalled_ms]
    assert credited
    assert all(2_900 <= credit <= 4_500 for credit in credited), credited
    assert not [code for racer in fleet.racers for code in racer.closes], "a line was cut"
    assert "Traceback" not in first.log + second.log


async def test_moves_are_refused_clearly_while_redis_is_away_for_long(
    store: RedisServer, node: Node
) -> None:
    server = node("a", store.url, rooms__stall_patience_ms=500)
    fleet = Fleet.of(2, [server.base], pace_ms=200, level=LEVEL)
    races = fleet.start()
    await fleet.under_way()
    store.pause()
    await asyncio.sleep(6.0)  # longer than the store waits for what it has sent
    assert server.get("/readyz")[0] == 503
    assert server.get("/healthz")[0] == 200
    store.resume()
    await races
    fleet.check(store.client())
    refusals = [code for racer in fleet.racers for code in racer.refusals]
    assert "store_unavailable" in refusals
    assert "Traceback" not in server.log


@pytest.mark.parametrize("how", ["master killed", "master paused"])
async def test_a_failover_by_sentinel_loses_no_answered_move(
    tmp_path: Path, node: Node, how: str
) -> None:
    with SentinelSet(tmp_path / "sentinel") as site:
        first, second = node("a", site.url), node("b", site.url)
        fleet = Fleet.of(max(4, RACES // 4), [first.base, second.base], pace_ms=500, level=LEVEL)
        races = fleet.start()
        await fleet.under_way()
        master = site.master
        if how == "master killed":
            master.kill()
        else:
            master.pause()
        try:
            await races
            fleet.check(redis.Redis(port=site.master_port(), password=ADMIN_PASSWORD))
            assert all(racer.moves_lost == 0 for racer in fleet.racers)
        finally:
            if how == "master paused":
                master.resume()
            first.kill()  # in good order it would wait for the Redis that is gone
            second.kill()
        assert "Traceback" not in first.log + second.log
