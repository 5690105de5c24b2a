"""Several nodes on one port: all of them serve, they relay, and none is left behind."""

import os
import signal
from pathlib import Path

import pytest

from tests.player_client import PlayerClient
from tests.redis_servers import wait_for
from tests.rooms.table import new_code
from tests.server_process import ServerProcess

pytestmark = [pytest.mark.faults, pytest.mark.timeout(60)]


def descendants(pid: int) -> set[int]:
    """Return the process ids of all children, theirs included, with ``pid``."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
                )
            except OSError:
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    """Return those that still run; a zombie does not."""

    def runs(pid: int) -> bool:
        try:
            return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[
                0
            ] != "Z"
        except OSError:
            return False

    return {pid for pid in pids if runs(pid)}


async def test_two_workers_share_a_port_and_a_room(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, workers=2).start().ready() as server:
        family = descendants(server.pid)
        assert len(family) == 4  # both workers, their Redis, and who keeps them
        code = new_code()
        host = await PlayerClient(server.base, code, "Host").connect()
        await host.hello()
        await host.create(players=32)
        guests = [PlayerClient(server.base, code, f"Guest {i}") for i in range(12)]
        for guest in guests:
            await guest.connect()
            assert (await guest.hello())["room"]
            await guest.join()
            await guest.ask({"t": "ready", "ready": True}, "event")
        # The kernel spreads connections by their ports, so both kinds are there but for 2**-11.
        counts = {_relays(server) for _ in range(30)}
        assert max(counts) > 0
        await host.say({"t": "start"})
        for player in (host, *guests):
            await player.event("go")
        for player in (host, *guests):
            assert (await player.tap(40))["status"] == "playing"
        worker = next(pid for pid in family if "demineur.workers" in _command(pid))
        os.kill(worker, signal.SIGKILL)
        wait_for("another worker", lambda: server.log.count("serving") == 3)
        assert "a worker ended and is started again" in server.log
        family |= descendants(server.pid)
        assert server.stop() == 0
        codes = {await player.closed() for player in (host, *guests)}
        assert codes <= {1012, 1006}  # of the worker that went, and of the one that was killed
        assert 1012 in codes
        wait_for("the end of all", lambda: not alive(family))
        assert "Traceback" not in server.log


def _relays(server: ServerProcess) -> int:
    """Return how many connections the worker that answers has relayed."""
    body = server.get("/metrics", Connection="close")[2].decode()
    line = next(x for x in body.splitlines() if x.startswith("demineur_relays_total "))
    return int(float(line.split()[1]))


def _command(pid: int) -> str:
    return (Path("/proc") / str(pid) / "cmdline").read_text().replace("\0", " ")


def test_sigkill_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither of one node nor of several, which find what the one has kept."""
    for workers in (1, 2):
        _is_gone_when_killed(ServerProcess(tmp_path, workers=workers))
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["redis"]


def _is_gone_when_killed(server: ServerProcess) -> None:
    with server.start().ready():
        family = descendants(server.pid)
        assert len(family) > 1
        server.kill()
        wait_for("the end of all", lambda: not alive(family))


def test_workers_that_cannot_start_say_why_and_end(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, workers=2, internal_host="192.0.2.1").start() as server:
        assert server.wait() == 1
        *reasons, last = server.log.splitlines()
        assert all(line.startswith("demineur: 192.0.2.1:0: ") for line in reasons)
        assert len(reasons) in {1, 2}  # the other may have been stopped first
        assert last == "demineur: a worker could not start"
        assert server.output.read_text() == ""
