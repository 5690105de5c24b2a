"""What one identity and one address may ask of a node."""

import asyncio
from typing import Any

import pytest

from demineur.rooms import SessionLimits
from tests.player_client import PlayerClient
from tests.rooms.conftest import OpenTable
from tests.rooms.table import Table, new_code

CREATE = {"t": "create", "settings": {"level": "beginner"}}


async def room_of(table: Table, owner: PlayerClient | None = None) -> PlayerClient:
    """Somebody at the address of a room that does not exist yet; the owner again, or a stranger."""
    client = PlayerClient(table.base, new_code(), "Owner")
    client.token = owner.token if owner is not None else None
    table.clients.append(client)
    await client.connect()
    await client.hello()
    return client


async def test_an_identity_has_so_many_open_rooms_and_no_more(open_table: OpenTable) -> None:
    table = await open_table(players=SessionLimits(rooms_per_identity=2, busy_lag_ms=10_000))
    owner = await room_of(table)
    rooms = [owner, await room_of(table, owner)]
    for room in rooms:
        assert (await room.ask(CREATE, "room", "error"))["t"] == "room"
    third = await room_of(table, owner)
    assert (await third.ask(CREATE, "room", "error"))["code"] == "too_many_rooms"
    await rooms[1].say({"t": "leave"})
    await rooms[1].ask({"t": "join"}, "error", "room")
    assert (await third.ask(CREATE, "room", "error"))["t"] == "room"
    stranger = await room_of(table)
    assert (await stranger.ask(CREATE, "room", "error"))["t"] == "room"


async def test_rooms_that_are_being_created_count_too(
    open_table: OpenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await open_table(players=SessionLimits(rooms_per_identity=2, busy_lag_ms=10_000))
    owner = await room_of(table)
    clients = [owner, *[await room_of(table, owner) for _ in range(3)]]
    acquire, go_on = table.app.store.acquire, asyncio.Event()

    async def slowly(*args: Any, **fields: Any) -> Any:
        await go_on.wait()
        return await acquire(*args, **fields)

    monkeypatch.setattr(table.app.store, "acquire", slowly)
    for client in clients:
        await client.say(CREATE)
    refused = [await client.wait(lambda f: f["t"] == "error") for client in clients[2:]]
    assert [error["code"] for error in refused] == ["too_many_rooms"] * 2
    go_on.set()
    for client in clients[:2]:
        await client.wait(lambda f: f["t"] == "room")
    await clients[0].say({"t": "leave"})
    await clients[0].ask({"t": "join"}, "error")
    assert (await clients[2].ask(CREATE, "room", "error"))["t"] == "room"


async def test_a_room_whose_creator_has_hung_up_closes_after_a_minute(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire, go_on = table.app.store.acquire, asyncio.Event()

    async def slowly(*args: Any, **fields: Any) -> Any:
        await go_on.wait()
        return await acquire(*args, **fields)

    monkeypatch.setattr(table.app.store, "acquire", slowly)
    client = await PlayerClient(table.base, new_code(), "Owner").connect()
    go_on.set()
    await client.hello()
    go_on.clear()
    await client.say(CREATE)
    await asyncio.sleep(0.05)
    await client.cut_line()
    go_on.set()
    rooms = table.app.node.rooms
    async with asyncio.timeout(5):
        while (runner := rooms.get(client.code)) is None or runner.room.seats[0].present:
            await asyncio.sleep(0.01)
    table.clients.append(client)
    table.advance(60_000)
    async with asyncio.timeout(5):
        while rooms.get(client.code) is not None:
            await asyncio.sleep(0.01)


async def test_an_address_creates_rooms_at_a_rate(open_table: OpenTable) -> None:
    limits = SessionLimits(creations_per_s=0.001, creation_burst=2, busy_lag_ms=10_000)
    table = await open_table(players=limits)
    for expected in ("room", "room", "error"):
        client = await room_of(table)
        answer = await client.ask(CREATE, "room", "error")
        assert answer["t"] == expected
    assert answer["code"] == "too_many_rooms"
    assert answer["retry_ms"] > 900_000


async def test_an_address_brings_new_identities_at_a_rate(open_table: OpenTable) -> None:
    table = await open_table(players=SessionLimits(identities_per_s=0.001, identity_burst=2))
    known = await room_of(table)
    await room_of(table)
    client = await PlayerClient(table.base, new_code()).connect()
    refused = await client.ask({"t": "hello"}, "welcome", "error")
    assert (refused["code"], refused["retry_ms"]) == ("busy", 2000)
    client.token = known.token
    assert (await client.hello())["player"] == known.player
    await client.leave_line()


async def test_what_is_no_move_has_a_rate_of_its_own(open_table: OpenTable) -> None:
    limits = SessionLimits(messages_per_s=0.01, message_burst=3, busy_lag_ms=10_000)
    table = await open_table(players=limits)
    client = await room_of(table)
    for _ in range(2):
        await client.ask({"t": "ping", "at": 1}, "pong")
    refused = await client.ask({"t": "ping", "at": 1}, "pong", "error")
    assert refused["code"] == "too_fast"
    assert refused["retry_ms"] > 90_000
    assert (await client.tap(0))["code"] == "not_in_room"


@pytest.mark.parametrize("name", ["Zoë", "  Zoë ", "Zoe\u0308"])
async def test_a_name_is_kept_as_it_is_shown(table: Table, name: str) -> None:
    client = PlayerClient(table.base, new_code(), name)
    await client.connect()
    assert (await client.hello())["name"] == "Zoë"
    other = PlayerClient(table.base, new_code())
    other.token = client.token
    await other.connect()
    assert (await other.hello())["name"] == "Zoë"
    renamed = await PlayerClient(table.base, new_code()).connect()
    told = await renamed.ask({"t": "hello", "token": client.token, "name": "Q"}, "welcome")
    assert (told["name"], told["player"]) == ("Q", client.player)
    assert "token" not in told
    for each in (client, other, renamed):
        await each.leave_line()


async def test_a_token_is_told_once_and_kept_as_a_hash(table: Table) -> None:
    client = await room_of(table)
    assert client.token is not None
    stored = await table.app.store._caller.read(
        f"player:{{{client.player}}}", "HGETALL", f"player:{{{client.player}}}"
    )
    kept = b" ".join(stored)
    assert kept
    assert client.token.encode() not in kept
    assert client.token.rpartition(".")[2].encode() not in kept
