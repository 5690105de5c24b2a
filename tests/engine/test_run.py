import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import (
    LEVELS,
    Board,
    CellOffBoardError,
    EngineError,
    Layout,
    Level,
    Run,
    Status,
    geometry,
    layout,
)
from tests.engine.naive import NaiveBoard, NaiveRun
from tests.engine.positions import boards, carried_out, intentions, seed_of

# 1 1 1 * 1 0     cells  0  1  2  3  4  5
# * 1 1 1 1 0            6  7  8  9 10 11
# 1 1 0 1 1 1           12 13 14 15 16 17
# 0 0 0 1 * 1           18 19 20 21 22 23
BOARD = Board.from_cells(geometry(6, 4), [3, 6, 22])


def cells(run: Run, mask: int) -> list[int]:
    return run.geometry.cells_in(mask)


def status(run: Run) -> Status:
    """A call, so that a type checker doesn't take a status to last over moves."""
    return run.status


def played(*moves: tuple[str, int], penalty: bool = False, board: Board = BOARD) -> Run:
    run = Run(board, penalty=penalty)
    for kind, cell in moves:
        if kind == "tap":
            run.tap(cell)
        else:
            run.flag(cell)
    return run


@given(boards(), intentions, st.booleans())
def test_runs_are_those_of_the_rules_written_plainly(
    board: Board, meant: list[tuple[str, int]], penalty: bool
) -> None:
    shape = board.geometry
    run = Run(board, penalty=penalty)
    plain = NaiveRun(
        NaiveBoard(shape.width, shape.height, cells(run, board.mines)), penalty=penalty
    )
    for kind, cell in carried_out(run, meant):
        if kind == "tap":
            reach = run.reach(cell)
            revealed = run.tap(cell)
            assert cells(run, revealed) == sorted(plain.tap(cell))
            assert reach & ~revealed == 0
            assert bool(reach) == bool(revealed)
        else:
            assert run.flag(cell) == plain.flag(cell)
        assert cells(run, run.opened) == sorted(plain.opened)
        assert cells(run, run.flags) == sorted(plain.flags)
        assert cells(run, run.exploded) == sorted(plain.exploded)
        assert run.status == plain.status
        assert (run.taps, run.flag_moves) == (plain.taps, plain.flag_moves)
        assert run.mine_counter == plain.mine_counter()
        assert run.three_bv_solved == plain.board.three_bv_solved(plain.opened)
    if run.status is Status.WON:
        assert run.three_bv_solved == board.three_bv


def test_a_run_begins_ready() -> None:
    run = Run(layout(9, 9, 10, bytes(16)))
    assert (run.status, run.board, run.first_tap, run.mine_counter) == (
        Status.READY,
        None,
        None,
        None,
    )
    assert (run.taps, run.flag_moves, run.three_bv_solved, run.efficiency) == (0, 0, 0, None)
    assert (run.opened, run.flags, run.exploded, run.mine_count) == (0, 0, 0, 10)
    assert Run(BOARD).board is BOARD
    assert Run(BOARD).mine_counter is None


def test_there_are_no_flags_before_the_first_tap() -> None:
    run = Run(layout(9, 9, 10, bytes(16)))
    assert not run.flag(5)
    assert (run.status, run.flags, run.flag_moves) == (Status.READY, 0, 0)


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS.keys())
def test_the_first_tap_opens_its_square(level: Level) -> None:
    boards_of = Layout(level.geometry, level.mines, seed_of("first", level.id))
    for cell in (0, level.width - 1, level.width + 1, level.geometry.cells - 1):
        run = Run(boards_of)
        opened = run.tap(cell)
        assert level.geometry.square[cell] & ~opened == 0
        assert run.first_tap == cell
        assert run.board == boards_of.board(cell)
        assert run.three_bv_solved == 1


def test_an_explicit_board_is_taken_as_it_is() -> None:
    run = played(("tap", 3))
    assert status(run) is Status.LOST
    assert cells(run, run.exploded) == [3]
    assert (run.opened, run.taps, run.first_tap, run.mine_counter) == (0, 1, 3, 3)


def test_a_flag_protects_from_a_tap() -> None:
    run = played(("tap", 18), ("flag", 6))
    assert run.tap(6) == 0
    assert run.reach(6) == 0
    assert (run.status, run.taps) == (Status.PLAYING, 1)
    assert run.flag(6)
    assert run.tap(6)
    assert status(run) is Status.LOST


