import pytest

from demineur.engine import Board, EngineError, Metrics, Run, geometry, layout, three_bv_per_s

# 1 1 1 * 1 0
# * 1 1 1 1 0
# 1 1 0 1 1 1
# 0 0 0 1 * 1
BOARD = Board.from_cells(geometry(6, 4), [3, 6, 22])


def test_the_figures_of_a_lost_run() -> None:
    run = Run(BOARD)
    for cell in (18, 0, 3):
        run.tap(cell)
    assert Metrics.of(run, 4_000) == Metrics(
        three_bv=6,
        openings=2,
        islands=2,
        three_bv_solved=2,
        three_bv_per_s=0.5,
        taps=3,
        flag_moves=0,
        efficiency=2 / 3,
    )


def test_taps_at_the_border_of_an_opening_solve_nothing() -> None:
    run = Run(BOARD)
    run.tap(7)
    run.tap(12)
    assert run.three_bv_solved == 0
    run.tap(19)
    assert run.three_bv_solved == 1


def test_a_win_has_solved_all() -> None:
    run = Run(layout(9, 9, 0, bytes(16)))
    run.tap(40)
    figures = Metrics.of(run, 0)
    assert (figures.three_bv, figures.three_bv_solved, figures.efficiency) == (1, 1, 1.0)
    assert figures.three_bv_per_s is None


@pytest.mark.parametrize("run", [Run(BOARD), Run(layout(9, 9, 10, bytes(16)))])
def test_no_figures_before_the_first_tap(run: Run) -> None:
    with pytest.raises(EngineError, match="before its first tap"):
        Metrics.of(run, 0)


def test_3bv_per_second() -> None:
    assert three_bv_per_s(3, 1_500) == 2.0
    assert three_bv_per_s(3, 0) is None
