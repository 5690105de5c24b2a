"""An append counts when a replica holds it: replicas that pause, vanish, lag and take over."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from redis.exceptions import NoPermissionError, ResponseError

from demineur.store import Conflict, Fenced, Store, StoreSettings, StoreUnavailable
from demineur.store.commit import STORED, GroupCommit
from demineur.store.link import LinkBroken, LinkForbidden, Reply
from demineur.store.replicas import WAIT_MS, Replicas
from demineur.store.scripts import MARK, Command
from tests.redis_servers import RedisServer, SentinelSet, wait_for
from tests.store.conftest import OpenStore, begin
from tests.store.test_commit import ModelRedis
from tests.store.writers import TTL_MS, Writer, assert_nothing_lost, progress, until, writing

FILLER = b"x" * 50_000
"""Makes events so large that what a paused replica has not read does not all fit the kernel's
buffers, and dies with the master."""

# Over a link that the test plays


class ModelLink:
    """A link to one server with so many replicas, of which so many keep up."""

    def __init__(self, connected: int = 1, holding: int = 1) -> None:
        self.connected, self.holding = connected, holding
        self.role: Reply = b"master"
        self.wait_reply: Reply = None
        self.sent: list[list[Command]] = []
        self.renewed = 0

    def lane(self, key: str) -> str:
        return ""

    def group(self, key: str) -> int:
        return 0

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        self.sent.append(list(commands))
        await asyncio.sleep(0)
        return [self._reply(command) for command in commands]

    async def send_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        return await self.send(lane, commands)

    def asked(self, reply: Reply) -> str | None:
        return "other" if isinstance(reply, ResponseError) and "ASK" in str(reply) else None

    async def renew(self, lane: str) -> None:
        self.renewed += 1

    async def close(self) -> None:
        pass

    def _reply(self, command: Command) -> Reply:
        if command[0] == "ROLE":
            if isinstance(self.role, Exception):
                return self.role
            return [self.role, 100, [[b"127.0.0.1", b"1", b"100"]] * self.connected]
        if command[0] == "WAIT":
            return self.holding if self.wait_reply is None else self.wait_reply
        if command[0] == "REFUSED":
            return ResponseError("READONLY You can't write against a read only replica.")
        return ResponseError("ASK 1 other:1") if command[0] == "MOVING" else b"OK"


WRITE: list[Command] = [("SET", "k", "v")]


async def test_nothing_is_added_where_none_is_wanted() -> None:
    link = ModelLink()
    assert await Replicas(link, 0).write("", WRITE) == [b"OK"]
    assert link.sent == [WRITE]


async def test_one_round_trip_writes_and_waits() -> None:
    link = ModelLink()
    assert await Replicas(link, 1).write("", WRITE * 3) == [b"OK"] * 3
    assert link.sent == [[*WRITE * 3, ("ROLE",), ("WAIT", 1, WAIT_MS)]]


async def test_a_replica_that_lags_breaks_the_link() -> None:
    link = ModelLink(holding=0)
    replicas = Replicas(link, 1)
    for _ in range(3):
        with pytest.raises(LinkBroken) as broken:
            await replicas.write("", WRITE)
        assert broken.value.sent
    link.holding = 1
    assert await replicas.write("", WRITE) == [b"OK"]
    assert link.renewed == 0


async def test_a_master_without_replicas_goes_on_when_it_was_found_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    link = ModelLink(connected=0, holding=0)
    replicas = Replicas(link, 1)
    with pytest.raises(LinkBroken):
        await replicas.write("", WRITE)
    assert link.renewed == 1
    for _ in range(3):
        assert await replicas.write("", WRITE) == [b"OK"]
    assert link.sent[-1] == [*WRITE, ("ROLE",)]
    link.connected = link.holding = 1
    with pytest.raises(LinkBroken):
        await replicas.write("", WRITE)
    for _ in range(3):
        assert await replicas.write("", WRITE) == [b"OK"]
    assert link.renewed == 1
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "0 of 1 replicas" in caplog.text


async def test_a_write_of_before_the_loss_is_not_believed() -> None:
    """Two are under way at an old master; the first finds it alone, the second must ask too."""
    link = ModelLink(connected=0, holding=0)
    replicas = Replicas(link, 1)
    done = await asyncio.gather(
        *(replicas.write("", WRITE) for _ in range(2)), return_exceptions=True
    )
    assert [type(outcome) for outcome in done] == [LinkBroken, LinkBroken]
    assert link.renewed == 2


async def test_of_two_wanted_the_one_that_is_left_is_waited_for() -> None:
    link = ModelLink(connected=1, holding=1)
    replicas = Replicas(link, 2)
    with pytest.raises(LinkBroken):
        await replicas.write("", WRITE)
    assert await replicas.write("", WRITE) == [b"OK"]
    assert link.sent[-1][-1] == ("WAIT", 1, WAIT_MS)
    link.holding = 0
    with pytest.raises(LinkBroken):
        await replicas.write("", WRITE)


async def test_a_refusal_stays_one_whatever_the_replicas_do() -> None:
    link = ModelLink(holding=0)
    link.role = b"slave"
    [reply] = await Replicas(link, 1).write("", [("REFUSED",)])
    assert isinstance(reply, ResponseError)
    with pytest.raises(LinkBroken):
        await Replicas(link, 1).write("", [("REFUSED",), *WRITE])


@pytest.mark.parametrize("command", ["role", "wait_reply"])
async def test_a_right_that_is_missing_is_told(command: str) -> None:
    link = ModelLink()
    setattr(link, command, NoPermissionError(f"no permissions to run {command}"))
    with pytest.raises(LinkForbidden):
        await Replicas(link, 1).write("", WRITE)


async def test_what_goes_to_another_server_is_waited_for_there() -> None:
    link = ModelLink()
    await Replicas(link, 1).write("", [*WRITE, ("MOVING",)])
    assert link.sent[1] == [("ASKING",), ("MOVING",), ("ROLE",), ("WAIT", 1, WAIT_MS)]


class WaitsForOwnWrites(ModelRedis):
    """One with a replica, whose WAIT is about what this pipeline wrote and nothing earlier.

    So it is on a new connection, with any Redis that counts only writes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.holding = False
        self.marks = 0
        self._wrote = False

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        self._wrote = False
        return await super().send(lane, commands)

    def _execute(self, command: Command) -> Reply:
        if command[0] == "ROLE":
            return [b"master", 100, [[b"127.0.0.1", b"1", b"0"]]]
        if command[0] == "WAIT":
            return int(self.holding or not self._wrote)
        if command[:2] == ("EVAL", MARK.source):
            self.marks += 1
            self._wrote = True
            return 1
        reply = super()._execute(command)
        self._wrote = self._wrote or (command[0] == "EVALSHA" and STORED in reply)
        return reply


