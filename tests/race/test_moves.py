"""Moves in a race: what becomes an event, what is ignored, what is refused (R5-R8, R12)."""

import sys

import pytest

from demineur.engine import Status
from demineur.race import Ending, Phase, Reason
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import COUNTDOWN_MS
from tests.race.scene import MIDDLE, OWN, SHARED, Scene, finished, lobby, names, racing


def test_a_tap_opens_cells_for_its_player_alone() -> None:
    scene = racing(2)
    handled = scene.do(cmd.Tap(0, 1, MIDDLE), 500)
    (step,) = handled.steps
    assert step.event == ev.Tapped(scene.now_ms, 0, 1, MIDDLE)
    assert step.opened == scene.run(0).opened
    assert (
        step.opened & scene.run(0).geometry.square[MIDDLE] == scene.run(0).geometry.square[MIDDLE]
    )
    assert not scene.run(1).opened


def test_everything_that_opened_was_told_once() -> None:
    scene = racing(2)
    scene.win(0)
    scene.lose(1)
    for seat in (0, 1):
        assert scene.opened[seat] == scene.run(seat).opened | scene.run(seat).exploded


def test_a_flag_is_set_and_lifted() -> None:
    scene = racing(1)
    scene.tap(0, MIDDLE)
    mine = next(scene.mines(0))
    for n, flags in ((2, 1), (3, 0), (4, 1)):
        assert names(scene.made(cmd.Flag(0, n, mine))) == ["Flagged"]
        assert scene.run(0).flags.bit_count() == flags


def opened_number(scene: Scene) -> int:
    run = scene.run(0)
    assert run.board is not None
    return next(
        cell
        for cell in run.geometry.cells_in(run.opened)
        if run.board.number(cell) and run.geometry.around[cell] & run.board.safe & ~run.opened
    )


def test_a_chord_opens_what_its_flags_allow() -> None:
    scene = racing(1)
    scene.tap(0, MIDDLE)
    number = opened_number(scene)
    run = scene.run(0)
    assert run.board is not None
    around = run.geometry.around[number]
    assert scene.tap(0, number) == [], "no flags yet"
    for mine in run.geometry.cells_in(around & run.board.mines):
        scene.flag(0, mine)
    assert names(scene.tap(0, number)) == ["Tapped"]
    assert not around & ~(run.opened | run.flags)


def test_a_chord_beside_a_wrong_flag_loses() -> None:
    scene = racing(1)
    scene.tap(0, MIDDLE)
    number = opened_number(scene)
    run = scene.run(0)
    assert run.board is not None
    hidden = run.geometry.around[number] & ~run.opened
    wrong = run.geometry.cells_in(hidden & run.board.safe)
    mines = run.geometry.cells_in(hidden & run.board.mines)
    for cell in (wrong + mines)[: run.board.number(number)]:
        scene.flag(0, cell)
    assert names(scene.tap(0, number)) == ["Tapped", "RunEnded", "Finished"]
    assert scene.seat(0).ending is Ending.LOST


def test_the_last_safe_cell_wins_at_once_and_ends_the_race_of_one() -> None:
    scene = racing(1)
    scene.win(0, but=1)
    last = next(scene.safe(0))
    assert names(scene.tap(0, last)) == ["Tapped", "RunEnded", "Finished"]
    assert scene.seat(0).ending is Ending.WON
    assert scene.room.phase is Phase.FINISHED


def test_a_mine_loses_at_once_and_the_others_go_on() -> None:
    scene = racing(2)
    assert names(scene.lose(0)) == ["Tapped", "RunEnded"]
    assert scene.seat(0).ending is Ending.LOST
    assert scene.run(0).status is Status.LOST
    assert scene.room.phase is Phase.RACING
    scene.tap(1, MIDDLE)


def ignored(scene: Scene) -> dict[str, cmd.Command]:
    run = scene.run(0)
    n = scene.seat(0).n
    opened = run.geometry.cells_in(run.opened)
    return {
        "a tap on a flag": cmd.Tap(0, n + 1, run.geometry.cells_in(run.flags)[0]),
        "a tap on a zero": cmd.Tap(0, n + 1, MIDDLE),
        "a chord without flags": cmd.Tap(0, n + 1, opened_number(scene)),
        "a flag on an open cell": cmd.Flag(0, n + 1, opened[0]),
        "a counter that was had": cmd.Tap(0, n, next(scene.safe(0))),
        "an older counter": cmd.Flag(0, n - 1, next(scene.safe(0))),
    }


