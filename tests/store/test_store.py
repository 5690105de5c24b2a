"""What the store promises, the same over every kind of Redis."""

import asyncio
import time

import pytest

from demineur.store import (
    Backlogged,
    Conflict,
    Fenced,
    Held,
    Lease,
    Missing,
    RedisClock,
    RoomExists,
    Store,
    StoreUnavailable,
)
from demineur.store.keys import player_key
from demineur.store.settings import DAY_MS
from demineur.store.store import PAGE_EVENTS
from tests.store.conftest import OpenAnother, begin

TTL_MS = 600_000


# Logs


async def test_a_room_begins_only_once(store: Store, code: str) -> None:
    assert await store.acquire(code) == Missing()
    lease = await begin(store, code, b"created")
    assert (lease.epoch, lease.length, lease.previous) == (1, 0, None)
    assert await store.acquire(code, create=True) == RoomExists()


async def test_events_come_back_in_the_order_of_the_calls(store: Store, code: str) -> None:
    lease = await begin(store, code)
    pending = [
        store.append(code, lease.epoch, 2 * i + 1, [b"a%d" % i, b"b%d" % i], ttl_ms=TTL_MS)
        for i in range(20)
    ]
    await asyncio.gather(*pending)
    assert await store.load(code) == [b"%c%d" % (c, i) for i in range(20) for c in b"ab"]
    assert await store.load(code, after=38) == [b"a19", b"b19"]


async def test_events_are_opaque_bytes(store: Store, code: str) -> None:
    events = [b"", bytes(range(256)), b"\r\n$1\r\n", "Zoë".encode(), b"x" * 100_000]
    await begin(store, code, *events)
    assert await store.load(code) == events


async def test_a_log_longer_than_a_page(store: Store, code: str) -> None:
    lease = await begin(store, code)
    events = [b"%d" % version for version in range(1, 2 * PAGE_EVENTS + 1)]
    for first in range(0, len(events), 1024):
        chunk = events[first : first + 1024]
        await store.append(code, lease.epoch, first + 1, chunk, ttl_ms=TTL_MS)
    assert await store.load(code) == events
    assert await store.load(code, after=100) == events[100:]


async def test_many_rooms_share_a_call_and_stay_apart(store: Store, code: str) -> None:
    codes = [f"{code}{i}" for i in range(40)]
    leases = await asyncio.gather(*(store.acquire(c, create=True) for c in codes))
    epochs = [lease.epoch for lease in leases if isinstance(lease, Lease)]
    for version in range(1, 4):
        pending = [
            store.append(c, e, version, [f"{c} {version}".encode()], ttl_ms=TTL_MS)
            for c, e in zip(codes, epochs, strict=True)
        ]
        await asyncio.gather(*pending)
    for c in codes:
        assert await store.load(c) == [f"{c} {v}".encode() for v in range(1, 4)]


async def test_one_room_in_error_does_not_touch_the_others_of_its_call(
    store: Store, code: str
) -> None:
    first, second, third = (f"{code}{letter}" for letter in "ABC")
    for c in (first, second, third):
        await begin(store, c, b"created")
    outcomes = await asyncio.gather(
        store.append(first, 1, 2, [b"good"], ttl_ms=TTL_MS),
        store.append(second, 7, 2, [b"fenced"], ttl_ms=TTL_MS),
        store.append(third, 1, 5, [b"gap"], ttl_ms=TTL_MS),
        return_exceptions=True,
    )
    assert outcomes[0] is None
    assert isinstance(outcomes[1], Fenced)
    assert isinstance(outcomes[2], Conflict)
    assert [await store.load(c) for c in (first, second, third)] == [
        [b"created", b"good"],
        [b"created"],
        [b"created"],
    ]


async def test_an_append_with_another_epoch_is_fenced(store: Store, code: str) -> None:
    lease = await begin(store, code)
    with pytest.raises(Fenced):
        await store.append(code, lease.epoch + 1, 1, [b"x"], ttl_ms=TTL_MS)
    assert await store.load(code) == []