async def test_an_append_that_is_found_in_the_log_waits_too() -> None:
    redis = WaitsForOwnWrites()
    commit = GroupCommit(redis, StoreSettings(node_id="me"), Replicas(redis, 1))
    redis.faults = [("after", LinkBroken(OSError("gone"), sent=True))]
    futures = [commit.append(code, 1, 1, [b"x"], ttl_ms=TTL_MS) for code in "AB"]
    await until(lambda: redis.marks >= 4, "two looks")
    assert not any(future.done() for future in futures)
    redis.holding = True
    await asyncio.gather(*futures)
    assert redis.logs == {"A": [b"x"], "B": [b"x"]}


# Real servers


class Pair:
    """A master and its replica at a plain address."""

    def __init__(self, master: RedisServer, replica: RedisServer) -> None:
        self.master, self.replica = master, replica

    def replicas(self) -> int:
        with self.master.client() as client:
            return int(client.info("replication")["connected_slaves"])


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with contextlib.ExitStack() as started:
        master = started.enter_context(RedisServer(tmp_path / "a")).ready()
        replica = started.enter_context(
            RedisServer(tmp_path / "b", f"replicaof 127.0.0.1 {master.port}")
        ).ready()
        pair = Pair(master, replica)
        wait_for("the replica's link", lambda: _is_linked(replica))
        yield pair


def _is_linked(replica: RedisServer) -> bool:
    with replica.client() as client:
        return bool(client.info("replication")["master_link_status"] == "up")


@contextlib.contextmanager
def paused(server: RedisServer) -> Iterator[None]:
    server.pause()
    try:
        yield
    finally:
        server.resume()


async def held_up(store: Store, code: str, epoch: int) -> "asyncio.Future[None]":
    """An append that has been sent and not answered for three WAITs."""
    append = store.append(code, epoch, 2, [b"waits"], ttl_ms=TTL_MS)
    await asyncio.sleep(3 * WAIT_MS / 1000)
    assert not append.done()
    return append


async def test_an_append_waits_for_a_replica_that_stands_still(
    pair: Pair, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(url=pair.master.url, replicas=1))
    lease = await begin(store, code, b"created")
    with paused(pair.replica):
        append = await held_up(store, code, lease.epoch)
        with pair.master.client() as client:
            assert client.xlen(f"room:{{{code}}}:log") == 2, "the master has it long since"
        await until(lambda: store.stalled_since_ms is not None, "a stall, so that clocks stand")
    await append
    await until(lambda: store.stalled_since_ms is None, "recovery")
    with pair.replica.client() as client:
        assert client.xlen(f"room:{{{code}}}:log") == 2


async def test_an_append_does_not_wait_for_a_replica_that_is_dropped(
    pair: Pair, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(url=pair.master.url, replicas=1))
    lease = await begin(store, code, b"created")
    with paused(pair.replica):
        append = await held_up(store, code, lease.epoch)
        with pair.master.client() as client:
            client.client_kill_filter(_type="replica")
        await asyncio.wait_for(append, 2.0)