def test_an_ignored_move_leaves_no_event() -> None:
    scene = racing(1)
    scene.tap(0, MIDDLE)
    # A far flag: not beside the number that a chord would open.
    scene.flag(0, [*scene.mines(0)][-1])
    for what, command in ignored(scene).items():
        before = scene.room.version, scene.seat(0).n
        assert scene.made(command, 10) == [], what
        assert (scene.room.version, scene.seat(0).n) == before, what


def test_before_the_first_tap_there_are_no_flags() -> None:
    scene = racing(1)
    assert scene.flag(0, MIDDLE) == []
    assert names(scene.tap(0, MIDDLE)) == ["Tapped"]


def test_a_move_that_is_sent_again_counts_once() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    cell = next(scene.safe(0))
    assert names(scene.made(cmd.Tap(0, 2, cell))) == ["Tapped"]
    for _ in range(3):
        assert scene.made(cmd.Tap(0, 2, cell)) == []
    assert names(scene.made(cmd.Flag(0, 3, next(scene.mines(0))))) == ["Flagged"]
    assert scene.made(cmd.Flag(0, 3, next(scene.mines(0)))) == []


def test_each_player_has_a_counter_and_it_may_skip() -> None:
    scene = racing(2)
    assert names(scene.made(cmd.Tap(0, 500, MIDDLE))) == ["Tapped"]
    assert names(scene.made(cmd.Tap(1, 1, MIDDLE))) == ["Tapped"]
    assert (scene.seat(0).n, scene.seat(1).n) == (500, 1)


def test_the_counter_starts_again_with_each_round() -> None:
    scene = finished(1)
    scene.made(cmd.Rematch(0, cmd.Draw("ff" * 16, 0)))
    scene.wait(COUNTDOWN_MS)
    assert names(scene.made(cmd.Tap(0, 1, MIDDLE))) == ["Tapped"]


@pytest.mark.parametrize("cell", [-1, 81, 10**9])
@pytest.mark.parametrize("kind", [cmd.Tap, cmd.Flag])
def test_a_cell_that_is_not_on_the_board_is_refused(
    kind: type[cmd.Tap] | type[cmd.Flag], cell: int
) -> None:
    assert racing(1).refused(kind(0, 1, cell)) is Reason.OFF_BOARD


def test_before_go_nobody_moves() -> None:
    scene = lobby(2)
    assert scene.refused(cmd.Tap(0, 1, MIDDLE)) is Reason.NOT_RACING
    scene.start()
    assert scene.refused(cmd.Tap(0, 1, MIDDLE), COUNTDOWN_MS - 1) is Reason.NOT_RACING
    assert names(scene.made(cmd.Tap(0, 1, MIDDLE), 1)) == ["Went", "Tapped"]


def test_after_the_end_nobody_moves() -> None:
    scene = racing(2)
    scene.lose(0)
    assert scene.refused(cmd.Tap(0, 9, 0)) is Reason.RUN_OVER
    scene.win(1)
    assert scene.refused(cmd.Flag(1, 99, 0)) is Reason.RUN_OVER
    assert scene.room.phase is Phase.FINISHED


def test_who_has_left_moves_no_more() -> None:
    scene = racing(2)
    scene.leave(0)
    assert scene.refused(cmd.Tap(0, 1, MIDDLE)) is Reason.RUN_OVER


def test_a_watcher_does_not_move_afterwards_either() -> None:
    scene = finished(1)
    scene.join()
    assert scene.refused(cmd.Tap(1, 1, MIDDLE)) is Reason.NOT_RACING


def test_a_shared_start_begins_on_the_marked_cell_only() -> None:
    scene = racing(2, SHARED)
    assert scene.room.round is not None
    assert scene.room.round.marked == MIDDLE
    assert scene.tap(0, MIDDLE + 1) == []
    assert scene.seat(0).started_ms is None
    assert names(scene.tap(0, MIDDLE)) == ["Tapped"]
    assert names(scene.tap(0, next(scene.safe(0)))) == ["Tapped"]


def test_an_own_start_begins_anywhere() -> None:
    scene = racing(3, OWN)
    assert scene.room.round is not None
    assert scene.room.round.marked is None
    for seat, cell in enumerate((0, 80, 44)):
        assert names(scene.tap(seat, cell)) == ["Tapped"]


def test_a_race_has_a_bounded_number_of_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["demineur.race.decide"], "MOVES_MAX", 3)
    scene = racing(2)
    scene.tap(0, MIDDLE)
    hidden = next(scene.mines(0))
    scene.flag(0, hidden)
    scene.flag(0, hidden)
    assert scene.refused(cmd.Flag(0, 4, hidden)) is Reason.TOO_MANY_MOVES
    assert scene.made(cmd.Flag(1, 1, hidden)) == []