@pytest.mark.parametrize("version", [1, 3], ids=["taken", "gap"])
async def test_an_append_that_does_not_fit_the_log_is_a_conflict(
    store: Store, code: str, version: int
) -> None:
    lease = await begin(store, code, b"created")
    with pytest.raises(Conflict):
        await store.append(code, lease.epoch, version, [b"x"], ttl_ms=TTL_MS)
    assert await store.load(code) == [b"created"]


async def test_after_a_failed_append_the_later_ones_of_the_room_fail_too(
    store: Store, code: str
) -> None:
    lease = await begin(store, code, b"created")
    outcomes = await asyncio.gather(
        *(store.append(code, lease.epoch, v, [b"x"], ttl_ms=TTL_MS) for v in (3, 4, 5)),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [Conflict, Conflict, Conflict]
    assert await store.load(code) == [b"created"]


async def test_timers_and_meta_are_set_with_the_events(store: Store, code: str) -> None:
    lease = await begin(store, code)
    await store.append(
        code,
        lease.epoch,
        1,
        [b"created"],
        timers={"1": b"100", "2": b"200"},
        meta={"level": "expert"},
        ttl_ms=TTL_MS,
    )
    await store.append(code, lease.epoch, 2, [b"tap"], timers={"2": b"\xff"}, ttl_ms=TTL_MS)
    assert await store.timers(code) == {"1": b"100", "2": b"\xff"}
    assert await store.meta(code) == {"level": "expert"}


async def test_a_fenced_append_sets_no_timers(store: Store, code: str) -> None:
    lease = await begin(store, code, b"created")
    with pytest.raises(Fenced):
        await store.append(
            code, lease.epoch + 1, 2, [b"x"], timers={"1": b"1"}, meta={"a": "b"}, ttl_ms=TTL_MS
        )
    assert await store.timers(code) == {}
    assert await store.meta(code) == {}


async def test_a_room_expires_as_a_whole(store: Store, code: str) -> None:
    lease = await begin(store, code)
    await store.append(code, lease.epoch, 1, [b"x"], timers={"1": b"1"}, meta={"a": "b"}, ttl_ms=80)
    deadline = time.monotonic() + 5
    while await store.load(code):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert await store.timers(code) == {}
    assert await store.meta(code) == {}
    assert await store.acquire(code) == Missing()


# Leases


async def test_a_room_of_a_living_node_is_held(stores: OpenAnother, code: str) -> None:
    holder, other = await stores(address="10.0.0.1:9"), await stores()
    lease = await begin(holder, code, b"created")
    assert await other.acquire(code) == Held(holder.node_id, lease.epoch, "10.0.0.1:9")
    with pytest.raises(Fenced):
        await other.append(code, lease.epoch, 2, [b"x"], ttl_ms=TTL_MS)


async def test_two_nodes_that_create_the_same_room_get_one(stores: OpenAnother, code: str) -> None:
    one, two = await stores(), await stores()
    await begin(one, code)
    assert isinstance(await two.acquire(code, create=True), Held)


async def test_a_node_takes_its_own_room_again_at_a_new_epoch(store: Store, code: str) -> None:
    first = await begin(store, code, b"created")
    again = await store.acquire(code)
    assert isinstance(again, Lease)
    assert (again.epoch, again.length, again.previous) == (first.epoch + 1, 1, store.node_id)
    with pytest.raises(Fenced):
        await store.append(code, first.epoch, 2, [b"late"], ttl_ms=TTL_MS)


async def test_a_released_room_is_anybody_s(stores: OpenAnother, code: str) -> None:
    one, two = await stores(), await stores()
    lease = await begin(one, code, b"created")
    assert await one.release(code, lease.epoch)
    assert not await one.release(code, lease.epoch)
    taken = await two.acquire(code)
    assert isinstance(taken, Lease)
    assert (taken.epoch, taken.previous) == (lease.epoch + 1, None)
    with pytest.raises(Fenced):
        await one.append(code, lease.epoch, 2, [b"x"], ttl_ms=TTL_MS)


async def test_an_old_epoch_releases_nothing(stores: OpenAnother, code: str) -> None:
    one, two = await stores(), await stores()
    first = await begin(one, code, b"created")
    again = await one.acquire(code)
    assert isinstance(again, Lease)
    assert not await one.release(code, first.epoch)
    assert isinstance(await two.acquire(code), Held)
    assert not await two.release(code, again.epoch)
    await one.append(code, again.epoch, 2, [b"x"], ttl_ms=TTL_MS)


async def test_a_lease_is_taken_over_the_epoch_found_dead_and_no_other(
    stores: OpenAnother, code: str
) -> None:
    holder, other = await stores(), await stores()
    lease = await begin(holder, code, b"created")
    assert isinstance(await other.acquire(code, over_epoch=lease.epoch - 1), Held)
    taken = await other.acquire(code, over_epoch=lease.epoch)
    assert isinstance(taken, Lease)
    assert taken.previous == holder.node_id
    assert taken.previous_beat_ms is not None
    assert abs(taken.previous_beat_ms - other.clock.now_ms()) < 2000
    assert isinstance(await holder.acquire(code, over_epoch=lease.epoch), Held)


async def test_who_has_the_address_of_the_holder_is_its_successor(
    stores: OpenAnother, code: str
) -> None:
    before, after = await stores(address="10.0.0.1:9"), await stores(address="10.0.0.1:9")
    await begin(before, code, b"created")
    taken = await after.acquire(code)
    assert isinstance(taken, Lease)
    assert taken.previous == before.node_id


async def test_a_node_that_is_closed_is_dead_at_once(stores: OpenAnother, code: str) -> None:
    stays, goes = await stores(), await stores()
    await begin(goes, code, b"created")
    await goes.close()
    state = await stays.node(goes.node_id)
    assert state is not None
    assert not state.alive
    taken = await stays.acquire(code)
    assert isinstance(taken, Lease)
    assert taken.previous_beat_ms == state.beat_ms


async def test_a_closed_store_is_of_no_use(store: Store, code: str) -> None:
    lease = await begin(store, code, b"created")
    waits = store.append(code, lease.epoch, 2, [b"last"], ttl_ms=TTL_MS)
    await store.close()
    await store.close()
    assert waits.done()
    assert waits.exception() is None
    with pytest.raises(StoreUnavailable):
        store.append(code, lease.epoch, 3, [b"x"], ttl_ms=TTL_MS)
    with pytest.raises(StoreUnavailable):
        await store.load(code)


# Clock and nodes


async def test_nodes_agree_on_the_time(stores: OpenAnother) -> None:
    one, two = await stores(), await stores()
    for _ in range(20):
        assert abs(one.clock.now_ms() - two.clock.now_ms()) <= 2
        await asyncio.sleep(0.005)


async def test_a_node_shows_that_it_lives(stores: OpenAnother) -> None:
    one, two = await stores(address="10.0.0.1:9"), await stores(idle_beat_ms=20)
    state = await two.node(one.node_id)
    assert state is not None
    assert (state.address, state.alive) == ("10.0.0.1:9", True)
    assert abs(state.beat_ms - one.alive_ms) <= 100
    first = two.alive_ms
    deadline = time.monotonic() + 5
    while two.alive_ms < first + 60:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)
    assert two.stalled_since_ms is None
    assert await two.node("nobody") is None


