"""Redis dies, stands still, changes hands, or refuses: what the store makes of it.

Real servers, killed and paused for real. A writer appends all the while; what it was told is
compared with what the log holds.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from demineur.store import (
    Conflict,
    Fenced,
    Held,
    Lease,
    Store,
    StoreMisconfigured,
    StoreSettings,
    StoreUnavailable,
)
from tests.redis_servers import PASSWORD, AccessServer, ClusterSet, RedisServer, SentinelSet
from tests.store.conftest import OpenStore, begin
from tests.store.writers import (
    PATIENCE_S,
    TTL_MS,
    assert_nothing_lost,
    progress,
    until,
    writing,
)

pytestmark = [pytest.mark.faults, pytest.mark.alone]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path / "redis").ready() as server:
        yield server


@pytest.fixture
async def store(server: RedisServer, open_store: OpenStore) -> Store:
    return await open_store(StoreSettings(url=server.url))


# Death and stand-still


async def test_redis_is_killed_and_started_again(
    server: RedisServer, store: Store, code: str
) -> None:
    async with writing(store, f"{code}A", f"{code}B", f"{code}C") as writers:
        for _ in range(3):
            server.kill()
            server.start()
            await progress(writers)
    await assert_nothing_lost(writers)


async def test_moves_wait_for_a_redis_that_stands_still(
    server: RedisServer, store: Store, code: str
) -> None:
    store.racing = True
    told: list[tuple[str, int]] = []
    store.on_stall(lambda since_ms: told.append(("stall", since_ms)))
    store.on_recover(lambda since_ms: told.append(("recover", since_ms)))
    async with writing(store, f"{code}A", f"{code}B") as writers:
        await asyncio.sleep(0.1)
        paused_ms = store.clock.now_ms()
        server.pause()
        try:
            await until(lambda: store.stalled_since_ms is not None, "a stall")
            since_ms = store.stalled_since_ms
            await until(lambda: store.clock.now_ms() > paused_ms + 1000, "a second")
            assert store.stalled_since_ms == since_ms
        finally:
            server.resume()
        await until(lambda: store.stalled_since_ms is None, "recovery")
        await progress(writers)
    await assert_nothing_lost(writers)
    assert since_ms is not None
    assert abs(since_ms - paused_ms) <= 200
    assert told == [("stall", since_ms), ("recover", since_ms)]
    assert all(1.0 <= writer.longest_s < 3.0 for writer in writers)


async def test_a_pause_of_this_process_is_told_when_it_is_over(store: Store) -> None:
    store.racing = True
    told: list[tuple[str, int]] = []
    store.on_stall(lambda since_ms: told.append(("stall", since_ms)))
    store.on_recover(lambda since_ms: told.append(("recover", since_ms)))
    first = store.alive_ms
    await until(lambda: store.alive_ms > first, "a beat")
    paused_ms = store.clock.now_ms()
    time.sleep(0.4)  # noqa: ASYNC251 (this is the pause)
    await until(lambda: len(told) == 2, "both calls")
    assert [kind for kind, _ in told] == ["stall", "recover"]
    assert told[0][1] == told[1][1]
    assert abs(told[0][1] - paused_ms) < 200
    assert store.alive_ms - told[0][1] >= 400


async def test_a_stand_still_longer_than_a_call_may_take(
    server: RedisServer, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(url=server.url, call_timeout_s=0.3))
    lease = await begin(store, code, b"created")
    server.pause()
    try:
        first = store.append(code, lease.epoch, 2, [b"sent"], ttl_ms=TTL_MS)
        await asyncio.sleep(0.05)
        second = store.append(code, lease.epoch, 3, [b"waits"], ttl_ms=TTL_MS)
        outcomes = await asyncio.wait_for(
            asyncio.gather(first, second, return_exceptions=True), 2.0
        )
    finally:
        server.resume()
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable, StoreUnavailable]
    assert isinstance(outcomes[0], StoreUnavailable)
    assert outcomes[0].outcome_unknown
    assert isinstance(outcomes[1], StoreUnavailable)
    assert not outcomes[1].outcome_unknown
    assert store.waiting_appends == 0
    # What the answer said: take the lease again, and the log alone says what happened.
    again = await store.acquire(code)
    assert isinstance(again, Lease)
    log = await store.load(code)
    assert log in ([b"created"], [b"created", b"sent"])
    await store.append(code, again.epoch, len(log) + 1, [b"after"], ttl_ms=TTL_MS)
    assert await store.load(code) == [*log, b"after"]


async def test_no_redis_at_all(server: RedisServer, open_store: OpenStore, code: str) -> None:
    store = await open_store(StoreSettings(url=server.url, call_timeout_s=0.3))
    lease = await begin(store, code, b"created")
    server.kill()
    await until(lambda: store.stalled_since_ms is not None, "a stall")
    with pytest.raises(StoreUnavailable) as refused:
        await store.append(code, lease.epoch, 2, [b"x"], ttl_ms=TTL_MS)
    assert not refused.value.outcome_unknown
    with pytest.raises(StoreUnavailable):
        await store.acquire(code)
    server.start()
    await until(lambda: store.stalled_since_ms is None, "recovery")
    await store.append(code, lease.epoch, 2, [b"again"], ttl_ms=TTL_MS)
    assert await store.load(code) == [b"created", b"again"]


async def test_a_log_that_lost_its_end_is_noticed(
    server: RedisServer, store: Store, code: str
) -> None:
    """As after a crash with ``everysec``, or a failover to a replica that lagged behind."""
    lease = await begin(store, code, b"created", b"one", b"two")
    with server.client() as client:
        client.xdel(f"room:{{{code}}}:log", "3-0")
    with pytest.raises(Conflict):
        await store.append(code, lease.epoch, 4, [b"three"], ttl_ms=TTL_MS)
    assert await store.load(code) == [b"created", b"one"]


async def test_a_redis_that_lost_everything_fences(
    server: RedisServer, store: Store, code: str
) -> None:
    lease = await begin(store, code, b"created")
    with server.client() as client:
        client.flushall()
    with pytest.raises(Fenced):
        await store.append(code, lease.epoch, 2, [b"x"], ttl_ms=TTL_MS)


async def test_silence_of_redis_does_not_make_nodes_dead(
    server: RedisServer, store: Store, code: str
) -> None:
    """After a long outage all beats are old; who asks first must not rob the others."""
    await begin(store, code, b"created")
    with server.client() as client:
        client.hset(f"room:{{{code}}}:lease", "node", "other")
        server.pause()
        await until(lambda: store.stalled_since_ms is not None, "a stall")
        server.resume()
        await until(lambda: store.stalled_since_ms is None, "recovery")
        client.set("{nodes}:other", f"{store.clock.now_ms() - 5001} up 10.0.0.1:9")
    recovered_ms = store.clock.now_ms()
    assert isinstance(await store.acquire(code), Held)
    deadline = time.monotonic() + PATIENCE_S
    while not isinstance(await store.acquire(code), Lease):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    assert store.clock.now_ms() - recovered_ms >= 500


async def test_a_node_that_stopped_beating_loses_its_rooms(
    server: RedisServer, open_store: OpenStore, code: str
) -> None:
    dead = await open_store(StoreSettings(url=server.url))
    other = await open_store(StoreSettings(url=server.url, lease_ms=300, idle_beat_ms=50))
    lease = await begin(dead, code, b"created")
    with server.client() as client:
        client.set(f"{{nodes}}:{dead.node_id}", f"{other.clock.now_ms() - 301} up 10.0.0.1:9")
        await until(lambda: other.alive_ms > dead.alive_ms + 150, "a steady Redis")
        client.set(f"{{nodes}}:{dead.node_id}", f"{other.clock.now_ms() - 301} up 10.0.0.1:9")
        taken = await other.acquire(code)
    assert isinstance(taken, Lease)
    assert taken.epoch == lease.epoch + 1
    assert taken.previous == dead.node_id


# Refusals


async def test_scripts_that_redis_forgot_are_sent_again(
    server: RedisServer, store: Store, code: str
) -> None:
    async with writing(store, code) as writers:
        with server.client() as client:
            for _ in range(5):
                client.script_flush()
                await progress(writers, 3)
    await assert_nothing_lost(writers)


@pytest.mark.parametrize(
    ("refuse", "allow"),
    [
        (("maxmemory", "1"), ("maxmemory", "0")),
        (("min-replicas-to-write", "1"), ("min-replicas-to-write", "0")),
    ],
    ids=["OOM", "NOREPLICAS"],
)
async def test_a_refusal_that_ends_in_time_is_waited_for(
    server: RedisServer, store: Store, code: str, refuse: tuple[str, str], allow: tuple[str, str]
) -> None:
    async with writing(store, code) as writers:
        with server.client() as client:
            client.config_set(*refuse)
            await until(lambda: store.stalled_since_ms is not None, "a stall")
            client.config_set(*allow)
        await progress(writers)
    await assert_nothing_lost(writers)


async def test_a_refusal_that_lasts_is_told(
    server: RedisServer, open_store: OpenStore, code: str
) -> None:
    store = await open_store(StoreSettings(url=server.url, call_timeout_s=0.2))
    lease = await begin(store, code, b"created")
    with server.client() as client:
        client.replicaof("127.0.0.1", "1")
        with pytest.raises(StoreUnavailable) as refused:
            await store.append(code, lease.epoch, 2, [b"x"], ttl_ms=TTL_MS)
        assert not refused.value.outcome_unknown
        client.replicaof("no", "one")
    await store.append(code, lease.epoch, 2, [b"again"], ttl_ms=TTL_MS)
    assert await store.load(code) == [b"created", b"again"]


async def test_a_wrong_password_is_told_without_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with AccessServer(tmp_path / "redis").ready() as server:
        url = server.url.replace("p%40ss", "wr%40ng")
        with pytest.raises(StoreMisconfigured) as refused:
            await Store.open(StoreSettings(url=url))
        shown = f"{refused.value} {refused.value!r} {caplog.text} {StoreSettings(url=url)}"
        assert "wr%40ng" not in shown
        assert "wr@ng" not in shown
        store = await Store.open(StoreSettings(url=server.url))
        assert PASSWORD not in store.description
        assert "p%40ss" not in store.description
        await store.close()


async def test_a_user_without_the_rights_is_told(server: RedisServer, code: str) -> None:
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "weak", "on", ">weak", "~*", "+@all", "-xadd")
    store = await Store.open(StoreSettings(url=server.url.replace("//", "//weak:weak@")))
    try:
        with pytest.raises(StoreUnavailable):
            await begin(store, code, b"created")
    finally:
        await store.close()


async def test_nobody_there_is_told_in_time() -> None:
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await Store.open(StoreSettings(url="redis://127.0.0.1:1/0", call_timeout_s=0.2))
    assert time.monotonic() - began < 2


# Sentinel


async def test_sentinel_fails_over(tmp_path: Path, open_store: OpenStore, code: str) -> None:
    with SentinelSet(tmp_path / "set") as redises:
        store = await open_store(StoreSettings(url=redises.url, call_timeout_s=10))
        async with writing(store, f"{code}A", f"{code}B") as writers:
            before = redises.master_port()
            redises.master.kill()
            await progress(writers)
        assert redises.master_port() != before
        await until(lambda: store.stalled_since_ms is None, "recovery")
        await assert_nothing_lost(writers)


# Cluster


async def test_a_cluster_s_replica_takes_over(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    with ClusterSet(tmp_path / "set", replicas=1) as cluster:
        store = await open_store(StoreSettings(url=cluster.url, call_timeout_s=10))
        hit = cluster.code_at(cluster.masters[0], code)
        spared = cluster.code_at(cluster.masters[1], code)
        async with writing(store, hit, spared) as writers:
            cluster.masters[0].kill()
            began = time.monotonic()
            await progress(writers[1:], 20)
            assert time.monotonic() - began < 0.5, "another master's rooms had to wait"
            await progress(writers)
        await assert_nothing_lost(writers)


async def test_a_slot_moves_to_another_master(
    tmp_path: Path, open_store: OpenStore, code: str
) -> None:
    with ClusterSet(tmp_path / "set") as cluster:
        store = await open_store(StoreSettings(url=cluster.url))
        async with writing(store, code) as writers:
            for _ in range(2):
                cluster.begin_move(code)
                await progress(writers)
                cluster.move_keys()
                await progress(writers)
                cluster.end_move()
                await progress(writers)
        await assert_nothing_lost(writers)
