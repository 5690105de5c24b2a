from itertools import product

import pytest

from demineur.engine import EngineError, View
from demineur.engine.census import Census, repack, unpack
from demineur.engine.deduction_knowledge import Knowledge
from demineur.engine.effort import Effort, EffortExceededError
from demineur.engine.enumeration import ANY_TOTAL, Reach, certain_by_count
from demineur.engine.frontier import Component, component, split
from tests.engine.deduction_oracle import drawn, small_views


def components(view: View) -> list[Component]:
    known = Knowledge.of(view)
    work = Effort(None)
    groups = split(view.geometry, known.active(), known.unknown, work)
    return [component(view.geometry, view.planes, known.mines, group, work) for group in groups]


def fitting(view: View, part: Component) -> list[set[int]]:
    """Every layout of the component, one by one."""
    shape = view.geometry
    cells = shape.cells_in(part.cells)
    layouts = []
    for picks in product((False, True), repeat=len(cells)):
        mines = {cell for cell, pick in zip(cells, picks, strict=True) if pick}
        around = shape.mask(mines) | view.exploded
        if all(
            (around & shape.around[number]).bit_count() == view.number(number)
            for number in shape.cells_in(part.numbers)
        ):
            layouts.append(mines)
    return layouts


def test_totals_and_counts_are_those_of_all_layouts() -> None:
    compared = 0
    for view in small_views(21, 400, cells=15):
        shape = view.geometry
        for part in components(view):
            layouts = fitting(view, part)
            sizes = [len(mines) for mines in layouts]
            assert Reach(part, Effort(None)).totals == sum(1 << size for size in set(sizes))
            census = Census(part, Effort(None))
            by_total = unpack(census.layouts, census.width)
            assert by_total == [sizes.count(size) for size in range(max(sizes) + 1)]
            for box, polynomial in census.mined():
                held = unpack(polynomial, census.width)
                for cell in shape.cells_in(box):
                    sizes_with = [len(mines) for mines in layouts if cell in mines]
                    expected = [sizes_with.count(size) for size in range(len(held))]
                    assert (held, sum(held)) == (expected, len(sizes_with))
            compared += len(layouts)
    assert compared > 1000


def test_certainty_can_be_asked_for_some_totals_only() -> None:
    for view in small_views(22, 150, cells=15):
        for part in components(view):
            layouts = fitting(view, part)
            reach = Reach(part, Effort(None))
            for total in {len(mines) for mines in layouts}:
                such = [mines for mines in layouts if len(mines) == total]
                safe, mined = reach.certain(1 << total)
                for cell in view.geometry.cells_in(part.cells):
                    held = [cell in mines for mines in such]
                    bit = view.geometry.bit[cell]
                    assert (bool(safe & bit), bool(mined & bit)) == (not any(held), all(held))
            assert reach.alone() == reach.certain(ANY_TOTAL)


def test_no_layout_is_an_error() -> None:
    for text in ("* 1 .\n* . .", "1 . 3 . ."):
        (part,) = components(drawn(text, 4))
        with pytest.raises(EngineError):
            Reach(part, Effort(None))
        with pytest.raises(EngineError):
            Census(part, Effort(None))
    (part,) = components(drawn(". 1 .", 1))
    with pytest.raises(EngineError):
        Reach(part, Effort(None)).certain(1 << 2)


def test_work_is_paid_for_before_it_is_done() -> None:
    (part,) = components(drawn(". 1 . 1 .", 2))
    spent = Effort(None)
    Reach(part, spent)
    assert spent.spent > 0
    Reach(part, Effort(spent.spent))
    with pytest.raises(EffortExceededError):
        Reach(part, Effort(spent.spent - 1))
    with pytest.raises(EffortExceededError):
        Census(part, Effort(spent.spent - 1))


def test_counting_pays_for_the_length_of_its_numbers() -> None:
    spent = []
    for cells in (50, 120):
        (part,) = components(drawn(" ".join(["."] + ["1", "."] * cells), cells))
        reach, census = Effort(None), Effort(None)
        Reach(part, reach)
        Census(part, census)
        spent.append((reach.spent, census.spent))
    assert spent[0][1] == spent[0][0]
    assert spent[1][1] == 4 * spent[1][0]


@pytest.mark.parametrize(
    ("lacking", "safe", "mined"),
    [(1, 0b1111000, 0), (2, 0, 0), (4, 0, 0), (5, 0, 0b1111000)],
)
def test_the_count_settles_the_outside(lacking: int, safe: int, mined: int) -> None:
    (part,) = components(drawn(". 1 .", 1))
    reach = Reach(part, Effort(None))
    assert certain_by_count([reach], lacking, 0b1111000) == (safe, mined)


@pytest.mark.parametrize("lacking", [-1, 0, 6])
def test_a_count_that_fits_nothing_is_an_error(lacking: int) -> None:
    (part,) = components(drawn(". 1 .", 1))
    with pytest.raises(EngineError):
        certain_by_count([Reach(part, Effort(None))], lacking, 0b1111000)


def test_polynomials_are_packed_and_unpacked() -> None:
    assert unpack(0, 5) == []
    assert unpack(repack([3, 0, 31, 1], 5), 5) == [3, 0, 31, 1]
    assert repack([1, 1], 8) ** 2 == repack([1, 2, 1], 8)
