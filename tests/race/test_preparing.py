"""The search for a guess-free board before the countdown (R12)."""

import pytest

from demineur.race import Phase, Reason
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import ABSENCE_MS, COUNTDOWN_MS, PREPARE_MS
from tests.race.scene import DRAW, GUESS_FREE, MIDDLE, SEED, SHARED, Scene, lobby, names


def preparing(players: int = 3) -> Scene:
    scene = lobby(players, GUESS_FREE)
    assert names(scene.start()) == ["Preparing"]
    assert scene.room.phase is Phase.PREPARING
    return scene


def test_the_search_is_for_the_draws_seed_and_cell() -> None:
    scene = preparing()
    assert scene.log[-1] == ev.Preparing(scene.now_ms, SEED, MIDDLE, (0, 1, 2))


@pytest.mark.parametrize("draw", [0, 80, 81, 10**18])
def test_the_marked_cell_is_on_the_board(draw: int) -> None:
    scene = lobby(1, SHARED)
    scene.made(cmd.Start(0, cmd.Draw(SEED, draw)))
    assert scene.room.round is not None
    assert scene.room.round.marked == draw % 81


def test_a_found_board_starts_the_countdown() -> None:
    scene = preparing()
    (started,) = scene.made(cmd.Prepared(SEED, 17), 250)
    go_ms = scene.now_ms + COUNTDOWN_MS
    assert started == ev.CountdownStarted(scene.now_ms, SEED, 17, MIDDLE, go_ms, (0, 1, 2))
    assert scene.room.round is not None
    assert scene.room.round.layout.attempt == 17


def test_none_found_leads_back_to_the_lobby() -> None:
    scene = preparing()
    assert names(scene.made(cmd.PrepareFailed(SEED))) == ["Unprepared"]
    assert scene.room.phase is Phase.LOBBY
    assert scene.room.preparing is None
    assert all(scene.seat(seat).ready for seat in (1, 2)), "the host just starts again"
    scene.start()


def test_a_search_without_an_answer_ends_after_its_time() -> None:
    scene = preparing()
    assert scene.wait(PREPARE_MS - 1) == []
    assert names(scene.wait(1)) == ["Unprepared"]
    assert scene.made(cmd.Prepared(SEED, 0)) == [], "too late"


@pytest.mark.parametrize("answer", [cmd.Prepared("ab" * 16, 0), cmd.PrepareFailed("ab" * 16)])
def test_the_answer_to_another_search_is_passed_over(answer: cmd.Command) -> None:
    assert preparing().made(answer) == []


@pytest.mark.parametrize(
    "command",
    [cmd.Start(0, DRAW), cmd.ChangeSettings(0, SHARED), cmd.Ready(1, False, DRAW)],
    ids=lambda command: type(command).__name__,
)
def test_nothing_is_arranged_meanwhile(command: cmd.Command) -> None:
    assert preparing().refused(command) is Reason.WRONG_PHASE


def test_who_joins_meanwhile_watches() -> None:
    scene = preparing()
    seat = scene.join()
    scene.made(cmd.Prepared(SEED, 0))
    assert not scene.seat(seat).racing


def test_who_leaves_meanwhile_does_not_race() -> None:
    scene = preparing(3)
    scene.leave(1)
    scene.made(cmd.Prepared(SEED, 0))
    assert [seat.seat for seat in scene.room.racers()] == [0, 2]


def test_who_drops_meanwhile_races_all_the_same() -> None:
    scene = preparing(2)
    scene.drop(0)
    scene.drop(1)
    assert names(scene.made(cmd.Prepared(SEED, 0))) == ["CountdownStarted"]
    assert [seat.seat for seat in scene.room.racers()] == [0, 1]


def test_who_was_absent_at_the_start_does_not_race() -> None:
    scene = lobby(3, GUESS_FREE)
    scene.drop(2)
    scene.start()
    scene.back(2)
    scene.made(cmd.Prepared(SEED, 0))
    assert [seat.seat for seat in scene.room.racers()] == [0, 1]


def test_who_becomes_host_meanwhile_does_not_race_unasked() -> None:
    scene = Scene(GUESS_FREE)
    unready, ready = scene.join(), scene.join(10)
    scene.ready(ready)
    scene.start()
    scene.leave(0)
    assert scene.room.host == unready
    scene.made(cmd.Prepared(SEED, 0))
    assert [seat.seat for seat in scene.room.racers()] == [ready]


def test_when_all_who_were_to_race_have_left_the_search_stops() -> None:
    scene = preparing(2)
    watcher = scene.join()
    scene.leave(1)
    assert names(scene.leave(0)) == ["Left", "CountdownStopped", "HostChanged"]
    assert (scene.room.phase, scene.room.host) == (Phase.LOBBY, watcher)
    assert scene.made(cmd.Prepared(SEED, 0)) == []


def test_a_stopped_search_keeps_the_last_race_to_look_at() -> None:
    scene = Scene(GUESS_FREE)
    scene.start()
    scene.made(cmd.Prepared(SEED, 0))
    scene.wait(COUNTDOWN_MS)
    scene.win(0)
    first = scene.room.round
    watcher = scene.join()
    scene.made(cmd.Rematch(0, DRAW))
    scene.made(cmd.Rematch(watcher, DRAW))
    scene.leave(watcher)
    scene.join()
    assert names(scene.leave(0))[1] == "CountdownStopped"
    assert scene.room.round is first


def test_a_room_that_empties_meanwhile_closes() -> None:
    scene = preparing(1)
    assert names(scene.leave(0)) == ["Left", "CountdownStopped", "Closed"]


def test_a_room_whose_players_all_drop_meanwhile_gives_up_then_closes() -> None:
    scene = preparing(1)
    scene.drop(0)
    assert names(scene.wait(ABSENCE_MS)) == ["Unprepared", "Left", "Closed"]
