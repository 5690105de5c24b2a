"""Clients that flood, idle, half-open, and never read, while somebody else races."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.conftest import FULL, MANY
from tests.faults.fleet import percentile
from tests.faults.witness import Witness, resident_bytes
from tests.server_process import ServerProcess

pytestmark = pytest.mark.alone

QUIET_S = 20.0 if FULL else 3.0
ABUSE_S = 20.0 if FULL else 6.0
FLOOR_S = 0.010 if FULL else 0.5
GROWTH_BYTES = 32 << 20
ROOT = Path(__file__).parents[2]

LIMITS = {
    "net__max_connections_per_address": 5_000,
    "net__handshake_burst": MANY,
    "players__identity_burst": MANY,
    "net__first_frame_s": 2,
    "net__handshake_timeout_s": 2,
    "net__stall_timeout_s": 3,
    "net__max_buffered_bytes": 65_536,
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ServerProcess]:
    with ServerProcess(tmp_path / "server", **LIMITS).start() as started:
        await asyncio.to_thread(started.ready)
        yield started


async def _abuse(server: ServerProcess, kind: str, seconds: float) -> dict[str, int]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.abuser", kind, "127.0.0.1", str(server.port)),
        str(seconds),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(120):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0
    ends: dict[str, int] = json.loads(output)
    return ends


@contextlib.asynccontextmanager
async def _burning() -> AsyncIterator[None]:
    """Burn a core meanwhile, as who abuses a server on the same machine does.

    The quiet time is to differ from the other in what the server has to bear, and in nothing else.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import os; os.nice(10)\nwhile True: pass"
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        ("flood", {"4008", "1006", "ConnectionClosedError"}),
        ("idle", {"still open"}),
        ("silent", {"4001"}),
        ("half-open", {"408", "dropped"}),
        ("deaf", {"dropped"}),
        ("slow", {"dropped"}),
    ],
)
async def test_abuse_is_ended_and_disturbs_nobody(
    server: ServerProcess, kind: str, allowed: set[str]
) -> None:
    async with Witness(server.base) as witness:
        async with _burning():
            await asyncio.sleep(QUIET_S)
        quiet_s = percentile(witness.take(), 0.99)
        before = resident_bytes(server.pid)
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(ABUSE_S))
            abuse = group.create_task(_abuse(server, kind, ABUSE_S))
        ends = abuse.result()
        abused_s = percentile(witness.take(), 0.99)
        await asyncio.sleep(1.0)
        grown = resident_bytes(server.pid) - before
    print(
        f"\n{kind}: {ends}; p99 {1e3 * quiet_s:.1f} ms quiet, {1e3 * abused_s:.1f} ms abused; "
        f"memory {grown / 2**20:+.1f} MiB"
    )
    assert ends, "nothing was tried"
    assert set(ends) <= allowed
    assert abused_s <= 2 * max(quiet_s, FLOOR_S)
    assert grown < GROWTH_BYTES
    assert "Traceback" not in server.log
