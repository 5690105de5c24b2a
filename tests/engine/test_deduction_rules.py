from itertools import permutations

import pytest

from demineur.engine import View, geometry
from demineur.engine.deduction_knowledge import Knowledge
from demineur.engine.deduction_rules import number_pairs, single_numbers
from tests.engine.deduction_oracle import drawn
from tests.engine.naive import neighbours


def singles(text: str) -> tuple[list[int], list[int]]:
    view = drawn(text, 9)
    known = Knowledge.of(view)
    shape = view.geometry
    safe, mined = single_numbers(shape, view.planes, known.active(), known.mines, known.unknown)
    return shape.cells_in(safe), shape.cells_in(mined)


def pairs(view: View, *, subset_only: bool = False) -> tuple[set[int], set[int]]:
    known = Knowledge.of(view)
    safe, mined = number_pairs(
        view.geometry,
        view.planes,
        known.active(),
        known.mines,
        known.unknown,
        subset_only=subset_only,
    )
    return set(view.geometry.cells_in(safe)), set(view.geometry.cells_in(mined))


def test_a_number_with_all_its_mines_frees_its_neighbours() -> None:
    assert singles("* 1 .\n. . .") == ([2, 3, 4, 5], [])
    assert singles("0 . 1 .") == ([1], [])


def test_a_number_with_as_many_hidden_cells_as_mines_has_them_all() -> None:
    assert singles(". 2 .") == ([], [0, 2])
    assert singles(". . .\n. 8 .\n. . .") == ([], [0, 1, 2, 3, 5, 6, 7, 8])
    assert singles("* . .\n. 8 .\n. . *") == ([], [1, 2, 3, 5, 6, 7])


def test_a_number_in_doubt_says_nothing() -> None:
    assert singles(". 1 .") == ([], [])
    assert singles(". . .\n. 7 .\n. . .") == ([], [])


@pytest.mark.parametrize(("width", "height"), [(2, 6), (3, 5), (4, 4), (5, 3), (7, 6)])
def test_two_numbers_that_differ_by_all_that_one_alone_touches(width: int, height: int) -> None:
    # Any two cells of a board, near or far, in the middle or at its edges: no pair must be found
    # around a corner of the bitset, and none must be missed.
    shape = geometry(width, height)
    fired = 0
    for a, b in permutations(range(shape.cells), 2):
        near_a = set(neighbours(width, height, a)) - {b}
        near_b = set(neighbours(width, height, b)) - {a}
        only_a, only_b = near_a - near_b, near_b - near_a
        for shared in (1, 2, 3):
            if shared >= len(near_a) or shared + len(only_b) >= len(near_b):
                continue
            view = View.empty(shape, 9)
            view.add([(a, str(shared)), (b, str(shared + len(only_b)))])
            assert pairs(view) == (only_a, only_b), (a, b, shared)
            subset = not only_a or not only_b
            expected = (only_a, only_b) if subset else (set(), set())
            assert pairs(view, subset_only=True) == expected
            fired += 1
    assert fired


def test_known_mines_count_in_a_pair() -> None:
    # 2 with a mine known is a 1: the wall's 1 and it share their doubt, so the rest is safe.
    assert pairs(drawn("1 2 . .\n. . * .", 9)) == ({2}, set())
