"""A server that is killed or stands still in mid-race, and what its players have of it (R19).

What is measured is bounded from both sides by what the test itself saw: when it said something
and when it heard the answer. So the bounds are exact, however slow the machine is.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from demineur.rooms.pulse import INTERVAL_MS
from tests.player_client import PlayerClient
from tests.rooms.audit import Auditor
from tests.rooms.oracle import Oracle, Racer, hidden, leave, lobby, racing
from tests.rooms.table import COUNTDOWN_MS, new_code
from tests.server_process import ServerProcess

pytestmark = pytest.mark.faults

CLOCK_MS = 20
"""How far the clocks of two processes, both tied to Redis, may lie apart."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server with a Redis of its own, so that both die together."""
    with ServerProcess(tmp_path).start().ready() as server:
        yield server


def own_redis(server: ServerProcess) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(server.directory / "data" / "redis" / "redis.sock"))


class Watch:
    """A player's clock, measured from outside: earliest and latest that it can have started."""

    def __init__(self, said_s: float, heard_s: float) -> None:
        self.said_s = said_s
        self.heard_s = heard_s

    @classmethod
    async def start(cls, racer: Racer) -> "Watch":
        """Make the first tap."""
        said_s = time.monotonic()
        assert (await racer.tap())["ms"] == 0
        return cls(said_s, time.monotonic())

    def holds(self, shown_ms: int, said_s: float, heard_s: float) -> bool:
        """Whether a clock that was asked for and shown between these times is right."""
        least_ms = (said_s - self.heard_s) * 1000 - CLOCK_MS
        most_ms = (heard_s - self.said_s) * 1000 + CLOCK_MS
        return least_ms <= shown_ms <= most_ms


def stalled_ms(frames: list[dict[str, Any]]) -> int:
    """All outages that a player was told of."""
    live = [f["event"] for f in frames if f["t"] == "event"]
    missed = [e["event"] for f in frames if f["t"] == "missed" for e in f["events"]]
    return sum(event["ms"] for event in (*live, *missed) if event["e"] == "stalled")


async def test_a_killed_server_loses_no_answered_move_and_no_time(server: ServerProcess) -> None:
    codes = new_code(), new_code()
    players = await racing(server.base, codes[0], 2)
    waiting = await lobby(server.base, codes[1], 2)
    with own_redis(server) as client:
        oracle = Oracle(client, codes[0])
        host, guest = (Racer(player, oracle.layout()) for player in players)
        secrets = oracle.secrets()
    watch = await Watch.start(host)
    mines = hidden(host.run, mine=True)
    ends_at_ms = (await players[1].event("go"))["ends_at_ms"]
    await waiting[0].say({"t": "start"})
    go_at_ms = (await waiting[1].event("countdown"))["go_at_ms"]
    unanswered = [await players[0].send_move("flag", cell) for cell in mines]
    await players[0].answer(unanswered[4])
    server.kill()
    killed_s = time.monotonic()
    for player in (*players, *waiting):
        assert await player.closed() == 1006
    answered = [f["n"] for f in players[0].frames if f["t"] == "moved" and f.get("flag")]
    last_ms = max(f["ms"] for f in players[0].frames if f["t"] == "moved")
    await asyncio.sleep(1)
    started_s = time.monotonic()
    server.start().ready()

    said_s = time.monotonic()
    told = await comes_back(players[0])
    heard_s = time.monotonic()
    assert told["t"] == "missed"
    assert told["n"] >= max(answered)
    assert players[0].view is not None
    flags = players[0].view.geometry.cells_in(players[0].view.flags)
    assert flags == sorted(mines[: told["n"] - 1])
    for player in (players[1], *waiting):
        await comes_back(player)

    with own_redis(server) as client:
        oracle = Oracle(client, codes[0])
        room, moves = oracle.room(), oracle.moves(0)
        waiting_room = Oracle(client, codes[1]).room()
    assert moves == [*range(1, len(moves) + 1)]
    own_ms = told["clock"]["own"]["ms"]
    assert room.stalled_ms >= (started_s - killed_s) * 1000 - CLOCK_MS
    assert watch.holds(own_ms + room.stalled_ms, said_s, heard_s)
    assert last_ms <= own_ms
    assert own_ms <= (killed_s - watch.said_s + heard_s - started_s) * 1000 + CLOCK_MS
    assert told["clock"]["ends_at_ms"] == ends_at_ms + room.stalled_ms
    assert waiting_room.round is not None
    assert waiting_room.node_ms(waiting_room.round.go_ms) == go_at_ms + waiting_room.stalled_ms

    for player in waiting:
        await player.event("go")
    assert waiting_room.round.go_ms - go_at_ms in range(-COUNTDOWN_MS, 1)
    for cell, n in zip(mines, unanswered, strict=True):
        start = len(players[0].frames)
        await players[0].say({"t": "flag", "n": n, "c": cell})
        assert (await players[0].answer(n, start))["t"] == "moved"
        host.run.flag(cell)
    with own_redis(server) as client:
        assert Oracle(client, codes[0]).moves(0) == [1, *unanswered]
    await host.win(0.02)
    await guest.lose()
    result = (await players[0].event("finished"))["result"]
    assert [row["ending"] for row in result["standings"]] == ["won", "lost"]
    for player in players:
        assert Auditor(secrets).read(player.journal).contents > 0
    await leave([*players, *waiting])
    assert "Traceback" not in server.log


