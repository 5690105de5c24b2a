"""Whole races at real sockets: every setting, every way to end, everybody who may be there.

Each test's journals are audited at its end (``audit.py``): no frame told more than it may.
"""

import hashlib
from itertools import product
from typing import Any

import pytest

from demineur.engine import LEVELS, Layout, Run
from tests.player_client import PlayerClient
from tests.rooms.table import Table

SETTINGS = [
    {"start": start, "guess_free": free, "mine": mine}
    for start, free, mine in product(["own", "shared"], [False, True], ["out", "penalty"])
    if start == "shared" or not free
]
MINUTE_MS = 60_000


def check_result(result: dict[str, Any], players: int) -> None:
    """Hold a result to itself: the seed to its commitment, the places to the boards."""
    seed = bytes.fromhex(result["seed"])
    assert hashlib.sha256(seed).hexdigest() == result["commitment"]
    rows = result["standings"]
    assert len(rows) == players
    assert [row["place"] for row in rows] == sorted(row["place"] for row in rows)
    size = (result["width"], result["height"], result["mines"])
    level = next(v for v in LEVELS.values() if (v.width, v.height, v.mines) == size)
    layout = Layout(level.geometry, level.mines, seed, result["attempt"])
    for row in rows:
        if "first_tap" not in row:
            assert "three_bv" not in row
            continue
        assert row["first_tap"] == result.get("marked", row["first_tap"])
        run = Run(layout)
        run.tap(row["first_tap"])
        assert run.board is not None
        assert row["three_bv"] == run.board.three_bv
        assert (row["percent"] == 100) == (row["ending"] == "won")


def endings(result: dict[str, Any]) -> list[tuple[int, str]]:
    return [(row["seat"], row["ending"]) for row in result["standings"]]


@pytest.mark.parametrize("players", [2, 5, 8])
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: "-".join(map(str, s.values())))
async def test_a_whole_race(table: Table, settings: dict[str, Any], players: int) -> None:
    everybody = await table.racing(players, level="beginner", **settings)
    commitment = (await everybody[-1].event("countdown"))["race"]["commitment"]
    loser, *others = everybody
    for player in others:
        table.advance(100)
        await table.win(player)
    answer = await table.lose(loser)
    assert any("*" in text for _, text in answer["open"])
    if settings["mine"] == "penalty":
        assert answer["frozen_ms"] == 10_000
        ignored = await loser.tap(table.hidden(loser, mine=False)[0])
        assert "open" not in ignored
        assert 9_000 < ignored["frozen_ms"] <= 10_000
        table.advance(10_000)
        await table.win(loser)
    else:
        assert answer["status"] == "lost"
    results = [await table.finished(player) for player in everybody]
    assert all(result == results[0] for result in results)
    assert results[0]["commitment"] == commitment
    check_result(results[0], players)
    last = results[0]["standings"][-1]
    assert (last["seat"], last["ms"] >= last["penalty_ms"]) == (loser.seat, True)
    ending = ("won", 10_000) if settings["mine"] == "penalty" else ("lost", 0)
    assert (last["ending"], last["penalty_ms"]) == ending


async def test_the_first_tap_of_a_shared_start_must_be_on_the_marked_cell(table: Table) -> None:
    host, _ = await table.racing(2, start="shared")
    current = table.room(host).round
    assert current is not None
    assert current.marked is not None
    assert (await host.event("countdown"))["race"]["marked"] == current.marked
    ignored = await host.tap((current.marked + 1) % 81)
    assert set(ignored) == {"t", "n", "ms"}
    assert (await host.tap(current.marked))["status"] == "playing"


async def test_marathon_has_an_hour_and_the_others_ten_minutes(table: Table) -> None:
    for level, minutes in (("marathon", 60), ("beginner", 10)):
        host, guest = everybody = await table.racing(2, level=level)
        await table.begin(host)
        mark = len(host.frames)
        table.advance(minutes * MINUTE_MS - 30_000)
        assert table.room(host).phase.value == "racing"
        table.advance(30_000)
        result = await table.finished(host, mark)
        assert {ending for _, ending in endings(result)} == {"timeout"}
        assert endings(result)[0][0] == host.seat
        check_result(result, len(everybody))
        assert "three_bv" not in next(r for r in result["standings"] if r["seat"] == guest.seat)


async def test_a_clock_starts_by_itself_and_its_player_is_told(table: Table) -> None:
    host, guest = await table.racing(2)
    await table.begin(host)
    table.advance(10_000)
    told = await guest.wait(lambda f: f["t"] == "clock", what="the clock")
    assert told["clock"]["own"]["running"]
    assert told["clock"]["own"]["ms"] < 1_000
    table.advance(5_000)
    assert 5_000 <= (await table.begin(guest))["ms"] < 6_000
    assert not [frame for frame in host.frames if frame["t"] == "clock"]


