"""Whoever comes back gets exactly what was missed, and every move counts once."""

import asyncio
import itertools
import os
import random
from typing import Any

import pytest

from tests.player_client import PlayerClient
from tests.redis_servers import RedisServer
from tests.rooms.mirror import Mirror, state_of
from tests.rooms.oracle import Oracle
from tests.rooms.table import COUNTDOWN_MS, Table

WALKS = 60 if os.environ.get("DEMINEUR_FULL") else 6


def mirror_of(client: PlayerClient) -> Mirror:
    """Fold everything that a client has ever heard."""
    mirror = Mirror()
    for frame in client.frames:
        mirror.hear(frame)
    return mirror


async def come_back(client: PlayerClient, **fields: Any) -> dict[str, Any]:
    await client.cut_line()
    return await return_to(client, **fields)


async def return_to(client: PlayerClient, **fields: Any) -> dict[str, Any]:
    await client.connect()
    await client.hello()
    return await client.join(**fields)


class Walk:
    """A random evening in one room, in which one player and one spectator keep dropping out."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table = table
        self.draw = random.Random(seed)
        self.missed = self.moves_missed = 0

    async def run(self, steps: int) -> None:
        table, draw = self.table, self.draw
        mine = draw.choice(["out", "penalty"])
        self.players = await table.lobby(4, mine=mine, start=draw.choice(["own", "shared"]))
        self.watcher = await table.client(self.players[0].code, "Watcher")
        await self.watcher.join(role="spectator")
        for _ in range(steps):
            for _ in range(draw.randrange(4)):
                await self.something()
            await self.drops_out(draw.choice([self.players[1], self.watcher]))
            for client in (*self.players, self.watcher):
                if client.close_code is None:
                    await self.compare(client)

    async def something(self) -> None:
        """One thing that somebody does."""
        player = self.draw.choice([p for p in self.players if p.close_code is None])
        room = self.table.room(player)
        if room.phase.value == "countdown":
            self.table.advance(COUNTDOWN_MS)
        elif room.phase.value == "racing":
            await self.moves(player)
        elif self.draw.random() < 0.3:
            await self.says(player, {"t": "rename", "name": f"Name {self.draw.random():.3f}"})
        elif room.phase.value == "finished":
            await self.says(player, {"t": "rematch"})
        else:
            await self.says(player, {"t": "ready", "ready": self.draw.random() < 0.8})
            host = next(p for p in self.players if p.seat == room.host)
            if host.close_code is None and self.draw.random() < 0.5:
                await self.says(host, {"t": "start"})

    @staticmethod
    async def says(player: PlayerClient, message: dict[str, Any]) -> None:
        """Say it, and hear all that comes of it."""
        await player.say(message)
        await player.ask({"t": "hello"}, "error")

    async def moves(self, player: PlayerClient) -> None:
        table, chance = self.table, self.draw.random()
        if not self.may_move(player):
            if chance < 0.5:
                table.advance(self.draw.choice([500, 11_000]))
        elif table.run(player).first_tap is None:
            await table.begin(player)
        elif chance < 0.2:
            await table.lose(player)
        elif chance < 0.4:
            await table.win(player)
        else:
            heard = len(player.frames)
            await player.answer(await self.send(player), heard)

    async def send(self, player: PlayerClient) -> int:
        """Make a move that does something, and do not wait."""
        kind, mine = self.draw.choice([("flag", True), ("tap", False)])
        return await player.send_move(kind, self.draw.choice(self.table.hidden(player, mine=mine)))

    def may_move(self, player: PlayerClient) -> bool:
        room = self.table.room(player)
        if player.seat is None or player.seat not in room.seats:
            return False
        seat = room.seats[player.seat]
        now_ms = room.room_ms(self.table.app.store.clock.now_ms())
        return room.phase.value == "racing" and seat.playing and seat.frozen_until_ms <= now_ms

    async def drops_out(self, client: PlayerClient) -> None:
        """The line breaks under moves; things happen meanwhile; then all is as it would be."""
        role = "spectator" if client is self.watcher else "player"
        sent = await self.leaves_moves_unanswered(client)
        await client.cut_line()
        for _ in range(self.draw.randrange(5)):
            await self.something()
        round_before, heard = client.round, len(client.frames)
        await client.connect()
        await client.hello()
        since = {"since": client.v, "n": client.n} if self.draw.random() < 0.8 else {}
        told = await client.join(role=role, **since)
        self.missed += told["t"] == "missed"
        self.moves_missed += len(told.get("moves", []))
        if client.round == round_before:
            for n, frame in sent.items():
                await client.say(frame)
                assert (await client.answer(n, heard))["n"] == n

    async def leaves_moves_unanswered(self, client: PlayerClient) -> dict[int, str]:
        """Say up to three moves into a line that is about to break; return them by ``n``."""
        sent: dict[int, str] = {}
        if self.may_move(client) and self.table.run(client).first_tap is not None:
            for _ in range(self.draw.randrange(4)):
                n = await self.send(client)
                sent[n] = client.journal[-1][1]
        if self.draw.random() < 0.5:
            await asyncio.sleep(0.002)
        return sent

    async def compare(self, client: PlayerClient) -> None:
        """What a client has folded is what a fresh snapshot shows; progress may be on its way."""
        role = "spectator" if client is self.watcher else "player"
        for patience in itertools.count():
            folded = mirror_of(client).state
            fresh = state_of(await client.join(role=role))
            if folded == fresh:
                return
            assert patience < 20, {k: (folded.get(k), fresh.get(k)) for k in fresh}
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("seed", range(WALKS))
async def test_what_was_missed_leads_to_what_a_snapshot_shows(table: Table, seed: int) -> None:
    walk = Walk(table, seed)
    await walk.run(12)
    assert walk.missed > 3


async def test_moves_into_a_broken_line_are_made_once_however_often_they_are_sent(
    table: Table, redis_server: RedisServer
) -> None:
    host, _ = await table.racing(2)
    await table.begin(host)
    cells = table.hidden(host, mine=True)[:5]
    frames = [{"t": "flag", "n": n, "c": cell} for n, cell in enumerate(cells, 2)]
    for frame in frames:
        await host.say(frame)
    told = await come_back(host, since=host.v, n=1)
    assert told["t"] == "missed"
    known = told["n"]
    for _ in range(2):
        for frame in frames:
            start = len(host.frames)
            await host.say(frame)
            answer = await host.answer(int(str(frame["n"])), start)
            assert ("flag" in answer) is (int(str(frame["n"])) > known)
        known = 6
    flags = table.run(host).flags
    assert flags == table.run(host).geometry.mask(cells)
    assert mirror_of(host).state["you"]["run"]["flags"] == sorted(cells)
    with redis_server.client() as client:
        assert Oracle(client, host.code).moves(0) == [1, 2, 3, 4, 5, 6]


async def test_a_move_said_twice_in_one_breath_counts_once(table: Table) -> None:
    """The second comes while the first is on its way to the log: its answer comes behind."""
    host, _ = await table.racing(2)
    start = len(host.frames)
    for _ in range(3):
        await host.say({"t": "tap", "n": 1, "c": 40})
    await host.ask({"t": "hello"}, "error")
    answers = [f for f in host.frames[start:] if f["t"] == "moved"]
    assert [answer.get("again") for answer in answers] == [None, True, True]
    assert answers[0]["status"] == "playing"
    assert not [answer for answer in answers[1:] if "open" in answer or "status" in answer]
    assert table.run(host).taps == 1


async def test_the_newer_connection_of_an_identity_wins(table: Table) -> None:
    host, guest = await table.racing(2)
    await table.begin(guest)
    other = PlayerClient(table.base, guest.code)
    other.token = guest.token
    await other.connect()
    assert (await other.hello())["member"]
    await guest.say({"t": "flag", "n": 2, "c": table.hidden(guest, mine=True)[0]})
    room = await other.join()
    assert room["you"]["seat"] == guest.seat
    goodbye = await guest.wait(lambda f: f["t"] == "goodbye", what="goodbye")
    assert goodbye["code"] == await guest.closed() == 4002
    assert not [f for f in host.frames if f["t"] == "event" and f["event"]["e"] == "presence"]
    assert table.room(host).seats[1].present
    assert (await other.tap(table.hidden(guest, mine=False)[0]))["t"] == "moved"
    await other.leave_line()
    assert not (await host.event("presence"))["present"]


async def test_one_identity_watches_once(table: Table) -> None:
    host, _ = await table.lobby(2)
    first = await table.client(host.code, "Watcher")
    await first.join(role="spectator")
    second = PlayerClient(table.base, host.code)
    second.token = first.token
    await second.connect()
    await second.hello()
    assert (await second.join(role="spectator"))["spectators"] == 1
    assert await first.closed() == 4002
    await second.leave_line()


async def test_a_player_comes_back_from_a_spectators_seat(table: Table) -> None:
    """Whatever it asks for: the place is kept, and the other connection ends."""
    _, guest = await table.racing(2)
    other = PlayerClient(table.base, guest.code)
    other.token = guest.token
    await other.connect()
    await other.hello()
    assert (await other.join(role="spectator"))["you"]["role"] == "player"
    assert await guest.closed() == 4002
    await other.leave_line()


async def test_a_new_seat_comes_with_a_snapshot(table: Table) -> None:
    """Who was away until the place was gone is told which is the new one."""
    host, guest = await table.lobby(2)
    await guest.cut_line()
    await host.event("presence")
    table.advance(60_000)
    await host.event("left")
    told = await return_to(guest, since=guest.v, n=0)
    assert told["t"] == "room"
    assert told["you"]["seat"] == 2


async def test_what_cannot_be_proved_complete_is_a_snapshot(table: Table) -> None:
    host, guest = await table.racing(2, level="expert")
    for since, kind in ((guest.v, "missed"), (guest.v + 1000, "room"), (0, "room")):
        assert (await come_back(guest, since=since))["t"] == kind
    await table.begin(host)
    for _ in range(70):
        await host.flag(table.hidden(host, mine=False)[0])
    assert (await come_back(host, since=host.v, n=host.n))["t"] == "missed"
    # Whoever claims less than it was told is told it again, which no auditor likes.
    table.clients.remove(host)
    assert (await come_back(host, since=host.v, n=host.n - 60))["t"] == "missed"
    assert (await come_back(host, since=host.v, n=3))["t"] == "room"
    v = guest.v
    for i in range(260):
        await host.ask({"t": "rename", "name": f"Host {i}"}, "event")
    assert (await come_back(guest, since=v, n=0))["t"] == "room"
    await host.leave_line()


async def test_who_relies_on_a_move_that_no_log_has_is_told(table: Table) -> None:
    host, _ = await table.racing(2)
    await table.begin(host)
    start = len(host.frames)
    room = await come_back(host, since=host.v, n=5)
    assert room["t"] == "room"
    assert room["you"]["run"]["n"] == 1
    assert [frame["t"] for frame in host.frames[start : start + 3]] == ["welcome", "error", "room"]
    assert host.frames[start + 1]["code"] == "moves_lost"


async def test_a_move_that_the_rules_ignored_is_not_missed(table: Table) -> None:
    host, _ = await table.racing(2)
    await table.begin(host)
    assert "open" not in await host.tap(40)
    start = len(host.frames)
    assert (await come_back(host, since=host.v, n=host.n))["t"] == "missed"
    assert not [f for f in host.frames[start:] if f["t"] == "error"]
