"""What this node writes into the lobby's list: in order, and no more than has changed."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from demineur import protocol as wire
from demineur.race import Phase
from demineur.rooms import Runner
from demineur.rooms.feed import LobbyFeed
from demineur.rooms.listing import Listing
from demineur.store import Store, StoreUnavailable

SETTINGS = wire.Settings(level="beginner", listed=True)


class Board:
    """The list as a store keeps it, and each write to it."""

    def __init__(self) -> None:
        self.rooms: dict[str, bytes] = {}
        self.writes: list[str] = []
        self.is_away = False

    async def list_room(self, code: str, entry: bytes) -> None:
        await self._write(f"+{code}")
        self.rooms[code] = entry

    async def unlist_room(self, code: str) -> None:
        await self._write(f"-{code}")
        self.rooms.pop(code, None)

    async def list_rooms(self, limit: int) -> dict[str, bytes]:
        return self.rooms

    async def _write(self, what: str) -> None:
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreUnavailable("away")
        self.writes.append(what)


class Room:
    """As much of a runner as a listing looks at."""

    def __init__(self, code: str = "K7MP3QXZ") -> None:
        self.code = code
        self.players = 1
        self.room = SimpleNamespace(
            code=code, phase=Phase.LOBBY, settings=SimpleNamespace(listed=True)
        )

    def listing(self) -> wire.ListedRoom:
        return wire.ListedRoom(
            code=self.code, host="Zoë", settings=SETTINGS, players=self.players, phase="lobby"
        )


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def listing(board: Board) -> Listing:
    return Listing(cast("Store", board))


def note(listing: Listing, room: Room) -> None:
    listing.note(cast("Runner", room))


async def test_a_room_that_has_not_changed_is_not_written_again(
    listing: Listing, board: Board
) -> None:
    room = Room()
    for players in (1, 1, 2):
        room.players = players
        note(listing, room)
        await listing._write()
    assert board.writes == ["+K7MP3QXZ", "+K7MP3QXZ"]
    assert orjson.loads(board.rooms["K7MP3QXZ"])["players"] == 2


async def test_a_closed_room_goes_and_one_of_another_node_stays(
    listing: Listing, board: Board
) -> None:
    closed, moved = Room("CLOSED22"), Room("MOVED222")
    for room in (closed, moved):
        note(listing, room)
    await listing._write()
    closed.room.phase = Phase.CLOSED
    note(listing, closed)
    listing.forget("CLOSED22")
    listing.forget("MOVED222")
    await listing._write()
    assert list(board.rooms) == ["MOVED222"]


async def test_what_could_not_be_written_is_written_later(listing: Listing, board: Board) -> None:
    board.is_away = True
    note(listing, Room())
    with pytest.raises(StoreUnavailable):
        await listing._write()
    board.is_away = False
    await listing._write()
    assert list(board.rooms) == ["K7MP3QXZ"]


async def test_a_change_during_a_write_is_not_lost(listing: Listing, board: Board) -> None:
    room = Room()
    note(listing, room)
    writing = asyncio.ensure_future(listing._write())
    await asyncio.sleep(0)
    room.players = 3
    note(listing, room)
    await writing
    assert orjson.loads(board.rooms["K7MP3QXZ"])["players"] == 3


async def test_an_entry_that_another_version_wrote_does_not_stop_the_feed(board: Board) -> None:
    board.rooms = {
        "A": b'{"code":"A","new":1}',
        "B": wire.encode(Room("BBBB2222").listing()),
    }
    feed: Any = LobbyFeed(cast("Store", board))
    assert [room["code"] for room in orjson.loads(await feed._read())["rooms"]] == ["BBBB2222"]