async def test_who_leaves_in_a_race_is_out_and_the_race_goes_on(table: Table) -> None:
    host, guest, third = await table.racing(3)
    await table.begin(guest)
    await guest.say({"t": "leave"})
    told = await host.event("ended")
    assert (told["seat"], told["status"]) == (guest.seat, "out")
    refused = await guest.tap(0)
    assert refused["code"] == "not_in_room"
    await table.win(host)
    await table.lose(third)
    result = await table.finished(host)
    assert dict(endings(result)) == {0: "won", 1: "left", 2: "lost"}
    check_result(result, 3)


async def test_who_drops_keeps_the_place_for_a_minute_and_is_out_then(table: Table) -> None:
    host, guest = await table.racing(2)
    await table.begin(guest)
    await guest.cut_line()
    assert not (await host.event("presence"))["present"]
    table.advance(59_000)
    assert table.room(host).seats[1].playing
    table.advance(2_000)
    assert (await host.event("ended"))["seat"] == 1
    await table.win(host)
    result = await table.finished(host)
    assert endings(result) == [(0, "won"), (1, "absent")]
    assert result["standings"][1]["ms"] in range(60_000, 60_500)


async def test_a_dropped_run_is_there_on_return(table: Table) -> None:
    host, guest = await table.racing(2)
    await table.begin(guest)
    before = table.run(guest).opened
    await guest.cut_line()
    table.advance(30_000)
    await guest.connect()
    assert (await guest.hello())["member"]
    room = await guest.join()
    assert room["you"]["seat"] == 1
    assert room["clock"]["own"]["ms"] in range(30_000, 31_000)
    assert room["clock"]["own"]["running"]
    assert guest.view is not None
    assert guest.view.opened == before
    assert (await host.event("presence", 3))["present"] in {True, False}
    await table.win(guest)
    await table.lose(host)
    assert endings(await table.finished(guest))[0] == (1, "won")


async def test_the_longest_present_player_becomes_host(table: Table) -> None:
    host, second, third = await table.lobby(3)
    await second.cut_line()
    await third.event("presence")
    await second.connect()
    await second.hello()
    await second.join()
    await host.say({"t": "leave"})
    assert (await third.event("host"))["seat"] == third.seat
    refusal = await second.ask({"t": "start"}, "error")
    assert refusal["code"] == "not_host"
    await third.cut_line()
    assert not (await second.event("presence", len(second.frames)))["present"]
    table.advance(60_000)
    assert (await second.event("host", len(second.frames) - 2))["seat"] == second.seat
    assert (await second.event("left", len(second.frames) - 3))["seat"] in {0, third.seat}


async def play_out(table: Table, everybody: list[PlayerClient]) -> dict[str, Any]:
    """The first wins, the others lose; returns the result."""
    mark = len(everybody[0].frames)
    await table.win(everybody[0])
    for player in everybody[1:]:
        await table.lose(player)
    return await table.finished(everybody[0], mark)


async def test_a_rematch_is_one_tap_each_and_has_a_new_seed(table: Table) -> None:
    everybody = await table.racing(3, mine="out")
    seeds = {(await play_out(table, everybody))["seed"]}
    for number in (2, 3):
        marks = [len(player.frames) for player in everybody]
        await everybody[1].say({"t": "rematch"})
        told = await everybody[0].event("rematch", marks[0])
        assert (told["seat"], told["round"]) == (1, number)
        await everybody[0].say({"t": "rematch"})
        assert (await everybody[2].event("ready", marks[2]))["ready"]
        await everybody[2].say({"t": "rematch"})
        await table.count_down(everybody, marks)
        result = await play_out(table, everybody)
        assert result["round"] == number
        seeds.add(result["seed"])
    assert len(seeds) == 3


async def test_a_rematch_starts_by_itself_when_the_last_undecided_one_has_gone(
    table: Table,
) -> None:
    everybody = await table.racing(3)
    await play_out(table, everybody)
    marks = [len(player.frames) for player in everybody[:2]]
    await everybody[0].say({"t": "rematch"})
    await everybody[2].say({"t": "leave"})
    await everybody[0].event("left", marks[0])
    await everybody[1].say({"t": "rematch"})
    await table.count_down(everybody[:2], marks)
    assert table.room(everybody[0]).racers() == [*table.room(everybody[0]).seats.values()]


