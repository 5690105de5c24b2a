"""The lobby's list: rooms appear, change and disappear for everybody within two seconds."""

import time
from typing import Any

from tests.player_client import PlayerClient
from tests.rooms.conftest import OpenTable
from tests.rooms.table import Table, new_code

SOON_S = 2.0


class Looker:
    """Somebody who looks at the list."""

    def __init__(self, client: PlayerClient) -> None:
        self.client = client

    @classmethod
    async def come(cls, table: Table) -> "Looker":
        client = PlayerClient(table.base, new_code(), "Looker")
        await client.connect("/ws/lobby")
        await client.hello()
        return cls(client)

    async def sees(self, code: str, **fields: Any) -> dict[str, Any]:
        """Wait until the last list has the room with these fields."""
        began = time.monotonic()

        def fits(frame: dict[str, Any]) -> bool:
            return frame["t"] == "lobby" and any(
                room["code"] == code and fields.items() <= room.items() for room in frame["rooms"]
            )

        frame = await self.client.wait(fits, self._last(), f"{code} with {fields}")
        assert time.monotonic() - began < SOON_S
        return next(room for room in frame["rooms"] if room["code"] == code)

    async def misses(self, code: str) -> None:
        """Wait until the last list does not have the room."""
        began = time.monotonic()

        def fits(frame: dict[str, Any]) -> bool:
            return frame["t"] == "lobby" and all(room["code"] != code for room in frame["rooms"])

        await self.client.wait(fits, self._last(), f"a list without {code}")
        assert time.monotonic() - began < SOON_S

    def _last(self) -> int:
        """The last list that is there: what it says still holds."""
        lists = [i for i, frame in enumerate(self.client.frames) if frame["t"] == "lobby"]
        return lists[-1] if lists else 0


async def test_a_listed_room_appears_changes_and_disappears(open_table: OpenTable) -> None:
    """Also for who looks at another node."""
    here, there = await open_table(), await open_table()
    lookers = [await Looker.come(table) for table in (here, there)]
    host, guest = await here.lobby(2, listed=True, level="expert", players=4)
    for looker in lookers:
        room = await looker.sees(host.code, players=2, phase="lobby", host="Host")
        assert room["settings"]["level"] == "expert"
        assert room["settings"]["players"] == 4
    await here.start([host, guest])
    for looker in lookers:
        await looker.sees(host.code, phase="racing")
    await here.lose(host)
    await here.lose(guest)
    await host.say({"t": "rename", "name": "Zoë"})
    for looker in lookers:
        await looker.sees(host.code, phase="finished", host="Zoë")
    unlisted = {"level": "beginner", "listed": False}
    await host.say({"t": "settings", "settings": unlisted})
    for looker in lookers:
        await looker.misses(host.code)
    await host.say({"t": "settings", "settings": {**unlisted, "listed": True}})
    for looker in lookers:
        await looker.sees(host.code, phase="lobby")
    late = await Looker.come(there)
    await late.sees(host.code)
    for player in (guest, host):
        await player.say({"t": "leave"})
    for looker in (*lookers, late):
        await looker.misses(host.code)
        await looker.client.leave_line()


async def test_rooms_of_both_nodes_are_in_one_list(open_table: OpenTable) -> None:
    tables = [await open_table(), await open_table()]
    hosts = [(await table.lobby(1, listed=True))[0] for table in tables]
    looker = await Looker.come(tables[0])
    for host in hosts:
        await looker.sees(host.code)
    await looker.client.leave_line()


async def test_a_room_that_nobody_listed_is_in_no_list(table: Table) -> None:
    (hidden,) = await table.lobby(1)
    (listed,) = await table.lobby(1, listed=True)
    looker = await Looker.come(table)
    await looker.sees(listed.code)
    assert hidden.code not in str(looker.client.frames)
    await looker.client.leave_line()


async def test_what_belongs_to_a_room_is_refused_in_the_lobby(table: Table) -> None:
    looker = await Looker.come(table)
    for message, code in (
        ({"t": "join"}, "no_room"),
        ({"t": "create", "settings": {"level": "beginner"}}, "no_room"),
        ({"t": "start"}, "no_room"),
        ({"t": "tap", "n": 1, "c": 0}, "not_in_room"),
    ):
        assert (await looker.client.ask(message, "error"))["code"] == code
    assert await looker.client.ask({"t": "ping", "at": 1}, "pong")
    await looker.client.ask({"t": "rename", "name": "\x00"}, "error")
    await looker.client.leave_line()


async def test_lookers_are_sent_to_another_node_when_theirs_goes(open_table: OpenTable) -> None:
    table = await open_table()
    looker = await Looker.come(table)
    await table.app.stop()
    assert await looker.client.closed() == 1012
    assert looker.client.frames[-1] == {**looker.client.frames[-1], "t": "goodbye", "retry_ms": 0}
