"""What the store promises, the same over every kind of Redis."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from demineur.store import Conflict, Fenced, Lease, Missing, RoomExists, Store, StoreSettings

TTL_MS = 600_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(StoreSettings(data_dir=tmp_path))
    yield store
    await store.close()


async def new_room(store: Store, code: str) -> Lease:
    lease = await store.acquire(code, create=True)
    assert isinstance(lease, Lease)
    return lease


async def test_a_room_begins_only_once(store: Store) -> None:
    assert await store.acquire("ROOM2345") == Missing()
    lease = await new_room(store, "ROOM2345")
    await store.append("ROOM2345", lease.epoch, 1, [b"created"], ttl_ms=TTL_MS)
    assert await store.acquire("ROOM2345", create=True) == RoomExists()


async def test_events_come_back_in_the_order_of_the_calls(store: Store) -> None:
    lease = await new_room(store, "ROOM2345")
    pending = [
        store.append("ROOM2345", lease.epoch, 2 * i + 1, [b"a%d" % i, b"b%d" % i], ttl_ms=TTL_MS)
        for i in range(20)
    ]
    await asyncio.gather(*pending)
    assert await store.load("ROOM2345") == [b"%c%d" % (c, i) for i in range(20) for c in b"ab"]
    assert await store.load("ROOM2345", after=38) == [b"a19", b"b19"]


async def test_an_append_with_another_epoch_is_fenced(store: Store) -> None:
    lease = await new_room(store, "ROOM2345")
    with pytest.raises(Fenced):
        await store.append("ROOM2345", lease.epoch + 1, 1, [b"x"], ttl_ms=TTL_MS)
    assert await store.load("ROOM2345") == []


@pytest.mark.parametrize("version", [1, 3], ids=["taken", "gap"])
async def test_an_append_that_does_not_fit_the_log_is_a_conflict(
    store: Store, version: int
) -> None:
    lease = await new_room(store, "ROOM2345")
    await store.append("ROOM2345", lease.epoch, 1, [b"created"], ttl_ms=TTL_MS)
    with pytest.raises(Conflict):
        await store.append("ROOM2345", lease.epoch, version, [b"x"], ttl_ms=TTL_MS)
    assert await store.load("ROOM2345") == [b"created"]
