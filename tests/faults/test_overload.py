"""Twice the load that a node can carry: a plateau, and well again right afterwards."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.faults.conftest import FULL, MANY, Node
from tests.faults.witness import resident_bytes
from tests.redis_servers import RedisServer

pytestmark = pytest.mark.alone

LINES = 100
SECONDS = 30.0 if FULL else 8.0
PLATEAU = 0.8 if FULL else 0.4
"""The short form runs beside other work, which may take a core in one phase and not in another."""
FLOOR_S = 0.05 if FULL else 0.5
GROWTH_BYTES = 64 << 20
ROOT = Path(__file__).parents[2]


async def test_twice_the_load_is_a_plateau(store: RedisServer, node: Node) -> None:
    unlimited = {
        "players__moves_per_s": MANY,
        "players__move_burst": MANY,
        "net__frames_per_s": MANY,
        "net__frame_burst": MANY,
    }
    server = node("a", store.url, **unlimited)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:  # the node alone on one, so that it is the node that is at its limit
        os.sched_setaffinity(server.pid, cores[:1])
        os.sched_setaffinity(store.pid, cores[1:])
    before = resident_bytes(server.pid)
    told = await _load(server.port, cores[1:] or cores)
    grown = resident_bytes(server.pid) - before
    over = told["over"]
    print(
        f"\nbest {told['best']:.0f}/s; at twice that {over['answered']:.0f}/s answered, "
        f"{over['refused']:.0f}/s refused, p99 {over['p99_s']:.2f} s; afterwards "
        f"{told['after']:.0f}/s, p99 {told['after_p99_s']:.3f} s ({told['normal_p99_s']:.3f} s "
        f"before); memory {grown / 2**20:+.1f} MiB"
    )
    _check_no_answered_move_is_lost(store, told["answered"])
    assert "Traceback" not in server.log
    assert grown < GROWTH_BYTES
    assert over["answered"] >= PLATEAU * told["best"]
    assert told["after_p99_s"] <= 2 * max(told["normal_p99_s"], FLOOR_S)
    assert told["after"] >= PLATEAU * told["best"]


async def _load(port: int, cores: list[int]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.overloader", "127.0.0.1", str(port)),
        *(str(LINES), str(SECONDS)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    os.sched_setaffinity(process.pid, cores)
    try:
        async with asyncio.timeout(180):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    told: dict[str, Any] = json.loads(output)
    return told


def _check_no_answered_move_is_lost(store: RedisServer, answered: dict[str, list[int]]) -> None:
    assert sum(map(len, answered.values())) > 1_000
    with store.client() as client:
        for code, counters in answered.items():
            entries: Any = client.xrange(f"room:{{{code}}}:log")
            events = [orjson.loads(fields[b"e"]) for _, fields in entries]
            logged = [event[3] for event in events if event[0] == "f"]
            assert len(set(logged)) == len(logged), "a move is in the log twice"
            assert set(counters) <= set(logged), "an answered move is not in the log"
