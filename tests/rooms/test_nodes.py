"""Two nodes on one Redis: a player at the wrong one, a node that goes, a node that dies."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from demineur.race import next_due_ms
from tests.player_client import PlayerClient
from tests.redis_servers import RedisServer
from tests.rooms.conftest import OpenTable
from tests.rooms.oracle import Oracle, Racer, hidden, leave, racing
from tests.rooms.table import Table, new_code
from tests.server_process import ServerProcess

SECRET = "what the nodes of this site share"


async def join_at(table: Table, code: str, name: str, **fields: str) -> PlayerClient:
    """Somebody who joins the room at another table's node."""
    client = PlayerClient(table.base, code, name)
    await client.connect()
    assert (await client.hello())["room"]
    await client.join(**fields)
    return client


async def test_players_at_different_nodes_race_as_if_together(open_table: OpenTable) -> None:
    here = await open_table(cluster_secret=SECRET)
    there = await open_table(cluster_secret=SECRET)
    (host,) = await here.lobby(1, players=3)
    guest = await join_at(there, host.code, "Guest")
    watcher = await join_at(there, host.code, "Watcher", role="spectator")
    here.clients += [guest, watcher]
    assert there.app.node.rooms.get(host.code) is None
    assert len(there.app.node.rooms) == 0
    await guest.say({"t": "ready", "ready": True})
    await host.event("ready")
    await here.start([host, guest])
    await here.begin(host)
    await here.begin(guest)
    await guest.cut_line()
    assert not (await host.event("presence"))["present"]
    await guest.connect()
    assert (await guest.hello())["member"]
    assert (await guest.join(since=guest.v, n=guest.n))["t"] == "missed"
    await here.win(guest)
    await here.lose(host)
    for player in (host, guest, watcher):
        rows = (await here.finished(player))["standings"]
        assert [(row["seat"], row["ending"]) for row in rows] == [(1, "won"), (0, "lost")]
    await guest.say(b"binary")
    assert await guest.closed() == 1003


async def test_a_node_with_another_secret_lets_nobody_through(open_table: OpenTable) -> None:
    here = await open_table(cluster_secret=SECRET)
    there = await open_table(cluster_secret=SECRET[::-1])
    (host,) = await here.lobby(1)
    client = await PlayerClient(there.base, host.code).connect()
    await client.say({"t": "hello"})
    assert await client.closed() == 1013
    assert client.frames == [{**client.frames[0], "t": "goodbye", "code": 1013}]


async def test_a_room_is_created_once_however_many_try(open_table: OpenTable) -> None:
    """At both nodes at once, and twice at one of them."""
    tables = [await open_table(cluster_secret=SECRET), await open_table(cluster_secret=SECRET)]
    code = new_code()
    clients = [await tables[i % 2].client(code, f"Creator {i}") for i in range(4)]
    for client in clients:
        await client.say({"t": "create", "settings": {"level": "beginner"}})
    answers = [await c.wait(lambda f: f["t"] in {"room", "error"}) for c in clients]
    assert sorted(a.get("code", "") for a in answers if a["t"] == "error") == ["room_exists"] * 3
    host = clients[[a["t"] for a in answers].index("room")]
    assert (await host.ask({"t": "rename", "name": "First"}, "event"))["v"] == 2
    losers = [client for client in clients if client is not host]
    for client in losers:
        told = await client.ask({"t": "join"}, "room", "goodbye")
        if told["t"] == "goodbye":  # the room is at the other node: come back at once
            assert (told["code"], await client.closed()) == (4005, 4005)
            await client.connect()
            assert (await client.hello())["room"]
            await client.join()
    assert len((await host.join())["players"]) == 4


async def crash(table: Table) -> None:
    """End a node of this process as a crash would: nobody is told, nothing is handed over."""
    app = table.app
    for listener in app.listeners:
        listener.stop_accepting()
        listener._abort_all()
    app.node.pulse.stop()
    await app.node.rooms.close()
    beat = app.store._beat
    assert beat._task is not None
    beat._task.cancel()
    beat._task = None  # no farewell, then
    await app.store.close()