async def test_racing_hurries_the_beat(store: Store) -> None:
    store.racing = True
    first = store.alive_ms
    deadline = time.monotonic() + 0.4
    while store.alive_ms < first + 60:
        assert time.monotonic() < deadline, "the beat is still the idle one"
        await asyncio.sleep(0.005)


# Players


async def test_a_player_is_known_by_token_only(store: Store) -> None:
    player_id, token = await store.new_player("Zoë")
    found = await store.player(token)
    assert found is not None
    assert (found.id, found.name) == (player_id, "Zoë")
    assert abs(found.created_ms - store.clock.now_ms()) < 5000
    other_id, other = await store.new_player("Bob")
    wrong = "A" if token[-1] != "A" else "B"
    for bad in ("", player_id, f"{player_id}.", token + "A", token[:-1] + wrong, "x" * 5000):
        assert await store.player(bad) is None
    assert await store.player(f"{player_id}.{other.partition('.')[2]}") is None
    assert await store.player(f"{other_id}.{token.partition('.')[2]}") is None


async def test_a_player_is_renamed(store: Store) -> None:
    player_id, token = await store.new_player("Zoë")
    assert await store.rename(player_id, "Łucja")
    found = await store.player(token)
    assert found is not None
    assert found.name == "Łucja"
    assert not await store.rename("0" * 16, "Nobody")


