"""Nodes that are paused past their lease, that players are split over, that are restarted."""

import asyncio

from tests.faults.conftest import FULL, Node
from tests.faults.fleet import Fleet, median
from tests.redis_servers import RedisServer

RACES = 50 if FULL else 8
LEVEL = "intermediate" if FULL else "beginner"
SPLIT_RACES = 20 if FULL else 6


async def test_a_node_paused_past_its_lease_writes_nothing_and_lets_its_clients_go(
    store: RedisServer, node: Node
) -> None:
    first, second = node("a", store.url), node("b", store.url)
    fleet = Fleet.of(4, [first.base], pace_ms=600, level=LEVEL)
    races = fleet.start()
    await fleet.under_way()
    for racer in fleet.racers:  # when the line dies they try the other node, too
        racer.addresses = [second.base, first.base]
    first.pause()
    await asyncio.sleep(1.0)
    intruders = Fleet.of(4, [second.base], players=1, pace_ms=10**7, level=LEVEL)
    for intruder, room in zip(intruders.racers, fleet.rooms, strict=True):
        # The same identity from elsewhere: it takes the room over once the node is found dead.
        intruder.code, intruder.token, intruder.seat = room[0].code, room[0].token, room[0].seat
        intruder.settings = None
        intruder.is_created.set()
    takeovers = intruders.start()
    async with asyncio.timeout(30):
        while not all(each.phase in {"racing", "finished"} for each in intruders.racers):
            await asyncio.sleep(0.05)
    takeovers.cancel()
    await asyncio.gather(takeovers, return_exceptions=True)
    first.resume()
    async with asyncio.timeout(30):
        while not all(4005 in racer.closes for racer in fleet.racers):
            await asyncio.sleep(0.05)
    await races
    fleet.check(store.client())
    assert "Traceback" not in first.log + second.log


async def test_players_at_different_nodes_race_as_if_together(
    store: RedisServer, node: Node
) -> None:
    first, second = node("a", store.url), node("b", store.url)
    together = Fleet.of(SPLIT_RACES, [first.base], pace_ms=300, level=LEVEL)
    await together.start()
    apart = Fleet.of(SPLIT_RACES, [first.base, second.base], pace_ms=300, level=LEVEL)
    await apart.start()
    together.check(store.client())
    apart.check(store.client())
    near = [seconds for racer in together.racers for seconds in racer.latencies_s]
    far = [
        seconds
        for number, room in enumerate(apart.rooms)
        for racer in room
        if racer.addresses[0] != apart.rooms[number][0].addresses[0]
        for seconds in racer.latencies_s
    ]
    print(f"\nanswers: {1e3 * median(near):.1f} ms at the node, {1e3 * median(far):.1f} relayed")
    assert far
    relayed = sum(_metric(server.get("/metrics")[2]) for server in (first, second))
    assert relayed >= SPLIT_RACES
    assert median(far) < 4 * median(near) + 0.01
    assert "Traceback" not in first.log + second.log


def _metric(text: bytes) -> float:
    lines = [line for line in text.splitlines() if line.startswith(b"demineur_relays_total")]
    return float(lines[0].split()[-1]) if lines else 0.0


async def test_a_rolling_restart_aborts_no_race(store: RedisServer, node: Node) -> None:
    first, second = node("a", store.url), node("b", store.url)
    fleet = Fleet.of(RACES, [first.base, second.base], pace_ms=500, level=LEVEL)
    races = fleet.start()
    await fleet.under_way()
    for server in (first, second):
        assert await asyncio.to_thread(server.stop) == 0
        server.start()
        await asyncio.to_thread(server.ready)
    await races
    fleet.check(store.client())
    standings = [row for room in fleet.rooms for row in room[0].results[0]["standings"]]
    assert {row["ending"] for row in standings} <= {"won", "lost"}
    back_s = fleet.back_after_s()
    print(f"\nback at play after {median(back_s):.2f} s (median), {max(back_s):.2f} s (worst)")
    assert "Traceback" not in first.log + second.log