def test_a_chord_needs_exactly_as_many_flags_as_the_number() -> None:
    run = played(("tap", 18))
    assert run.tap(7) == 0  # a 1 without a flag
    run.flag(6)
    run.flag(0)
    assert run.tap(7) == 0  # with two flags
    run.flag(0)
    assert cells(run, run.tap(7)) == [0, 1, 2]
    assert status(run) is Status.PLAYING


def test_a_chord_that_has_nothing_left_to_open_is_ignored() -> None:
    run = played(("tap", 18), ("flag", 6), ("tap", 7))
    assert (run.tap(7), run.reach(7), run.taps) == (0, 0, 2)
    assert run.tap(18) == 0  # a zero


def test_a_chord_on_a_wrong_flag_opens_the_safe_cells_all_the_same() -> None:
    run = played(("tap", 18), ("flag", 0))
    assert cells(run, run.tap(7)) == [1, 2, 6]
    assert cells(run, run.exploded) == [6]
    assert cells(run, run.opened & run.geometry.mask(range(6))) == [1, 2]
    assert status(run) is Status.LOST
    assert cells(run, run.flags) == [0]


def test_a_losing_chord_opens_its_cascades() -> None:
    run = Run(Board.from_cells(geometry(7, 2), [7]))
    run.tap(0)
    run.tap(1)
    run.flag(8)
    # The chord opens the mine below and, to the right, a zero whose cascade takes the flag.
    assert cells(run, run.tap(1)) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert cells(run, run.exploded) == [7]
    assert (run.flags, run.status, run.three_bv_solved) == (0, Status.LOST, 2)


def test_a_cascade_opens_flagged_cells_and_lifts_the_flags() -> None:
    run = played(("tap", 1), ("flag", 19), ("flag", 13), ("flag", 0), ("flag", 22))
    assert run.mine_counter == -1
    assert cells(run, run.tap(18)) == [7, 8, 9, 12, 13, 14, 15, 18, 19, 20, 21]
    assert cells(run, run.flags) == [0, 22]
    assert run.mine_counter == 1


def test_won_with_the_last_safe_cell_whatever_the_flags() -> None:
    run = played(("tap", 18), ("tap", 5), ("flag", 3), ("tap", 0), ("tap", 1), ("tap", 2))
    assert status(run) is Status.PLAYING
    run.tap(23)
    assert status(run) is Status.WON
    assert cells(run, run.flags) == [3]
    assert run.three_bv_solved == BOARD.three_bv


def test_a_chord_that_opens_the_last_safe_cell_and_a_mine_is_lost() -> None:
    # * 1 0
    # 1 1 0
    run = Run(Board.from_cells(geometry(3, 2), [0]))
    run.tap(1)
    run.tap(3)
    run.flag(4)
    assert cells(run, run.tap(1)) == [0, 2, 4, 5]
    assert run.board is not None
    assert run.opened == run.board.safe
    assert status(run) is Status.LOST


def test_after_the_end_every_move_is_ignored() -> None:
    for run in (played(("tap", 3)), played(("tap", 18), *(("tap", c) for c in (5, 0, 1, 2, 23)))):
        status, opened, taps = run.status, run.opened, run.taps
        for cell in range(24):
            assert run.tap(cell) == run.reach(cell) == 0
            assert not run.flag(cell)
        assert (run.status, run.opened, run.taps, run.flag_moves) == (status, opened, taps, 0)


