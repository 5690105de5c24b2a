"""What is really in Redis, against what ``docs/redis-keys.md`` says."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from demineur.store import Store, StoreSettings
from tests.redis_servers import RIGHTS, RedisServer
from tests.store.conftest import OpenStore, begin

PAGE = Path(__file__).parents[2] / "docs" / "redis-keys.md"

TYPES = {"stream": b"stream", "hash": b"hash", "string": b"string", "sorted set": b"zset"}


def rows() -> dict[str, bytes]:
    """Pattern and type of each key on the page."""
    found = {}
    for key, kind in re.findall(r"^\| `([^`]+)` \| ([a-z ]+) \|", PAGE.read_text(), re.MULTILINE):
        pattern = re.escape(key)
        for part in ("CODE", "NODE", "ID"):
            pattern = pattern.replace(part, "[^{}:]+")
        found[pattern] = TYPES[kind]
    return found


@pytest.fixture
def client(tmp_path: Path) -> Iterator[redis.Redis]:
    with RedisServer(tmp_path / "redis").ready() as server, server.client() as client:
        yield client


@pytest.fixture
async def store(client: redis.Redis, open_store: OpenStore) -> Store:
    port = client.get_connection_kwargs()["port"]
    return await open_store(StoreSettings(url=f"redis://127.0.0.1:{port}"))


async def test_every_key_has_its_row_its_type_and_an_expiry(
    client: redis.Redis, store: Store, code: str
) -> None:
    lease = await begin(store, code, b"created")
    await store.append(
        code, lease.epoch, 2, [b"x"], timers={"1": b"1"}, meta={"a": "b"}, ttl_ms=600_000
    )
    await store.acquire(f"{code}B", create=True)
    await store.new_player("Zoë")
    await store.list_room(code, b"entry")
    store.watch(code, store.clock.now_ms())
    await store.close()
    known = rows()
    seen = set()
    for key in client.scan_iter():
        [pattern] = [p for p in known if re.fullmatch(p, key.decode())]
        assert client.type(key) == known[pattern], key
        assert client.pttl(key) > 0, key
        seen.add(pattern)
    assert seen == set(known)


async def test_the_lease_outlives_the_log(client: redis.Redis, store: Store, code: str) -> None:
    await begin(store, code, b"created")
    log_ttl_ms = client.pttl(f"room:{{{code}}}:log")
    assert 590_000 < log_ttl_ms <= 600_000
    assert client.pttl(f"room:{{{code}}}:lease") > log_ttl_ms + 59_000


async def test_a_lease_that_was_lost_gets_an_expiry_again(
    client: redis.Redis, store: Store, code: str
) -> None:
    await begin(store, code, b"created")
    client.delete(f"room:{{{code}}}:lease")
    await store.acquire(code)
    assert client.pttl(f"room:{{{code}}}:lease") > client.pttl(f"room:{{{code}}}:log")


async def test_redis_holds_no_token(client: redis.Redis, store: Store) -> None:
    player_id, token = await store.new_player("Zoë")
    secret = token.partition(".")[2]
    stored = client.hgetall(f"player:{{{player_id}}}")
    assert stored[b"token_hash"] == hashlib.sha256(secret.encode()).hexdigest().encode()
    for key in client.scan_iter():
        assert secret.encode() not in (client.dump(key) or b"")


async def test_stale_rooms_fall_off_the_lobby(client: redis.Redis, store: Store, code: str) -> None:
    await store.list_room(f"{code}A", b"stale")
    client.zadd("{lobby}:seen", {f"{code}A": store.clock.now_ms() - 90_001})
    assert await store.list_rooms() == {}
    await store.list_room(f"{code}B", b"fresh")
    assert await store.list_rooms() == {f"{code}B": b"fresh"}
    assert client.hkeys("{lobby}:rooms") == [f"{code}B".encode()]


async def test_long_forgotten_rooms_fall_off_the_watch_list(
    client: redis.Redis, store: Store, code: str
) -> None:
    now_ms = store.clock.now_ms()
    client.zadd("{watch}:rooms", {"OLD": now_ms - 8 * 86_400_000, "LATE": now_ms - 86_400_000})
    assert await store.overdue() == ["LATE"]
    assert client.zrange("{watch}:rooms", 0, -1) == [b"LATE"]


async def test_a_player_seen_again_lives_on(client: redis.Redis, store: Store) -> None:
    player_id, token = await store.new_player("Zoë")
    key = f"player:{{{player_id}}}"
    day_ms = 86_400_000
    client.hset(key, "seen_ms", store.clock.now_ms() - 2 * day_ms)
    client.pexpire(key, 398 * day_ms)
    assert await store.player(token) is not None
    assert client.pttl(key) > 399 * day_ms
    assert int(client.hget(key, "seen_ms") or 0) >= store.clock.now_ms() - 5000


def test_the_rights_on_the_page_are_those_that_the_tests_run_with() -> None:
    assert RIGHTS in PAGE.read_text()
