import pytest

from demineur.engine import View
from demineur.engine.deduction_knowledge import Knowledge
from demineur.engine.effort import Effort, EffortExceededError
from demineur.engine.frontier import FIELD_BITS, Component, component, split
from tests.engine.deduction_oracle import ALL_LEVELS, drawn, level_runs, small_views


def components(view: View) -> list[Component]:
    known = Knowledge.of(view)
    work = Effort(None)
    groups = split(view.geometry, known.active(), known.unknown, work)
    return [component(view.geometry, view.planes, known.mines, group, work) for group in groups]


def as_cells(view: View) -> list[tuple[list[int], list[int]]]:
    known = Knowledge.of(view)
    groups = split(view.geometry, known.active(), known.unknown, Effort(None))
    return [(view.geometry.cells_in(n), view.geometry.cells_in(c)) for n, c in groups]


def test_numbers_that_share_a_hidden_cell_are_together() -> None:
    assert as_cells(drawn(". 1 . 1 . . . 1 .", 3)) == [
        ([1, 3], [0, 2, 4]),
        ([7], [6, 8]),
    ]
    assert as_cells(drawn("1 1 1\n0 0 0", 1)) == []
    assert as_cells(drawn("1 .\n1 .\n1 1", 1)) == [([0, 2, 4, 5], [1, 3])]


def test_groups_are_the_frontier_and_share_nothing() -> None:
    for view in small_views(11, 300):
        shape = view.geometry
        known = Knowledge.of(view)
        numbers = cells = 0
        for own_numbers, own_cells in split(shape, known.active(), known.unknown, Effort(None)):
            assert own_numbers & numbers == own_cells & cells == 0
            assert shape.spread(own_numbers) & known.unknown == own_cells
            numbers |= own_numbers
            cells |= own_cells
        assert numbers == known.active()
        assert cells == shape.spread(view.opened) & view.hidden


def test_cells_of_a_box_touch_the_same_numbers() -> None:
    for level in ALL_LEVELS:
        for run in level_runs(level, 5, 3):
            view = View.of(run)
            shape = view.geometry
            for part in components(view):
                boxes = [shape.cells_in(step.cells) for step in part.steps]
                assert shape.mask(cell for box in boxes for cell in box) == part.cells
                assert sum(step.size for step in part.steps) == part.cells.bit_count()
                touching = [{shape.around[cell] & part.numbers for cell in box} for box in boxes]
                assert all(len(numbers) == 1 for numbers in touching)
                assert len({numbers.pop() for numbers in touching}) == len(boxes)


def test_a_step_offers_what_its_numbers_allow() -> None:
    (part,) = components(drawn(". 2 .", 2))
    (step,) = part.steps
    assert step.size == 2
    assert [mines for mines, _ in step.moves(step.enter)] == [2]
    # Three cells in a row of two numbers: the first box settles its number's other cell.
    (part,) = components(drawn(". 1 . 1 .", 2))
    first, second, third = part.steps
    (none, one) = first.moves(first.enter)
    for mines, drop in (none, one):
        state = first.enter - drop + second.enter
        ((middle, taken),) = second.moves(state)
        assert middle == 1 - mines
        ((last, left),) = third.moves(state - taken + third.enter)
        assert last == mines
        assert state - taken + third.enter == left


def test_a_number_below_its_mines_leaves_no_layout() -> None:
    (part,) = components(drawn("* 1 .\n* . .", 3))
    assert part.overfull
    assert part.steps == []


def test_states_stay_short_however_long_the_frontier_is() -> None:
    row = " ".join(["."] + ["1", "."] * 100)
    (part,) = components(drawn(row, 60))
    assert len(part.steps) == 101
    assert all(step.fields < 1 << 2 * FIELD_BITS for step in part.steps)


def test_laying_out_takes_effort() -> None:
    view = drawn(". 1 . 1 .", 2)
    known = Knowledge.of(view)
    with pytest.raises(EffortExceededError):
        split(view.geometry, known.active(), known.unknown, Effort(0))
    (group,) = split(view.geometry, known.active(), known.unknown, Effort(1))
    with pytest.raises(EffortExceededError):
        component(view.geometry, view.planes, known.mines, group, Effort(19))
    assert component(view.geometry, view.planes, known.mines, group, Effort(20)).steps
