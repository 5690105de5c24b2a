"""Several nodes on one port: all of them serve, they relay, and none is left behind."""

import os
import signal
from pathlib import Path

import pytest

from tests.player_client import PlayerClient
from tests.redis_servers import free_port, wait_for
from tests.rooms.table import new_code
from tests.server_process import ServerProcess

pytestmark = pytest.mark.timeout(60)


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
        assert {"serving"} <= set(server.log.split())
        assert server.stop() == 0
        for player in (host, *guests):
            assert await player.closed() == 1012
        wait_for("the end of all", lambda: not alive(family))
        assert "Traceback" not in server.log


def _relays(server: ServerProcess) -> int:
    """Return how many connections the worker that answers has relayed."""
    body = server.get("/metrics", Connection="close")[2].decode()
    line = next(x for x in body.splitlines() if x.startswith("demineur_relays_total "))
    return int(float(line.split()[1]))


@pytest.mark.parametrize("workers", [1, 2])
def test_sigkill_leaves_nothing_behind(tmp_path: Path, workers: int) -> None:
    with ServerProcess(tmp_path, workers=workers).start().ready() as server:
        family = descendants(server.pid)
        assert len(family) > workers
        server.kill()
        wait_for("the end of all", lambda: not alive(family))


def test_a_worker_that_ends_is_started_again(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, workers=2).start().ready() as server:
        programs = {pid: _command(pid) for pid in descendants(server.pid)}
        worker = next(pid for pid, command in programs.items() if "demineur.workers" in command)
        os.kill(worker, signal.SIGKILL)
        wait_for("another worker", lambda: server.log.count("serving") == 3)
        assert "a worker ended and is started again" in server.log
        assert server.stop() == 0


def _command(pid: int) -> str:
    return (Path("/proc") / str(pid) / "cmdline").read_text().replace("\0", " ")


def test_what_one_worker_kept_several_find(tmp_path: Path) -> None:
    with ServerProcess(tmp_path).start().ready() as server:
        server.stop()
    with ServerProcess(tmp_path, workers=2).start().ready() as server:
        assert [path.name for path in (tmp_path / "data").iterdir()] == ["redis"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"redis_url": "redis://127.0.0.1:{free}/0"}, "There is no Redis"),
        ({"internal_host": "192.0.2.1"}, "192.0.2.1:0: "),
    ],
)
def test_workers_that_cannot_start_say_why_once_each_and_end(
    tmp_path: Path, settings: dict[str, str], reason: str
) -> None:
    given = {name: value.format(free=free_port()) for name, value in settings.items()}
    with ServerProcess(tmp_path, workers=2, **given).start() as server:
        assert server.wait() == 1
        assert reason in server.log
        assert "Traceback" not in server.log
        assert server.log.splitlines()[-1] == "demineur: a worker could not start"
        assert server.output.read_text() == ""
