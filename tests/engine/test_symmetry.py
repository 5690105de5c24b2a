"""Mirrored and rotated boards give mirrored and rotated results."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import Board, Geometry, Run, geometry
from tests.engine.positions import boards, carried_out, intentions

Place = Callable[[int, int, int, int], tuple[int, int]]

PLACES: dict[str, Place] = {
    "mirrored left to right": lambda r, c, _h, w: (r, w - 1 - c),
    "mirrored top to bottom": lambda r, c, h, _w: (h - 1 - r, c),
    "turned by half": lambda r, c, h, w: (h - 1 - r, w - 1 - c),
    "turned by a quarter": lambda r, c, h, _w: (c, h - 1 - r),
    "turned by three quarters": lambda r, c, _h, w: (w - 1 - c, r),
    "transposed": lambda r, c, _h, _w: (c, r),
    "transposed the other way": lambda r, c, h, w: (w - 1 - c, h - 1 - r),
}
"""The new row and column of a cell; all but the first three swap width and height."""

SWAPPING = frozenset(list(PLACES)[3:])


class Image:
    """A shape seen in a mirror or turned, and where its cells went."""

    def __init__(self, shape: Geometry, name: str) -> None:
        width, height = shape.width, shape.height
        self.geometry = geometry(height, width) if name in SWAPPING else shape
        self.shape = shape
        place = PLACES[name]
        self.cell = [
            row * self.geometry.width + column
            for row, column in (
                place(*divmod(cell, width), height, width) for cell in shape.indices
            )
        ]

    def mask(self, mask: int) -> int:
        return self.geometry.mask(self.cell[cell] for cell in self.shape.cells_in(mask))


@given(boards(), intentions, st.sampled_from(sorted(PLACES)), st.booleans())
def test_boards_and_runs_seen_in_a_mirror(
    board: Board, meant: list[tuple[str, int]], name: str, penalty: bool
) -> None:
    image = Image(board.geometry, name)
    seen = Board(image.geometry, image.mask(board.mines))
    assert tuple(map(image.mask, board.planes)) == seen.planes
    assert image.mask(board.zeros) == seen.zeros
    assert image.mask(board.isolated) == seen.isolated
    assert (board.three_bv, board.openings, board.islands) == (
        seen.three_bv,
        seen.openings,
        seen.islands,
    )
    run, mirrored = Run(board, penalty=penalty), Run(seen, penalty=penalty)
    for kind, cell in carried_out(run, meant):
        if kind == "tap":
            assert image.mask(run.tap(cell)) == mirrored.tap(image.cell[cell])
        else:
            assert run.flag(cell) == mirrored.flag(image.cell[cell])
        assert image.mask(run.flags) == mirrored.flags
        assert image.mask(run.exploded) == mirrored.exploded
        assert run.status == mirrored.status
        assert run.three_bv_solved == mirrored.three_bv_solved


def test_the_images_are_seven_different_ones() -> None:
    shape = geometry(3, 3)
    assert len({tuple(Image(shape, name).cell) for name in PLACES}) == 7