async def test_a_player_who_stays_away_is_forgotten(stores: OpenAnother) -> None:
    store = await stores(newcomer_ttl_ms=50)
    player_id, token = await store.new_player("Zoë")
    deadline = time.monotonic() + 5
    while await store.player(token) is not None:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert not await store.rename(player_id, "Zoë")
    assert await store.player(token) is None


async def test_a_player_who_comes_back_on_another_day_is_kept_for_longer(
    stores: OpenAnother, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await stores()
    player_id, token = await store.new_player("Zoë")
    key = player_key(player_id)

    async def days_left() -> float:
        left_ms: int = await store._caller.read(key, "PTTL", key)
        return left_ms / DAY_MS

    assert await store.player(token) is not None
    assert await store.rename(player_id, "Łucja")  # costs nothing, so it proves nothing
    assert 29 < await days_left() <= 30
    tomorrow_ms = store.clock.now_ms() + DAY_MS + 1
    monkeypatch.setattr(RedisClock, "now_ms", lambda _: tomorrow_ms)
    found = await store.player(token)
    assert found is not None
    assert found.name == "Łucja"
    assert 399 < await days_left() <= 400


# Lobby and watch list


async def test_the_lobby_lists_rooms_put_last_first(store: Store, code: str) -> None:
    first, second = f"{code}A", f"{code}B"
    await store.list_room(first, b"one")
    await asyncio.sleep(0.002)
    await store.list_room(second, b"two")
    listed = await store.list_rooms()
    assert list(listed)[:2] == [second, first]
    assert (listed[first], listed[second]) == (b"one", b"two")
    await asyncio.sleep(0.002)
    await store.list_room(first, b"changed")
    assert list((await store.list_rooms(1)).items()) == [(first, b"changed")]
    await store.unlist_room(first)
    await store.unlist_room(second)
    assert not {first, second} & set(await store.list_rooms())


async def test_rooms_with_something_overdue_are_found(stores: OpenAnother, code: str) -> None:
    one, two = await stores(), await stores()
    now_ms = one.clock.now_ms()
    overdue, due_later, done = f"{code}A", f"{code}B", f"{code}C"
    one.watch(overdue, now_ms - 60_000)
    one.watch(due_later, now_ms + 60_000)
    one.watch(done, now_ms - 60_000)
    deadline = time.monotonic() + 5
    while not {overdue, done} <= set(await two.overdue(limit=10_000)):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert due_later not in await two.overdue(limit=10_000)
    one.unwatch(done)
    while done in await two.overdue(limit=10_000):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert overdue in await two.overdue(limit=10_000)
    one.watch(done, now_ms - 60_000)
    while done not in await two.overdue(limit=10_000):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    one.unwatch(done)
    one.watch(done, now_ms - 50_000)
    one.watch(f"{code}D", now_ms - 60_000)
    while f"{code}D" not in await two.overdue(limit=10_000):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    assert done in await two.overdue(limit=10_000)


# The queue


async def test_a_full_queue_refuses_at_once(stores: OpenAnother, code: str) -> None:
    store = await stores(max_waiting_appends=10, max_waiting_bytes=100_000)
    lease = await begin(store, code)
    pending = [store.append(code, lease.epoch, v, [b"x"], ttl_ms=TTL_MS) for v in range(1, 11)]
    with pytest.raises(Backlogged):
        store.append(code, lease.epoch, 11, [b"x"], ttl_ms=TTL_MS)
    assert store.waiting_appends == 10
    await asyncio.gather(*pending)
    assert store.waiting_appends == 0
    with pytest.raises(Backlogged):
        store.append(code, lease.epoch, 11, [b"x" * 100_000], ttl_ms=TTL_MS)
    await store.append(code, lease.epoch, 11, [b"x"], ttl_ms=TTL_MS)
    assert len(await store.load(code)) == 11