class TestPenalty:
    def test_a_mine_stays_open_and_the_run_goes_on(self) -> None:
        run = played(("tap", 18), ("tap", 6), penalty=True)
        assert status(run) is Status.PLAYING
        assert cells(run, run.exploded) == [6]
        assert run.mine_counter == 2
        assert run.taps == 2

    def test_it_counts_as_a_flag_for_chords(self) -> None:
        run = played(("tap", 18), ("tap", 6), penalty=True)
        assert cells(run, run.tap(7)) == [0, 1, 2]

    def test_moves_on_it_are_ignored(self) -> None:
        run = played(("tap", 18), ("tap", 6), penalty=True)
        assert (run.tap(6), run.reach(6), run.flag(6)) == (0, 0, False)
        assert (run.taps, run.flag_moves, run.flags) == (2, 0, 0)

    def test_won_when_all_safe_cells_are_open(self) -> None:
        moves = [("tap", c) for c in (18, 5, 0, 1, 2, 3, 6)]
        run = played(*moves, penalty=True)
        assert status(run) is Status.PLAYING
        run.tap(23)
        assert status(run) is Status.WON
        assert run.mine_counter == 1

    def test_a_chord_may_open_a_mine_and_the_last_safe_cell(self) -> None:
        run = Run(Board.from_cells(geometry(3, 2), [0]), penalty=True)
        run.tap(1)
        run.tap(3)
        run.flag(4)
        assert cells(run, run.tap(1)) == [0, 2, 4, 5]
        assert status(run) is Status.WON
        assert (run.flags, run.mine_counter) == (0, 0)

    def test_the_first_tap_may_explode(self) -> None:
        run = played(("tap", 3), penalty=True)
        assert (run.status, run.first_tap) == (Status.PLAYING, 3)
        full = Run(Board.from_cells(geometry(2, 1), [0, 1]), penalty=True)
        full.tap(0)
        assert status(full) is Status.WON  # nothing safe is left to open


def test_efficiency_counts_the_moves_made() -> None:
    run = played(("tap", 18), ("flag", 6), ("tap", 7), ("tap", 7), ("tap", 6))
    assert (run.three_bv_solved, run.taps, run.flag_moves) == (4, 2, 1)
    assert run.efficiency == pytest.approx(4 / 3)


@pytest.mark.parametrize("cell", [-1, 24, 10**12])
def test_cells_off_the_board_are_refused_at_any_time(cell: int) -> None:
    lost = played(("tap", 3))
    for run in (Run(BOARD), played(("tap", 18)), lost, Run(layout(6, 4, 3, bytes(16)))):
        for move in (run.tap, run.flag, run.reach):
            with pytest.raises(CellOffBoardError):
                move(cell)


def test_runs_are_equal_by_all_that_was_played() -> None:
    assert played(("tap", 18), ("flag", 6)) == played(("tap", 18), ("flag", 6))
    assert played(("tap", 18), ("flag", 6)) != played(("tap", 18))
    assert played(("tap", 18)) != played(("tap", 18), penalty=True)
    assert Run(BOARD) != "run"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"opened": 1 << 3}, "an open cell holds a mine"),
        ({"exploded": 1}, "an exploded cell holds none"),
        ({"first_tap": 23}, "the cell of the first tap is not open"),
        ({"flags": 1}, "an open cell has a flag"),
        ({"opened": 1 | 1 << 5}, "a cascade is not complete"),
        ({"taps": 0}, "no tap was made"),
        ({"flags": 0b110, "flag_moves": 1}, "more flags stand than were set"),
    ],
)
def test_resuming_refuses_what_the_rules_exclude(change: dict[str, int], said: str) -> None:
    position = {"first_tap": 0, "opened": 1, "flags": 0, "exploded": 0, "taps": 1, "flag_moves": 3}
    run = Run.resume(BOARD, penalty=True, **position)
    assert status(run) is Status.PLAYING
    with pytest.raises(EngineError, match=f"^no run comes to this: {said}$"):
        Run.resume(BOARD, penalty=True, **(position | change))


def test_a_run_in_play_takes_at_most_400_bytes() -> None:
    """All that a run holds beside the board, which players of the same first tap share."""
    level = LEVELS["expert"]
    boards_of = Layout(level.geometry, level.mines, seed_of("memory"))
    board = boards_of.board(100)
    mines, safe = (level.geometry.cells_in(mask) for mask in (board.mines, board.safe))
    board.isolated  # noqa: B018 - computed before memory is looked at

    def nearly_won() -> Run:
        run = Run(board)
        run.tap(100)
        for cell in mines[:-1]:
            run.flag(cell)
        for cell in safe[:-1]:
            run.tap(cell)
        assert status(run) is Status.PLAYING
        return run

    runs: list[Run | None] = [None] * 200
    tracemalloc.start()
    try:
        before_bytes, _ = tracemalloc.get_traced_memory()
        for at in range(200):
            runs[at] = nearly_won()
        after_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 250 < (after_bytes - before_bytes) / 200 <= 400