async def test_an_append_that_no_replica_takes_is_given_up_as_unknown(
    pair: Pair, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(url=pair.master.url, replicas=1, call_timeout_s=0.5))
    lease = await begin(store, code, b"created")
    with paused(pair.replica):
        with pytest.raises(StoreUnavailable) as given_up:
            await store.append(code, lease.epoch, 2, [b"waits"], ttl_ms=TTL_MS)
        assert given_up.value.outcome_unknown
        with pytest.raises(StoreUnavailable):
            await store.acquire(code)  # or the log would be loaded that may yet be lost
        with pytest.raises(StoreUnavailable):
            await store.new_player("Ada")
    await until(lambda: store.stalled_since_ms is None, "recovery")
    await store.acquire(code)
    assert await store.load(code) == [b"created", b"waits"]


async def test_where_there_is_no_replica_nothing_waits(
    tmp_path: Path, open_store: OpenStore, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    with RedisServer(tmp_path / "alone").ready() as server:
        store = await open_store(StoreSettings(url=server.url, replicas=1))
        async with writing(store, code) as writers:
            await progress(writers, 50)
        await assert_nothing_lost(writers)
        assert len([r for r in caplog.records if "replicas" in r.message]) == 1
        with server.client() as client:
            stats = client.info("commandstats")
        assert stats["cmdstat_wait"]["calls"] <= 3, "only what came before the first ROLE"
        plain = await open_store(StoreSettings(url=server.url))
        await begin(plain, f"{code}P", b"created")


async def test_replicas_may_come_and_go(pair: Pair, open_store: OpenStore, code: str) -> None:
    store = await open_store(StoreSettings(url=pair.master.url, replicas=1))
    async with writing(store, f"{code}A", f"{code}B") as writers:
        for _ in range(2):
            pair.replica.kill()
            await progress(writers, 10)
            pair.replica.start()
            await until(lambda: pair.replicas() == 1, "the replica's return")
            await progress(writers, 10)
    await assert_nothing_lost(writers)


# Failover


@contextlib.asynccontextmanager
async def storm(store: Store, code: str, padding: bytes = b"") -> AsyncIterator[list[Writer]]:
    async with writing(store, *(f"{code}{i}" for i in range(6)), padding=padding) as writers:
        yield writers


async def kill_ahead_of_its_replica(site: SentinelSet, writers: list[Writer]) -> None:
    """Kill the master when it is ahead of its replica, if it ever answers while it is."""
    before = sum(len(writer.stored) for writer in writers)
    with paused(site.replica):
        for _ in range(45):  # less than the half second after which Sentinel gives a replica up
            await asyncio.sleep(0.01)
            if sum(len(writer.stored) for writer in writers) - before > 400:
                break
        site.master.kill()


@pytest.mark.parametrize("again", range(3))
async def test_a_failover_loses_nothing_that_was_answered(
    tmp_path: Path, open_store: OpenStore, code: str, again: int
) -> None:
    with SentinelSet(tmp_path / "set") as site:
        store = await open_store(StoreSettings(url=site.url, call_timeout_s=10))
        async with storm(store, code, FILLER) as writers:
            await kill_ahead_of_its_replica(site, writers)
            await progress(writers)
        await assert_nothing_lost(writers)


async def test_without_waiting_a_failover_loses_what_was_answered(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    """The test above would notice; and the loss shows at the next append."""
    with SentinelSet(tmp_path / "set") as site:
        store = await open_store(StoreSettings(url=site.url, call_timeout_s=10, replicas=0))
        async with storm(store, code, FILLER) as writers:
            await kill_ahead_of_its_replica(site, writers)
            await progress(writers)
        lost = [len(w.stored) - len(await store.load(w.code)) for w in writers]
        assert max(lost) > 0
        for writer, count in zip(writers, lost, strict=True):
            assert all(isinstance(error, Conflict | Fenced) for error in writer.errors)
            assert writer.errors or count == 0


async def test_a_master_that_wakes_after_a_failover_answers_nothing(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    with SentinelSet(tmp_path / "set") as site:
        store = await open_store(StoreSettings(url=site.url, call_timeout_s=10))
        async with storm(store, code) as writers:
            before = site.master_port()
            with site.master.client() as client:
                # Sentinel must not be quicker than we are to tell it that it is none any more.
                client.execute_command("ACL", "SETUSER", "default", "-replicaof", "-slaveof")
            with paused(site.master):
                await until(lambda: site.master_port() != before, "the failover")
            await progress(writers, 20)
        with site.replica.client() as promoted:
            for writer in writers:
                log = promoted.xrange(f"room:{{{writer.code}}}:log")
                assert [fields[b"e"] for _, fields in log] == writer.stored
                assert writer.errors == []