async def test_the_host_changes_the_settings_and_nobody_is_ready_any_longer(table: Table) -> None:
    host, guest = await table.lobby(2)
    settings = {"level": "expert", "mine": "penalty", "start": "shared", "players": 4}
    await host.say({"t": "settings", "settings": settings})
    told = await guest.event("settings")
    assert told["board"] == {"width": 30, "height": 16, "mines": 60}
    assert told["settings"]["mine"] == "penalty"
    assert (await host.ask({"t": "start"}, "error"))["code"] == "not_ready"
    by_guest = {"t": "settings", "settings": settings}
    assert (await guest.ask(by_guest, "error"))["code"] == "not_host"
    await guest.ask({"t": "ready", "ready": True}, "event")
    await table.start([host, guest])
    assert (await table.begin(guest))["status"] == "playing"


async def test_too_few_places_are_refused(table: Table) -> None:
    host, *_ = await table.lobby(3)
    fewer = {"level": "beginner", "players": 2}
    refusal = await host.ask({"t": "settings", "settings": fewer}, "error")
    assert refusal["code"] == "bad_settings"


async def test_those_who_are_not_ready_sit_the_round_out(table: Table) -> None:
    host, guest = await table.lobby(2, players=4)
    idle = await table.client(host.code, "Idle")
    await idle.join()
    await table.start([host, guest])
    assert (await idle.event("countdown"))["race"]["seats"] == [0, 1]
    assert (await idle.tap(0))["code"] == "not_racing"
    result = await play_out(table, [host, guest])
    assert [seat for seat, _ in endings(result)] == [0, 1]


async def test_a_race_alone(table: Table) -> None:
    (host,) = await table.racing(1)
    await table.win(host)
    assert endings(await table.finished(host)) == [(0, "won")]


async def test_a_full_room_takes_spectators_and_late_players_only_afterwards(table: Table) -> None:
    host, guest = await table.lobby(2, players=2)
    late = await table.client(host.code, "Late")
    assert (await late.ask({"t": "join"}, "error"))["code"] == "room_full"
    await table.start([host, guest])
    assert (await late.ask({"t": "join"}, "error"))["code"] == "race_running"
    room = await late.join(role="spectator")
    assert room["you"] == {"role": "spectator"}
    assert (await late.tap(0))["code"] == "not_in_room"
    await table.begin(host)
    progress = await late.wait(lambda f: f["t"] == "progress", what="progress")
    assert progress["p"] == [[0, progress["p"][0][1], 0]]
    await guest.say({"t": "leave"})
    await table.win(host)
    check_result(await table.finished(late), 2)
    seated = await late.ask({"t": "join"}, "room")
    assert seated["you"] == {"role": "player", "seat": 2}
    assert table.runner(host).visitors[-1].seat == 2


async def test_fifty_may_watch_and_one_more_may_not(table: Table) -> None:
    host, guest = await table.racing(2)
    watchers = [await table.client(host.code, f"Watcher {i}") for i in range(51)]
    for i, watcher in enumerate(watchers[:50], 1):
        assert (await watcher.join(role="spectator"))["spectators"] == i
    refusal = await watchers[50].ask({"t": "join", "role": "spectator"}, "error")
    assert refusal["code"] == "room_full"
    await watchers[0].leave_line()
    await host.wait(lambda f: f == {"t": "spectators", "count": 49}, what="one fewer")
    assert (await watchers[50].join(role="spectator"))["spectators"] == 50
    await play_out(table, [host, guest])
    for watcher in watchers[1:]:
        check_result(await table.finished(watcher), 2)


async def test_a_room_closes_when_everybody_has_left_it(table: Table) -> None:
    host, guest = await table.lobby(2)
    watcher = await table.client(host.code, "Watcher")
    await watcher.join(role="spectator")
    for player in (guest, host):
        await player.say({"t": "leave"})
    goodbye = await watcher.wait(lambda f: f["t"] == "goodbye", what="goodbye")
    assert goodbye["code"] == await watcher.closed() == 4004
    again = await table.client(host.code, "Again")
    assert (await again.ask({"t": "join"}, "error"))["code"] == "no_room"


async def test_an_idle_room_closes(table: Table) -> None:
    host, guest = await table.lobby(2)
    table.advance(120 * MINUTE_MS)
    assert await host.closed() == await guest.closed() == 4004


async def test_everybody_leaving_before_go_stops_the_countdown(table: Table) -> None:
    host, guest = await table.lobby(2, players=4)
    idle = await table.client(host.code, "Idle")
    await idle.join()
    await host.say({"t": "start"})
    await idle.event("countdown")
    for player in (host, guest):
        await player.say({"t": "leave"})
    assert (await idle.event("unprepared"))["reason"] == "stopped"
    assert (table.room(idle).phase.value, table.room(idle).host) == ("lobby", idle.seat)


async def test_names_change_for_everybody(table: Table) -> None:
    host, guest = await table.lobby(2)
    await guest.say({"t": "rename", "name": "  Zoë   Q. "})
    assert (await host.event("renamed"))["name"] == "Zoë Q."
    await guest.leave_line()
    await guest.connect()
    assert (await guest.hello())["name"] == "Zoë Q."
