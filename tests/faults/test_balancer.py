"""Races over the shipped balancer: what is done to a node behind it is not noticed for long.

The players know one address only, the balancer's, as people's browsers do.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from demineur.protocol import CloseCode
from tests.deploy.balancer import Balancer
from tests.faults.conftest import FULL, Node
from tests.faults.fleet import Fleet, median
from tests.redis_servers import RedisServer
from tests.server_process import ServerProcess

RACES = 50 if FULL else 12
LEVEL = "intermediate" if FULL else "beginner"
DRAIN_S = 10.0
FROZEN_S = 6.0
"""From being let go, about 5 s after the freeze: what is left of the lease, and pauses."""
COME_BACK_AT_ONCE = {int(CloseCode.RESTART), int(CloseCode.ROOM_MOVED)}


@dataclass
class Site:
    """Two nodes on one Redis behind the balancer."""

    nodes: tuple[ServerProcess, ServerProcess]
    balancer: Balancer
    store: RedisServer

    def fleet(self, pace_ms: int = 400) -> Fleet:
        return Fleet.of(RACES, [self.balancer.base], pace_ms=pace_ms, level=LEVEL)

    def metric(self, name: str) -> list[float]:
        """A metric of each node."""
        found = []
        for node in self.nodes:
            text = node.get("/metrics")[2].decode()
            match = re.search(rf"^{name} ([\d.e+]+)$", text, re.MULTILINE)
            assert match, f"no metric {name}"
            found.append(float(match.group(1)))
        return found


@pytest.fixture
async def site(store: RedisServer, node: Node, tmp_path: Path) -> AsyncIterator[Site]:
    nodes = (
        node("a", store.url, trusted_proxies="127.0.0.1"),
        node("b", store.url, trusted_proxies="127.0.0.1"),
    )
    with Balancer(tmp_path / "haproxy.log", nodes[0].port, nodes[1].port) as balancer:
        yield Site(nodes, balancer, store)


async def test_the_players_of_a_room_meet_on_one_node(site: Site) -> None:
    fleet = site.fleet(pace_ms=100)
    await fleet.start()
    fleet.check(site.store.client())
    assert site.metric("demineur_relays_total") == [0, 0]
    rooms = site.metric("demineur_rooms_created_total")
    assert sum(rooms) == RACES
    assert min(rooms) > 0


def _restart(node: ServerProcess) -> None:
    begun_s = time.monotonic()
    assert node.stop() == 0
    assert time.monotonic() - begun_s <= DRAIN_S
    node.start().ready()


async def test_a_rolling_restart_is_a_blink(site: Site) -> None:
    fleet = site.fleet()
    races = fleet.start()
    await fleet.under_way()
    for node in site.nodes:
        await asyncio.to_thread(_restart, node)
        await asyncio.sleep(1.0)
    await races

    fleet.check(site.store.client())
    closes = {code for racer in fleet.racers for code in racer.closes}
    assert closes & COME_BACK_AT_ONCE
    assert closes <= COME_BACK_AT_ONCE | {1000, 1005}
    back_s = fleet.back_after_s()
    print(f"\nback after {median(back_s):.2f} s (median), {max(back_s):.2f} s (worst)")
    assert median(back_s) <= 1.5
    assert max(back_s) <= DRAIN_S


async def test_a_killed_node_s_races_go_on(site: Site) -> None:
    fleet = site.fleet()
    races = fleet.start()
    await fleet.under_way()
    site.nodes[0].kill()
    await races

    fleet.check(site.store.client())
    back_s = fleet.back_after_s()
    assert back_s, "nobody was on the node that was killed"
    print(f"\nback after {median(back_s):.2f} s (median), {max(back_s):.2f} s (worst)")
    assert median(back_s) <= 2.0
    assert max(back_s) <= 6.0


async def test_a_frozen_node_s_players_are_let_go_and_race_on(site: Site) -> None:
    fleet = site.fleet()
    races = fleet.start()
    await fleet.under_way()
    frozen = site.nodes[0]
    frozen.pause()
    try:
        await races
    finally:
        frozen.resume()

    fleet.check(site.store.client())
    back_s = fleet.back_after_s()
    assert back_s, "nobody was on the node that was frozen"
    print(f"\nback after {median(back_s):.2f} s (median), {max(back_s):.2f} s (worst)")
    assert max(back_s) <= FROZEN_S
    assert "Traceback" not in site.nodes[1].log
