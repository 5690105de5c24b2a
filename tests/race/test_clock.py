"""Clocks: each player's own, its start, penalties, and the race's limit (R9, R16-R18)."""

from typing import NamedTuple

import pytest

from demineur.engine import Run, Status
from demineur.race import Ending, Phase, RoomSettings
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import (
    CLOCK_START_MS,
    COUNTDOWN_MS,
    LIMIT_MS,
    PENALTY_MS,
)
from tests.race.scene import MIDDLE, PENALTY, T0_MS, Scene, lobby, names, racing

GO_MS = T0_MS + COUNTDOWN_MS


def test_go_is_three_seconds_after_the_start() -> None:
    scene = lobby(2)
    scene.start()
    assert scene.wait(2_999) == []
    assert scene.wait(1) == [ev.Went(GO_MS, GO_MS + LIMIT_MS)]
    assert COUNTDOWN_MS == 3_000


def test_each_clock_starts_at_its_players_own_first_tap() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE, 700)
    scene.tap(1, MIDDLE, 4_000)
    scene.wait(1_300)
    assert scene.elapsed_ms(0) == 5_300
    assert scene.elapsed_ms(1) == 1_300


def test_a_clock_stands_still_before_the_first_tap() -> None:
    scene = racing(1)
    scene.wait(5_000)
    assert scene.elapsed_ms(0) == 0


def test_a_clock_that_has_not_started_starts_by_itself_after_ten_seconds() -> None:
    scene = racing(3)
    scene.tap(1, MIDDLE, 9_999)
    assert scene.wait(1) == [
        ev.ClockStarted(GO_MS + CLOCK_START_MS, 0),
        ev.ClockStarted(GO_MS + CLOCK_START_MS, 2),
    ]
    scene.tap(0, MIDDLE, 5_000)
    assert [scene.elapsed_ms(seat) for seat in (0, 1, 2)] == [5_000, 5_001, 5_000]


def test_an_absent_players_clock_starts_by_itself_too() -> None:
    scene = racing(2)
    scene.drop(1)
    scene.wait(CLOCK_START_MS + 1)
    assert scene.elapsed_ms(1) == 1


def test_a_won_run_stops_its_clock() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.win(0, 12_345)
    scene.wait(60_000)
    assert scene.elapsed_ms(0) == 12_345


def test_a_lost_run_stops_its_clock() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.lose(0, 4_321)
    scene.wait(60_000)
    assert scene.elapsed_ms(0) == 4_321


def test_the_race_ends_at_its_limit() -> None:
    scene = racing(3)
    scene.tap(0, MIDDLE)
    scene.win(1)
    scene.wait(LIMIT_MS - 1)
    assert scene.room.phase is Phase.RACING
    assert scene.wait(1) == [
        ev.RunEnded(GO_MS + LIMIT_MS, 0, Ending.TIMEOUT),
        ev.RunEnded(GO_MS + LIMIT_MS, 2, Ending.TIMEOUT),
        ev.Finished(GO_MS + LIMIT_MS),
    ]
    assert scene.seat(1).ending is Ending.WON


def test_a_race_in_which_nobody_tapped_ends_at_its_limit() -> None:
    scene = racing(2)
    scene.wait(LIMIT_MS)
    result = scene.room.result
    assert result is not None
    assert [place.place for place in result.places] == [1, 1]
    for place in result.places:
        assert (place.ending, place.percent, place.three_bv) == (Ending.TIMEOUT, 0, None)
        assert place.ms == LIMIT_MS - CLOCK_START_MS


def test_the_move_at_the_limit_comes_too_late() -> None:
    scene = racing(1)
    scene.win(0, but=1)
    late = scene.do(cmd.Tap(0, 999, next(scene.safe(0))), LIMIT_MS)
    assert late.refusal is not None
    assert scene.seat(0).ending is Ending.TIMEOUT


def test_the_move_right_before_the_limit_counts() -> None:
    scene = racing(1)
    scene.win(0, but=1)
    scene.tap(0, next(scene.safe(0)), LIMIT_MS - 1)
    assert scene.seat(0).ending is Ending.WON


