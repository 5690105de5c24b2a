import pickle
from hashlib import sha256

import pytest
from hypothesis import given

from demineur.engine import Board, CellOffBoardError, EngineError, geometry, layout
from tests.engine.naive import NaiveBoard
from tests.engine.positions import boards, vectors


def naive_of(board: Board) -> NaiveBoard:
    shape = board.geometry
    return NaiveBoard(shape.width, shape.height, shape.cells_in(board.mines))


@given(boards())
def test_numbers_are_those_of_counting_cell_by_cell(board: Board) -> None:
    naive = naive_of(board)
    assert board.numbers() == naive.numbers()
    for cell in board.geometry.indices:
        bit = board.geometry.bit[cell]
        in_planes = sum(1 << k for k, plane in enumerate(board.planes) if plane & bit)
        assert board.number(cell) == naive.number[cell]
        assert in_planes == (0 if cell in naive.mines else naive.number[cell])


@given(boards())
def test_kinds_of_cells_divide_the_board(board: Board) -> None:
    naive = naive_of(board)
    cells_in = board.geometry.cells_in
    assert cells_in(board.zeros) == sorted(naive.zeros())
    assert cells_in(board.isolated) == sorted(naive.isolated())
    assert board.mine_count == len(naive.mines)
    assert board.mines | board.safe == board.geometry.full
    assert board.zeros | board.numbered == board.safe
    assert not board.mines & board.safe
    assert not board.zeros & board.numbered


@given(boards())
def test_3bv_openings_and_islands(board: Board) -> None:
    naive = naive_of(board)
    assert board.openings == naive.openings()
    assert board.islands == naive.islands()
    assert board.three_bv == naive.three_bv()


@given(boards())
def test_cascades_open_what_the_rules_open_one_by_one(board: Board) -> None:
    naive = naive_of(board)
    for cell in board.geometry.indices:
        if cell not in naive.mines:
            opened = board.geometry.cells_in(board.cascade(cell))
            assert opened == sorted(naive.cascade(cell))


def test_a_cascade_from_a_mine_is_nothing() -> None:
    board = Board.from_cells(geometry(4, 4), [5])
    assert board.cascade(5) == 0


def test_the_text_is_in_the_order_of_bits() -> None:
    board = Board.from_cells(geometry(4, 2), [0, 5])
    assert board.numbers() == "*2102*10"
    assert board.text == "*21002*100"


def test_eights_and_a_board_full_of_mines() -> None:
    ring = Board.from_cells(geometry(3, 3), [0, 1, 2, 3, 5, 6, 7, 8])
    assert ring.numbers() == "****8****"
    full = Board.from_cells(geometry(5, 4), range(20))
    assert full.numbers() == "*" * 20
    assert (full.safe, full.zeros, full.three_bv, full.openings, full.islands) == (0, 0, 0, 0, 0)
    empty = Board.from_cells(geometry(1, 1), [])
    assert (empty.numbers(), empty.three_bv, empty.openings) == ("0", 1, 1)


@pytest.mark.parametrize(
    "vector", vectors("boards"), ids=lambda v: f"{v['level']}-{v['first_tap']}"
)
def test_recorded_boards(vector: dict[str, object]) -> None:
    width, height, mines, first_tap = (
        int(str(vector[name])) for name in ("width", "height", "mines", "first_tap")
    )
    board = layout(width, height, mines, bytes.fromhex(str(vector["seed"]))).board(first_tap)
    assert board.geometry.cells_in(board.mines) == vector["mine_cells"]
    assert board.three_bv == vector["three_bv"]
    assert board.openings == vector["openings"]
    assert sha256(board.numbers().encode()).hexdigest() == vector["numbers_sha256"]


def test_boards_are_equal_by_their_mines() -> None:
    board = Board.from_cells(geometry(4, 4), [5, 6])
    same = Board.from_cells(geometry(4, 4), [6, 5, 5])
    assert board == same
    assert hash(board) == hash(same)
    assert board != Board.from_cells(geometry(4, 4), [5])
    assert board != Board(geometry(5, 4), board.mines & geometry(5, 4).full)
    assert board != "board"
    assert pickle.loads(pickle.dumps(board)) == board
    assert repr(board) == "1 2 2 1\n1 * * 1\n1 2 2 1\n0 0 0 0"


@pytest.mark.parametrize("mask", [-1, 1 << 4, 1 << 20, geometry(4, 4).full << 1])
def test_mines_off_the_board_are_refused(mask: int) -> None:
    with pytest.raises(EngineError, match=r"^mines outside the 4x4 board$"):
        Board(geometry(4, 4), mask)


@pytest.mark.parametrize("cell", [-1, 16])
def test_cells_off_the_board_are_refused(cell: int) -> None:
    board = Board.from_cells(geometry(4, 4), [5])
    with pytest.raises(CellOffBoardError):
        Board.from_cells(geometry(4, 4), [cell])
    with pytest.raises(CellOffBoardError):
        board.number(cell)
    with pytest.raises(CellOffBoardError):
        board.cascade(cell)