async def test_deadlines_survive_the_node(open_table: OpenTable) -> None:
    """A clock that is to start by itself, an absence that is to end, and the time limit."""
    here = await open_table()
    host, guest, third = await here.racing(3)
    await here.begin(host)
    await third.cut_line()
    await host.event("presence")
    here.advance(9_000)
    await host.flag(here.hidden(host, mine=True)[0])
    ahead_ms = here.app.store.clock.ahead_ms  # type: ignore[attr-defined]
    await here.audit()
    clients, here.clients = here.clients, []
    await crash(here)
    here.app.stop = _nothing  # type: ignore[method-assign]

    there = await open_table()
    there.app.store.clock.ahead_ms = ahead_ms  # type: ignore[attr-defined]
    there.clients = clients
    for client in (host, guest):
        client.base = there.base
        await client.connect()
        assert (await client.hello())["member"]
        await client.join(since=client.v, n=client.n)
    room = there.room(host)
    assert room.stalled_ms < 3_000
    assert room.seats[1].started_ms is None
    due_ms = room.node_ms(next_due_ms(room)) - there.app.store.clock.now_ms()
    assert due_ms in range(1, 1_000)
    there.advance(due_ms)
    assert (await guest.wait(lambda f: f["t"] == "clock"))["clock"]["own"]["running"]
    there.advance(50_000)
    assert room.seats[2].ending is None
    there.advance(2_000)
    assert (await host.event("ended"))["seat"] == 2
    there.advance(600_000)
    result = await there.finished(host)
    assert {row["ending"] for row in result["standings"]} == {"timeout", "absent"}


async def _nothing() -> None:
    """The node is gone already."""


@pytest.fixture
def nodes(tmp_path: Path, redis_server: RedisServer) -> Iterator[list[ServerProcess]]:
    """Two nodes in processes of their own."""
    settings = {"redis_url": redis_server.url, "cluster_secret": SECRET}
    with (
        ServerProcess(tmp_path / "a", **settings).start() as first,
        ServerProcess(tmp_path / "b", **settings).start() as second,
    ):
        yield [first.ready(), second.ready()]


async def moves_to(player: PlayerClient, node: ServerProcess) -> float:
    """Come back at another node; return how long that took, in seconds."""
    began = time.monotonic()
    player.base = node.base
    await player.connect()
    assert (await player.hello())["member"]
    assert (await player.join(since=player.v, n=player.n))["t"] == "missed"
    return time.monotonic() - began


@pytest.mark.faults
async def test_a_race_goes_on_when_its_node_goes_and_when_its_node_dies(
    nodes: list[ServerProcess], redis_server: RedisServer
) -> None:
    code = new_code()
    players = await racing(nodes[0].base, code, 2)
    with redis_server.client() as client:
        oracle = Oracle(client, code)
        racers = [Racer(player, oracle.layout()) for player in players]
        for racer in racers:
            await racer.tap()

        began = time.monotonic()
        assert nodes[0].stop() == 0
        assert time.monotonic() - began < 10
        for player in players:
            assert await player.closed() == 1012
            goodbye = player.frames[-1]
            assert (goodbye["t"], goodbye["code"], goodbye["retry_ms"]) == ("goodbye", 1012, 0)
        for player in players:
            await moves_to(player, nodes[1])
        for racer in racers:
            await racer.tap()
        nodes[0].start().ready()

        unanswered = await players[0].send_move("flag", hidden(racers[0].run, mine=True)[0])
        nodes[1].kill()
        answered = max(f["n"] for f in players[0].frames if f["t"] == "moved")
        for player in players:
            await player.closed()
        took_s = [await moves_to(player, nodes[0]) for player in players]
        for racer in racers:
            await racer.tap()
        assert min(took_s) < 2.0  # at once: nobody listens where the lease says, so it is dead
        moves = oracle.moves(0)
        assert len(moves) == len(set(moves))
        assert set(range(1, answered + 1)) <= set(moves)
        assert answered in {unanswered - 1, unanswered}
        await racers[0].win(0.02)
        await racers[1].lose()
        result = (await players[1].event("finished"))["result"]
        assert [row["ending"] for row in result["standings"]] == ["won", "lost"]
        assert oracle.room().result is not None
    await leave(players)
    for node in nodes:
        assert "Traceback" not in node.log
