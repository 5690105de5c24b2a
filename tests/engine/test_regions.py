from hypothesis import example, given
from hypothesis import strategies as st

from demineur.engine import geometry
from demineur.engine.regions import cascade, count_regions, flood
from tests.engine.naive import NaiveBoard
from tests.engine.positions import cell_sets, shapes


@given(st.data())
def test_regions_are_counted_as_by_flooding_them(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    cells = data.draw(cell_sets(shape))
    grid = NaiveBoard(shape.width, shape.height, ())
    assert count_regions(shape, shape.mask(cells)) == len(grid.regions(cells))


@given(st.data())
def test_a_flood_fills_one_region(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    cells = data.draw(cell_sets(shape)) | {data.draw(st.sampled_from(shape.indices))}
    grid = NaiveBoard(shape.width, shape.height, ())
    within = shape.mask(cells)
    for region in grid.regions(cells):
        seed = shape.bit[min(region)]
        filled = shape.mask(region)
        assert flood(shape, seed, within) == filled
        assert cascade(shape, seed, within) == shape.spread(filled)


def _rows(*rows: str) -> tuple[int, int, str]:
    return len(rows[0]), len(rows), "".join(rows)


NESTED = _rows(
    "###########",
    "#.........#",
    "#.#######.#",
    "#.#.....#.#",
    "#.#.###.#.#",
    "#.#.#.#.#.#",
    "#.#.###.#.#",
    "#.#.....#.#",
    "#.#######.#",
    "#.........#",
    "###########",
)
SPIRAL = _rows(
    "#########",
    "........#",
    "#######.#",
    "#.....#.#",
    "#.###.#.#",
    "#.#...#.#",
    "#.#####.#",
    "#.......#",
    "#########",
)
CHECKERS = _rows("#.#.#", ".#.#.", "#.#.#")
DOTS = _rows("#.#.#", ".....", "#.#.#")
DIAGONAL_HOLES = _rows("#####", "#.###", "##.##", "###.#", "#####")
CORNERS = _rows("#...#", ".....", "#...#")


@given(st.sampled_from(range(4)))
@example(0)
def test_rings_spirals_and_corners(turns: int) -> None:
    for (width, _, text), regions in (
        (NESTED, 3),
        (SPIRAL, 1),
        (CHECKERS, 1),
        (DOTS, 6),
        (DIAGONAL_HOLES, 1),
        (CORNERS, 4),
    ):
        rows = [text[at : at + width] for at in range(0, len(text), width)]
        for _ in range(turns):
            rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
        shape = geometry(len(rows[0]), len(rows))
        mask = shape.mask([c for c, mark in enumerate("".join(rows)) if mark == "#"])
        assert count_regions(shape, mask) == regions


def test_the_largest_board() -> None:
    shape = geometry(255, 255)
    assert count_regions(shape, 0) == 0
    assert count_regions(shape, shape.full) == 1
    dots = shape.mask([c for c in shape.indices if c % 255 % 2 == 0 and c // 255 % 2 == 0])
    assert count_regions(shape, dots) == 128 * 128
    # The complement of the dots holds them apart; with its own dots as holes it is one.
    assert count_regions(shape, shape.full ^ dots) == 1
