"""Hostile frames against a real server, while somebody else races there."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.faults.conftest import FULL, MANY
from tests.faults.fleet import percentile
from tests.faults.witness import Witness, resident_bytes
from tests.server_process import ServerProcess

pytestmark = pytest.mark.alone

FRAMES = 200_000 if FULL else 12_000
QUIET_S = 5.0
FLOOR_S = 0.010 if FULL else 0.5
"""Below this a percentile is the machine's noise, not the server's doing; the short form runs on
machines that do other things meanwhile."""
GROWTH_BYTES = 24 << 20
ROOT = Path(__file__).parents[2]


async def _fuzz(base: str, seed: int, count: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.faults.fuzzer", base, str(seed), str(count), cwd=ROOT
    )
    try:
        assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_no_frame_breaks_the_server_or_disturbs_another_race(tmp_path: Path) -> None:
    limits = {"players__identity_burst": MANY, "players__creation_burst": MANY}
    with ServerProcess(tmp_path / "server", net__handshake_burst=MANY, **limits).start() as server:
        await asyncio.to_thread(server.ready)
        async with Witness(server.base) as witness:
            await _fuzz(server.base, 0, 1_000)  # so that what is loaded once is loaded
            witness.take()
            await asyncio.sleep(QUIET_S)
            quiet_s = percentile(witness.take(), 0.99)
            before = resident_bytes(server.pid)
            await _fuzz(server.base, 1, FRAMES)
            fuzzed_s = percentile(witness.take(), 0.99)
            grown = resident_bytes(server.pid) - before
        print(
            f"\n{FRAMES} frames; p99 {1e3 * quiet_s:.1f} ms quiet, {1e3 * fuzzed_s:.1f} ms fuzzed; "
            f"memory {grown / 2**20:+.1f} MiB"
        )
        assert "Traceback" not in server.log
        assert "a session failed" not in server.log
        assert grown < GROWTH_BYTES
        assert fuzzed_s <= 2 * max(quiet_s, FLOOR_S)
        assert server.get("/readyz")[0] == 200
