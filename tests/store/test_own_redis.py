"""The Redis of our own: one a directory, ended with us, nothing acknowledged lost."""

import asyncio
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from demineur.store import Lease, Store, StoreMisconfigured, StoreSettings
from demineur.store.own_redis import bundled_server, find_server
from tests.redis_servers import wait_for
from tests.store.conftest import OpenStore, begin

TTL_MS = 600_000

CHILD = """
import asyncio, pathlib, sys
from demineur.store import Store, StoreSettings

async def main():
    store = await Store.open(StoreSettings(data_dir=pathlib.Path(sys.argv[1])))
    lease = await store.acquire("ROOM2345", create=True)
    version = 1
    while True:
        event = b"%d" % version
        await store.append("ROOM2345", lease.epoch, version, [event], ttl_ms=600_000)
        print(version, flush=True)
        version += 1

asyncio.run(main())
"""


def servers_of(directory: Path) -> list[int]:
    """Process ids of Redis servers whose working directory this is."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                name = (entry / "comm").read_text().strip()
                where = (entry / "cwd").readlink()
            except OSError:
                continue
            if name == "redis-server" and where == directory.resolve():
                found.append(int(entry.name))
    return found


@pytest.fixture
def writing_process(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process with a store of its own that appends and says what was acknowledged."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


async def test_what_was_stored_is_there_after_a_restart(tmp_path: Path, code: str) -> None:
    first = await Store.open(StoreSettings(data_dir=tmp_path))
    assert first.durable
    _, token = await first.new_player("Zoë")
    await begin(first, code, b"one", b"two")
    await first.close()
    assert servers_of(tmp_path / "redis") == []
    second = await Store.open(StoreSettings(data_dir=tmp_path))
    assert await second.load(code) == [b"one", b"two"]
    assert await second.player(token) is not None
    assert isinstance(await second.acquire(code), Lease)
    await second.close()


async def test_a_killed_server_leaves_no_redis_and_loses_no_answer(
    tmp_path: Path, writing_process: "subprocess.Popen[str]", open_store: OpenStore
) -> None:
    assert writing_process.stdout is not None
    for line in writing_process.stdout:
        if int(line) >= 50:
            break
    writing_process.send_signal(signal.SIGKILL)
    acknowledged = 50 + len(writing_process.stdout.readlines())
    # At once, while the other Redis may still be writing out.
    store = await open_store(StoreSettings(data_dir=tmp_path))
    assert len(servers_of(tmp_path / "redis")) == 1
    log = await store.load("ROOM2345")
    assert len(log) in (acknowledged, acknowledged + 1)
    assert log == [b"%d" % version for version in range(1, len(log) + 1)]


async def test_a_start_waits_for_the_redis_of_a_killed_server(
    tmp_path: Path, writing_process: "subprocess.Popen[str]"
) -> None:
    assert writing_process.stdout is not None
    writing_process.stdout.readline()
    [redis] = servers_of(tmp_path / "redis")
    os.kill(redis, signal.SIGSTOP)
    try:
        writing_process.kill()
        writing_process.wait()
        with (tmp_path / "redis" / "redis.lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opening = asyncio.ensure_future(Store.open(StoreSettings(data_dir=tmp_path)))
        await asyncio.sleep(0.2)
        assert not opening.done()
        assert servers_of(tmp_path / "redis") == [redis]
    finally:
        os.kill(redis, signal.SIGCONT)
    store = await opening
    assert servers_of(tmp_path / "redis") != [redis]
    await store.close()


async def test_two_servers_on_one_directory(tmp_path: Path, open_store: OpenStore) -> None:
    await open_store(StoreSettings(data_dir=tmp_path))
    began = time.monotonic()
    with pytest.raises(StoreMisconfigured, match=re.escape(f"process {os.getpid()}")):
        await Store.open(StoreSettings(data_dir=tmp_path))
    assert time.monotonic() - began < 2
    assert len(servers_of(tmp_path / "redis")) == 1


async def test_its_socket_is_private(tmp_path: Path, open_store: OpenStore) -> None:
    await open_store(StoreSettings(data_dir=tmp_path))
    directory = tmp_path / "redis"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / "redis.sock").stat().st_mode) == 0o600


async def test_a_directory_too_deep_for_a_socket(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    deep = tmp_path / ("d" * 120)
    store = await open_store(StoreSettings(data_dir=deep))
    await begin(store, code, b"created")
    assert await store.load(code) == [b"created"]


async def test_a_file_that_was_cut_off_is_used_up_to_there(tmp_path: Path, code: str) -> None:
    first = await Store.open(StoreSettings(data_dir=tmp_path))
    await begin(first, code, b"one", b"two")
    await first.close()
    [log] = (tmp_path / "redis" / "appendonlydir").glob("*.incr.aof")
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size - 5)
    second = await Store.open(StoreSettings(data_dir=tmp_path))
    assert await second.load(code) == [b"one", b"two"]
    await second.close()


async def test_a_broken_file_is_told_with_redis_s_own_words(tmp_path: Path, code: str) -> None:
    first = await Store.open(StoreSettings(data_dir=tmp_path))
    await begin(first, code, *[b"x" * 1000] * 10)
    await first.close()
    [log] = (tmp_path / "redis" / "appendonlydir").glob("*.incr.aof")
    with log.open("r+b") as file:
        file.seek(200)
        file.write(b"nonsense" * 20)
    with pytest.raises(StoreMisconfigured, match="append only file"):
        await Store.open(StoreSettings(data_dir=tmp_path))
    assert servers_of(tmp_path / "redis") == []


async def test_an_unclean_end_s_leftovers_don_t_matter(
    tmp_path: Path, open_store: OpenStore
) -> None:
    directory = tmp_path / "redis"
    directory.mkdir(mode=0o700)
    (directory / "redis.sock").write_text("not a socket")
    (directory / "owner.lock").write_text("1")
    await open_store(StoreSettings(data_dir=tmp_path))


async def test_files_of_a_newer_redis_are_not_passed_over(tmp_path: Path, code: str) -> None:
    newer = await Store.open(StoreSettings(data_dir=tmp_path, server_program=find_server()))
    await begin(newer, code, b"created")
    await newer.close()
    with pytest.raises(StoreMisconfigured, match="newer"):
        await Store.open(StoreSettings(data_dir=tmp_path, server_program=bundled_server()))


async def test_a_directory_that_can_t_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreMisconfigured, match="can't hold"):
        await Store.open(StoreSettings(data_dir=tmp_path / "file"))


async def test_it_is_started_again_when_it_is_killed(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(data_dir=tmp_path))
    lease = await begin(store, code, b"one")
    [pid] = servers_of(tmp_path / "redis")
    os.kill(pid, signal.SIGKILL)
    await store.append(code, lease.epoch, 2, [b"two"], ttl_ms=TTL_MS)
    assert await store.load(code) == [b"one", b"two"]
    await asyncio.to_thread(wait_for, "one server", lambda: servers_of(tmp_path / "redis") != [pid])


def test_the_server_is_found_on_the_path_first(monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = shutil.which("redis-server")
    assert on_path is not None
    assert find_server() == Path(on_path)
    monkeypatch.setenv("PATH", "")
    assert find_server() == bundled_server()


async def test_a_valkey_server_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_store: OpenStore, code: str
) -> None:
    (tmp_path / "bin").mkdir()
    valkey = tmp_path / "bin" / "valkey-server"
    valkey.symlink_to(shutil.which("redis-server") or "")
    monkeypatch.setenv("PATH", str(valkey.parent))
    assert find_server() == valkey
    store = await open_store(StoreSettings(data_dir=tmp_path))
    assert "valkey-server" in store.description
    await begin(store, code, b"created")


async def test_without_any_server_it_runs_in_memory_and_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    open_store: OpenStore,
    code: str,
) -> None:
    monkeypatch.setattr("demineur.store.backend.find_server", lambda: None)
    store = await open_store(StoreSettings(data_dir=tmp_path))
    assert not store.durable
    assert "gone when it ends" in caplog.text
    await begin(store, code, b"created")
    assert await store.load(code) == [b"created"]
    with pytest.raises(StoreMisconfigured):
        await Store.open(StoreSettings(data_dir=tmp_path, allow_memory=False))


async def test_nobody_else_may_read_its_files(tmp_path: Path, open_store: OpenStore) -> None:
    (tmp_path / "redis").mkdir(mode=0o755)  # somebody has made it before, with other rights
    store = await open_store(StoreSettings(data_dir=tmp_path))
    await begin(store, "ROOM2345")
    files = [path for path in (tmp_path / "redis" / "appendonlydir").iterdir() if path.is_file()]
    assert files
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
