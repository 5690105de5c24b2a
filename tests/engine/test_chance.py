from fractions import Fraction
from math import comb

import pytest

from demineur.engine import LEVELS, CellOffBoardError, EngineError, Level, View
from demineur.engine.chance import mine_chances
from tests.engine.deduction_oracle import FULL, Facts, brute_force, drawn, level_runs, small_views


@pytest.mark.parametrize("seed", range(20 if FULL else 2))
def test_chances_are_shares_of_all_layouts(seed: int) -> None:
    for view in small_views(3000 + seed, 300):
        layouts, with_mine = brute_force(Facts(view))
        chances = mine_chances(view)
        assert chances is not None
        assert chances.layouts == layouts
        assert {cell: chances.ratio(cell) for cell in with_mine} == {
            cell: Fraction(count, layouts) for cell, count in with_mine.items()
        }


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.id)
def test_chances_add_up_to_the_mines(level: Level) -> None:
    # Linear in the layouts: whatever the position, the mean number of mines is their number.
    for run in level_runs(level, 4, 5):
        view = View.of(run)
        chances = mine_chances(view)
        assert chances is not None
        hidden = view.geometry.cells_in(view.hidden)
        assert sum(chances.ratio(cell) for cell in hidden) == view.mine_count
        values = chances.values()
        assert [values[cell] for cell in hidden] == [chances.of(cell) for cell in hidden]
        assert all(values[cell] is None for cell in view.geometry.cells_in(view.opened))


def test_before_the_first_tap_all_cells_are_alike() -> None:
    view = View.empty(LEVELS["marathon"].geometry, 240)
    chances = mine_chances(view)
    assert chances is not None
    assert chances.layouts == comb(3200, 240)
    assert chances.safest() == (view.geometry.full, 0.075)


def test_an_exploded_mine_is_no_hidden_cell() -> None:
    view = drawn("* 2 .\n. . .", 2)
    chances = mine_chances(view)
    assert chances is not None
    assert [chances.ratio(cell) for cell in (2, 3, 4, 5)] == [Fraction(1, 4)] * 4
    with pytest.raises(EngineError):
        chances.of(0)


def test_the_safest_cells_are_all_that_are_as_safe() -> None:
    view = drawn("2 . . .\n. . . .", 3)
    chances = mine_chances(view)
    assert chances is not None
    cells, risk = chances.safest()
    assert view.geometry.cells_in(cells) == [2, 3, 6, 7]
    assert risk == 0.25


def test_nothing_hidden_has_no_safest_cell() -> None:
    chances = mine_chances(drawn("0 0", 0))
    assert chances is not None
    assert chances.safest() == (0, 1.0)
    assert chances.values() == [None, None]


def test_open_cells_and_other_boards_are_refused() -> None:
    chances = mine_chances(drawn(". 1 .", 1))
    assert chances is not None
    with pytest.raises(EngineError, match="cell 1 is open"):
        chances.of(1)
    with pytest.raises(CellOffBoardError):
        chances.ratio(3)


@pytest.mark.parametrize(("text", "mines"), [("1 1", 1), (". 1 .", 2), ("2 . .", 1), ("1 .", 0)])
def test_a_view_that_fits_no_layout_is_refused(text: str, mines: int) -> None:
    with pytest.raises(EngineError):
        mine_chances(drawn(text, mines))


def test_too_much_work_is_answered_with_none() -> None:
    assert mine_chances(drawn(". 1 .", 1), effort=5) is None
    assert mine_chances(drawn(". 1 .", 1), effort=None) is not None