def penalised(after_ms: int = 0) -> Scene:
    """Return a race in which seat 0 has hit a mine."""
    scene = racing(2, PENALTY)
    scene.tap(1, MIDDLE)
    scene.tap(0, MIDDLE, 500)
    scene.tap(0, next(scene.mines(0)), after_ms)
    return scene


def test_a_penalty_mine_stays_open_and_the_run_goes_on() -> None:
    scene = penalised()
    assert scene.run(0).status is Status.PLAYING
    assert scene.run(0).exploded.bit_count() == 1
    assert scene.seat(0).ending is None
    assert scene.seat(0).penalty_ms == PENALTY_MS == 10_000


def test_moves_are_ignored_while_a_penalty_lasts() -> None:
    scene = penalised()
    cell, mine = next(scene.safe(0)), next(scene.mines(0))
    assert scene.tap(0, cell) == []
    assert scene.flag(0, mine) == []
    assert scene.tap(0, cell, PENALTY_MS - 1) == []
    assert names(scene.tap(0, cell, 1)) == ["Tapped"]


def test_the_penalty_is_time_on_the_clock() -> None:
    scene = penalised(1_000)
    scene.win(0, PENALTY_MS)
    assert scene.elapsed_ms(0) == 1_000 + PENALTY_MS


def test_a_penalty_is_one_players_alone() -> None:
    scene = penalised()
    assert names(scene.tap(1, next(scene.safe(1)))) == ["Tapped"]


def test_a_second_mine_costs_again() -> None:
    scene = penalised()
    scene.tap(0, next(scene.mines(0)), PENALTY_MS)
    assert scene.seat(0).penalty_ms == 2 * PENALTY_MS
    assert scene.tap(0, next(scene.safe(0)), PENALTY_MS - 1) == []


def test_a_mine_that_is_open_counts_as_a_flag() -> None:
    scene = penalised()
    run = scene.run(0)
    assert run.board is not None
    mine = run.geometry.cells_in(run.exploded)[0]
    assert scene.tap(0, mine, PENALTY_MS) == []
    assert scene.flag(0, mine) == []
    assert run.mine_counter == 9


class Chord(NamedTuple):
    number: int
    opening: int
    """What its cascade opens, flags or not."""
    wrong: list[int]
    """Cells of the opening to be flagged."""
    right: list[int]
    """Mines to be flagged; as many others are hit as flags are wrong."""


def chord_that_hits_and_wins(run: Run, cost: int) -> Chord:
    """Find a number beside a hidden zero, with enough mines and enough of its opening around."""
    board = run.board
    assert board is not None
    for number in run.geometry.cells_in(board.safe & ~board.zeros):
        around = run.geometry.around[number]
        mines = run.geometry.cells_in(around & board.mines)
        for zero in run.geometry.cells_in(around & board.zeros & ~run.opened):
            opening = board.cascade(zero)
            wrong = run.geometry.cells_in(around & opening & ~run.geometry.bit[zero])
            if len(mines) >= cost and len(wrong) >= cost:
                return Chord(number, opening, wrong[:cost], mines[cost:])
    raise AssertionError("no such number on this board")


@pytest.mark.parametrize("cost", [1, 2])
def test_time_owed_for_mines_of_the_winning_move_is_still_added(cost: int) -> None:
    scene = racing(2, RoomSettings("expert", mine="penalty"))
    scene.tap(0, MIDDLE)
    run = scene.run(0)
    chord = chord_that_hits_and_wins(run, cost)
    while left := [c for c in scene.safe(0) if not run.geometry.bit[c] & chord.opening]:
        scene.tap(0, left[0])
    scene.tap(0, chord.number)
    for cell in chord.wrong + chord.right:
        scene.flag(0, cell)
    assert names(scene.tap(0, chord.number, 5_000)) == ["Tapped", "RunEnded"]
    assert scene.seat(0).ending is Ending.WON
    assert run.exploded.bit_count() == cost
    assert scene.seat(0).penalty_ms == cost * PENALTY_MS
    assert scene.elapsed_ms(0) == 5_000 + cost * PENALTY_MS
    scene.leave(1)
    assert scene.room.result is not None
    assert scene.room.result.places[0].ms == 5_000 + cost * PENALTY_MS