async def comes_back(player: PlayerClient) -> dict[str, Any]:
    """Return to one's place, as a client does that has lost its line."""
    await player.connect()
    assert (await player.hello())["member"]
    return await player.join(since=player.v, n=player.n)


async def test_a_server_that_stands_still_takes_no_time_from_anybody(
    server: ServerProcess,
) -> None:
    """Twice: what two watchmen notice, the node's pulse and the store's beat, counts once."""
    code = new_code()
    players = await racing(server.base, code, 2)
    with own_redis(server) as client:
        host = Racer(players[0], Oracle(client, code).layout())
    watch = await Watch.start(host)
    for pause_s in (0.6, 1.2):
        server.pause()
        await asyncio.sleep(pause_s)
        server.resume()
        heard = len(players[0].frames)
        await players[0].event("stalled", heard)
        said_s = time.monotonic()
        answer = await host.tap()
        shown_ms = answer["ms"] + stalled_ms(players[0].frames)
        assert watch.holds(shown_ms, said_s, time.monotonic())
    assert stalled_ms(players[0].frames) >= 1800 - 2 * (INTERVAL_MS + CLOCK_MS)
    await leave(players)


async def test_a_store_that_stands_still_takes_no_time_from_anybody(
    server: ServerProcess,
) -> None:
    """A move into the silence waits and is made; when patience ends it is refused instead."""
    code = new_code()
    players = await racing(server.base, code, 2)
    with own_redis(server) as client:
        host = Racer(players[0], Oracle(client, code).layout())
        store_pid = int(client.info("server")["process_id"])
    watch = await Watch.start(host)
    os.kill(store_pid, signal.SIGSTOP)
    await asyncio.sleep(0.6)
    n = await players[0].send_move("flag", hidden(host.run, mine=True)[0])
    await asyncio.sleep(0.6)
    os.kill(store_pid, signal.SIGCONT)
    heard = len(players[0].frames)
    said_s = time.monotonic()
    answer = await players[0].answer(n, heard)
    assert answer["flag"][1]
    assert watch.holds(answer["ms"] + stalled_ms(players[0].frames), said_s - 0.6, time.monotonic())
    assert stalled_ms(players[0].frames) >= 1200 - 2 * CLOCK_MS

    os.kill(store_pid, signal.SIGSTOP)
    await asyncio.sleep(0.6)
    refused = await players[0].tap(0)
    assert (refused["t"], refused["code"]) == ("error", "store_unavailable")
    assert (await players[1].ask({"t": "rename", "name": "X"}, "error"))["code"] == refused["code"]
    assert server.get("/readyz")[0] == 503
    assert server.get("/healthz")[0] == 200
    await asyncio.sleep(3)  # until the append of what had come before has given up, too
    os.kill(store_pid, signal.SIGCONT)
    await players[0].event("stalled", len(players[0].frames) - 1)
    said_s = time.monotonic()
    answer = await host.tap()
    assert watch.holds(answer["ms"] + stalled_ms(players[0].frames), said_s, time.monotonic())
    await leave(players)
