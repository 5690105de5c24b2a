import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import CellOffBoardError, EngineError, Geometry, geometry
from demineur.engine.geometry import TABLE_CELLS
from tests.engine.naive import neighbours
from tests.engine.positions import cell_sets, shapes


@given(shapes)
def test_neighbours_and_squares_are_those_of_the_grid(shape: Geometry) -> None:
    for cell in range(shape.cells):
        near = neighbours(shape.width, shape.height, cell)
        assert shape.cells_in(shape.bit[cell]) == [cell]
        assert shape.cells_in(shape.around[cell]) == near
        assert shape.cells_in(shape.square[cell]) == sorted([cell, *near])


@given(st.data())
def test_cells_and_masks_are_each_other_s_inverse(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    cells = data.draw(cell_sets(shape))
    mask = shape.mask(cells)
    assert shape.cells_in(mask) == sorted(cells)
    assert mask == sum(shape.bit[cell] for cell in cells)
    assert mask & ~shape.full == 0


@given(st.data())
def test_spreading_adds_the_neighbours(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    cells = data.draw(cell_sets(shape))
    spread = cells.union(*(neighbours(shape.width, shape.height, cell) for cell in cells))
    assert shape.cells_in(shape.spread(shape.mask(cells))) == sorted(spread)


@given(shapes)
def test_full_edge_and_indices(shape: Geometry) -> None:
    assert shape.cells_in(shape.full) == list(shape.indices) == list(range(shape.cells))
    edge = [c for c in shape.indices if len(neighbours(shape.width, shape.height, c)) < 8]
    assert shape.cells_in(shape.edge) == edge


def test_a_large_board_has_the_same_masks_without_tables() -> None:
    shape = geometry(255, 255)
    assert shape.cells > TABLE_CELLS
    for cell in (0, 1, 254, 255, 300, 64769, 64770, 65023, 65024):
        near = neighbours(255, 255, cell)
        assert shape.cells_in(shape.bit[cell]) == [cell]
        assert shape.cells_in(shape.around[cell]) == near
        assert shape.cells_in(shape.square[cell]) == sorted([cell, *near])
    assert len(shape.bit) == len(shape.around) == len(shape.square) == 65025
    assert shape.bit[-1] == shape.bit[65024]
    assert shape.bit[-65025] == shape.bit[0]
    assert list(shape.bit[7:10]) == [shape.bit[7], shape.bit[8], shape.bit[9]]
    for off in (65025, -65026):
        with pytest.raises(IndexError):
            shape.bit[off]


def test_large_boards_are_small_in_memory() -> None:
    tracemalloc.start()
    try:
        shape = Geometry(255, 255)
        taken_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert shape.bit[65024]
    assert taken_bytes < 8_000_000


def test_one_geometry_of_a_size() -> None:
    assert geometry(30, 16) is geometry(30, 16)
    assert Geometry(30, 16) == geometry(30, 16) != geometry(16, 30)
    assert hash(Geometry(30, 16)) == hash(geometry(30, 16))
    assert geometry(30, 16) != "30x16"
    assert pickle.loads(pickle.dumps(geometry(30, 16))) is geometry(30, 16)
    assert repr(geometry(30, 16)) == "geometry(30, 16)"


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (256, 1), (1, 256), (-1, 5)])
def test_sides_are_from_1_to_255(size: tuple[int, int]) -> None:
    with pytest.raises(EngineError, match=f"^a board has 1 to 255 .* not {size[0]}x{size[1]}$"):
        geometry(*size)


@pytest.mark.parametrize("cell", [-1, 480, 10**30])
def test_cells_off_the_board_are_refused(cell: int) -> None:
    shape = geometry(30, 16)
    with pytest.raises(CellOffBoardError, match=f"^cell {cell} is off the 30x16 board$"):
        shape.check(cell)
    with pytest.raises(CellOffBoardError):
        shape.mask([3, cell])
