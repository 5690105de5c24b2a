"""A room whose append fails is made anew from its log, under everybody who is connected."""

import asyncio
from typing import Any

import pytest

from demineur.race import Event, Room, apply
from demineur.race import commands as cmd
from demineur.rooms import Elsewhere, Runner
from demineur.store import Backlogged, Conflict, Fenced, Store, StoreError, StoreUnavailable
from tests.player_client import PlayerClient
from tests.rooms.table import Table, new_code


class Failing:
    """Lets the next append fail: at the call, or later; stored or not."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self._append = store.append
        self._error: StoreError | None = None
        self._at_once = self._is_stored = False
        monkeypatch.setattr(store, "append", self)

    def fail(self, error: StoreError, *, at_once: bool = False, stored: bool = False) -> None:
        self._error, self._at_once, self._is_stored = error, at_once, stored

    def __call__(self, *args: Any, **fields: Any) -> "asyncio.Future[None]":
        error, self._error = self._error, None
        if error is None:
            return self._append(*args, **fields)
        if self._at_once:
            raise error
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_stored:
            self._append(*args, **fields).add_done_callback(lambda _: future.set_exception(error))
        else:
            asyncio.get_running_loop().call_later(0.02, future.set_exception, error)
        return future


@pytest.fixture
def failing(table: Table, monkeypatch: pytest.MonkeyPatch) -> Failing:
    return Failing(table.app.store, monkeypatch)


@pytest.mark.parametrize(
    ("error", "at_once", "stored"),
    [
        (StoreUnavailable("slow", outcome_unknown=True), False, False),
        (StoreUnavailable("slow", outcome_unknown=True), False, True),
        (Conflict("elsewhere"), False, False),
        (Backlogged("full"), True, False),
        (StoreUnavailable("closed"), True, False),
    ],
    ids=["not stored", "stored after all", "conflict", "too much is waiting", "store closed"],
)
async def test_a_failed_append_costs_a_snapshot_and_no_move(
    table: Table, failing: Failing, error: StoreError, at_once: bool, stored: bool
) -> None:
    host, guest = await table.racing(2)
    watcher = await table.client(host.code, "Watcher")
    await watcher.join(role="spectator")
    await table.begin(host)
    await table.begin(guest)
    cell = table.hidden(host, mine=True)[0]
    runner, epoch = table.runner(host), table.runner(host).epoch
    marks = [len(client.frames) for client in (host, guest, watcher)]
    failing.fail(error, at_once=at_once, stored=stored)
    n = await host.send_move("flag", cell)
    refused = await host.answer(n, marks[0])
    assert (refused["t"], refused["code"]) == ("error", "store_unavailable")
    for client, mark in zip((host, guest, watcher), marks, strict=True):
        room = await client.wait(lambda f: f["t"] == "room", mark, "a snapshot")
        assert room["phase"] == "racing"
    assert host.n == (n if stored else 1)
    assert table.runner(host) is not runner
    assert table.runner(host).epoch > epoch
    assert runner.is_over
    mark = len(host.frames)
    await host.say({"t": "flag", "n": n, "c": cell})
    answer = await host.answer(n, mark)
    assert ("again" in answer, "flag" in answer) == (stored, not stored)
    assert table.run(host).flags == table.run(host).geometry.bit[cell]
    assert all(seat.present for seat in table.room(host).members())
    await table.win(host)
    await table.lose(guest)
    assert (await table.finished(watcher, marks[2]))["standings"][0]["seat"] == 0


async def test_a_fenced_room_sends_everybody_away_at_once(table: Table, failing: Failing) -> None:
    host, guest = await table.racing(2)
    await table.begin(host)
    failing.fail(Fenced("another's"))
    n = await host.send_move("flag", table.hidden(host, mine=True)[0])
    assert (await host.answer(n))["code"] == "store_unavailable"
    for client in (host, guest):
        goodbye = await client.wait(lambda f: f["t"] == "goodbye", what="goodbye")
        assert (goodbye["code"], goodbye["retry_ms"]) == (4005, 0)
        assert await client.closed() == 4005
    assert table.app.node.rooms.get(host.code) is None
    for client in (host, guest):
        await client.connect()
        assert (await client.hello())["member"]
        await client.join(since=client.v, n=client.n)
    assert not table.run(host).flags


async def test_who_is_gone_when_the_room_is_made_anew_has_dropped(
    table: Table, failing: Failing
) -> None:
    host, guest = await table.racing(2)
    await table.begin(host)
    failing.fail(StoreUnavailable("slow"))
    await host.send_move("flag", table.hidden(host, mine=True)[0])
    await guest.cut_line()
    await host.wait(lambda f: f["t"] == "room" and f["you"].get("run", {}).get("n"), 0, "room")
    for _ in range(100):
        if not table.room(host).seats[1].present:
            break
        await asyncio.sleep(0.01)
    assert not table.room(host).seats[1].present


async def test_a_room_that_cannot_be_created_can_be_later(table: Table, failing: Failing) -> None:
    client = await table.client(new_code())
    failing.fail(StoreUnavailable("slow"))
    create = {"t": "create", "settings": {"level": "beginner"}}
    assert (await client.ask(create, "error", "room"))["code"] == "store_unavailable"
    assert await client.closed() == 1013
    await client.connect()
    assert not (await client.hello())["room"]
    assert (await client.ask(create, "error", "room"))["v"] == 1


async def test_a_full_queue_refuses_moves_and_new_people_and_breaks_nothing(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, _ = await table.racing(2)
    await table.begin(host)
    stranger = await table.client(host.code, "Stranger")
    monkeypatch.setattr(table.app.node.pulse, "_backlog", lambda: 0.95)
    refused = await host.flag(0)
    assert (refused["code"], refused["n"]) == ("store_unavailable", 2)
    busy = await stranger.ask({"t": "join", "role": "spectator"}, "error")
    assert (busy["code"], busy["retry_ms"]) == ("busy", 2000)
    assert (await host.ask({"t": "ping", "at": 1}, "pong"))["at"] == 1
    monkeypatch.setattr(table.app.node.pulse, "_backlog", lambda: 0.6)
    assert (await host.tap(table.hidden(host, mine=False)[0]))["t"] == "moved"
    await host.cut_line()
    await host.connect()
    await host.hello()
    assert (await host.join())["you"]["seat"] == 0
    monkeypatch.setattr(table.app.node.pulse, "_backlog", lambda: 0.0)
    assert (await stranger.join(role="spectator"))["spectators"] == 1


async def test_a_node_that_is_behind_refuses_only_who_does_not_wait(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, guest = await table.racing(2)
    await table.begin(host)
    await table.begin(guest)
    mines = table.hidden(host, mine=True)
    append, stored = table.app.store.append, asyncio.get_running_loop().create_future()
    waits: list[asyncio.Future[None]] = []

    def late(*arguments: Any, **options: Any) -> asyncio.Future[None]:
        waits.append(append(*arguments, **options))
        return stored

    monkeypatch.setattr(table.app.store, "append", late)
    monkeypatch.setattr(table.app.node.pulse, "is_behind", lambda now_ns: True)
    first = await host.send_move("flag", mines[0])
    spelled = {"c": mines[1], "n": first + 1, "t": "flag"}
    await host.send_move("flag", mines[1])
    refused = await host.answer(first + 1)
    assert (refused["code"], refused["retry_ms"]) == ("busy", 2000)
    start = len(host.frames)
    await host.say(spelled)  # as no client of ours writes it: refused all the same
    assert (await host.answer(first + 1, start))["code"] == "busy"
    waiting = await guest.send_move("flag", table.hidden(guest, mine=True)[0])
    await asyncio.gather(*waits)
    stored.set_result(None)
    assert (await host.answer(first))["flag"] == [mines[0], True]
    assert "flag" in await guest.answer(waiting)
    monkeypatch.setattr(table.app.store, "append", append)
    for cell in mines[1:4]:  # who waits for answers is never refused
        assert (await host.flag(cell))["t"] == "moved"


async def stall(table: Table, ago_ms: int) -> int:
    """Let the store seem away since then; return since when."""
    since_ms = table.app.store.clock.now_ms() - ago_ms
    table.app.node.rooms._stalled(since_ms)
    return since_ms


async def test_while_the_store_is_away_who_comes_waits(table: Table) -> None:
    """Moves, a player who comes back, and one who is new: all are let in when it answers."""
    host, guest = await table.racing(2)
    await table.begin(host)
    await guest.cut_line()
    await host.event("presence")
    await guest.connect()
    await guest.hello()
    since_ms = await stall(table, 0)
    mark = len(guest.frames)
    n = await host.send_move("flag", table.hidden(host, mine=True)[0])
    await guest.say({"t": "join"})
    await asyncio.sleep(0.05)
    assert len(guest.frames) == mark
    table.app.node.rooms._recovered(since_ms)
    assert (await host.answer(n))["flag"][1]
    assert (await guest.wait(lambda f: f["t"] == "room", mark))["you"]["seat"] == 1
    assert table.room(host).stalled_ms >= 0


async def test_when_patience_ends_all_is_refused_and_the_late_are_sent_away(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, _ = await table.racing(2)
    await table.begin(host)
    late = await table.client(host.code, "Late")
    monkeypatch.setattr(type(table.app.node.rooms), "patience_s", 0.05)
    since_ms = await stall(table, 100)
    n = await host.send_move("flag", table.hidden(host, mine=True)[0])
    table.app.node.rooms._lose_patience()
    assert (await host.answer(n))["code"] == "store_unavailable"
    for message in ({"t": "leave"}, {"t": "rename", "name": "X"}, {"t": "ready", "ready": True}):
        assert (await host.ask(message, "error"))["code"] == "store_unavailable"
    await late.say({"t": "join", "role": "spectator"})
    assert await late.closed() == 1013
    assert [frame["t"] for frame in late.frames[-2:]] == ["error", "goodbye"]
    table.app.node.rooms._recovered(since_ms)
    assert (await host.event("stalled"))["ms"] >= 100
    assert (await host.flag(table.hidden(host, mine=True)[0]))["t"] == "moved"


async def test_who_hangs_up_while_the_store_is_away_has_dropped_when_it_is_back(
    table: Table,
) -> None:
    host, guest = await table.racing(2)
    await table.begin(host)
    since_ms = await stall(table, 0)
    table.app.node.rooms._lose_patience()
    await guest.cut_line()
    assert (await host.ask({"t": "hello"}, "error"))["code"] == "out_of_order"
    assert table.room(host).seats[1].present
    table.app.node.rooms._recovered(since_ms)
    assert not (await host.event("presence"))["present"]


async def test_a_failure_is_credited_once(table: Table) -> None:
    """Whoever notices it: the pulse, the beat, or both, in either order."""
    host, _ = await table.racing(2)
    await table.begin(host)
    rooms, clock = table.app.node.rooms, table.app.store.clock
    for order in (("pulse", "beat"), ("beat", "pulse"), ("pulse",), ("beat",)):
        before, since_ms = table.room(host).stalled_ms, clock.now_ms()
        table.advance(5_000)
        for watchman in order:
            if watchman == "pulse":
                rooms.gap(clock.now_ms() - since_ms)
            else:
                rooms._stalled(since_ms)
                rooms._recovered(since_ms)
        assert table.room(host).stalled_ms - before in range(5_000, 5_100)


async def test_a_deadline_that_moves_is_told_to_the_watch_list(table: Table) -> None:
    """Else every other node would try to take the room over, second by second."""
    host, guest = await table.racing(2)
    watch = table.app.store._watch
    room = table.room(host)
    assert room.round is not None
    assert room.round.ends_ms is not None
    go_ms = room.round.go_ms
    assert watch._due[host.code] == go_ms + 10_000
    await table.begin(host)
    await table.begin(guest)
    assert watch._due[host.code] == room.round.ends_ms
    await stall(table, 700)
    table.app.node.rooms._recovered(table.app.store.clock.now_ms() - 700)
    assert watch._due[host.code] == room.round.ends_ms + room.stalled_ms


async def clients_of(table: Table, code: str, count: int) -> list[PlayerClient]:
    return [await table.client(code, f"Client {i}") for i in range(count)]


async def test_a_node_that_drains_takes_nothing_new(table: Table) -> None:
    code = new_code()
    first, second = await clients_of(table, code, 2)
    table.app.node.rooms.is_draining = True
    create = {"t": "create", "settings": {"level": "beginner"}}
    assert (await first.ask(create, "error"))["code"] == "busy"
    await second.say({"t": "join"})
    assert await second.closed() == 1013
    third = await PlayerClient(table.base, code).connect()
    await third.say({"t": "hello"})
    assert await third.closed() == 1012
    table.app.node.rooms.is_draining = False


async def test_others_have_their_turn_while_a_long_log_is_folded(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host,) = await table.lobby(1)
    runner = table.runner(host)
    for i in range(100):
        runner.do(cmd.Rename(0, f"Name {i}"))
    await host.cut_line()
    async with asyncio.timeout(5):
        while runner.room.seats[0].present:
            await asyncio.sleep(0.01)
    await runner.settled()
    table.app.node.rooms._failed(runner, Fenced("given up"))
    turn, folded_in = 0, []

    def folding(room: Room, event: Event) -> int:
        folded_in.append(turn)
        return apply(room, event)

    async def others() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    monkeypatch.setattr("demineur.rooms.directory.apply", folding)
    monkeypatch.setattr("demineur.rooms.directory.FOLD_EVENTS", 10)
    beside = asyncio.create_task(others())
    assert isinstance(await table.app.node.rooms.locate(host.code), Runner)
    beside.cancel()
    assert len(folded_in) > 100
    assert max(folded_in.count(each) for each in folded_in) == 10


async def test_a_room_that_is_lost_while_somebody_comes_in_is_found_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = new_code()
    early = await table.client(code, "Early")  # before there is such a room
    host = await table.client(code, "Host")
    await host.create(players=2)
    rooms = table.app.node.rooms
    locate = rooms.locate

    async def located(code: str, over_epoch: int | None = None) -> Runner | Elsewhere | None:
        monkeypatch.setattr(rooms, "locate", locate)
        runner = await locate(code, over_epoch)
        assert isinstance(runner, Runner)
        rooms._failed(runner, Fenced("lost just now"))
        return runner

    monkeypatch.setattr(rooms, "locate", located)
    room = await early.join()
    assert [player["name"] for player in room["players"]] == ["Host", "Early"]
    assert not table.runner(early).is_over


async def test_a_room_that_cannot_be_read_does_not_stop_the_sweep(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms, store = table.app.node.rooms, table.app.store
    bad, good = new_code(), new_code()
    asked: list[str] = []
    seen = asyncio.Event()

    async def located(code: str, over_epoch: int | None = None) -> Runner | Elsewhere | None:
        asked.append(code)
        if code == bad:
            raise RuntimeError("nobody thought of it")
        seen.set()
        return None

    monkeypatch.setattr(rooms, "locate", located)
    overdue_ms = store.clock.now_ms() - 60_000
    store.watch(bad, overdue_ms)
    store.watch(good, overdue_ms + 1)
    async with asyncio.timeout(10):
        await seen.wait()
    assert asked.index(bad) < asked.index(good)
