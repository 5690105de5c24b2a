"""Boards: from a seed, their numbers, and their 3BV."""

from collections.abc import Iterator
from functools import partial

from demineur.engine import LEVELS, Board, Layout, Level
from loadtest.comparison import plain, rivals
from loadtest.comparison.measuring import Batch, Measure, Row

BOARDS = 20


def rows(measure: Measure) -> Iterator[Row]:
    """The rows of this subject."""
    for name in ("expert", "marathon"):
        level = LEVELS[name]
        yield from _numbers(measure, level)
    for name in ("expert", "marathon"):
        yield _from_a_seed(measure, LEVELS[name], goal=4.0 if name == "expert" else None)


def seeded(level: Level) -> list[Board]:
    """Boards of `level`, the same every time."""
    seeds = [number.to_bytes(16, "big") for number in range(BOARDS)]
    first = level.geometry.cells // 2 + level.width // 2
    return [Layout(level.geometry, level.mines, seed).board(first) for seed in seeds]


def as_rows(board: Board) -> plain.Rows:
    """`board` as lists of numbers, -1 for a mine."""
    text, width = board.numbers(), board.geometry.width
    marks = [plain.MINE if mark == "*" else int(mark) for mark in text]
    return [marks[at : at + width] for at in range(0, len(marks), width)]


def _numbers(measure: Measure, level: Level) -> Iterator[Row]:
    shape = level.geometry
    boards = seeded(level)
    masks = [board.mines for board in boards]
    wanted = [as_rows(board) for board in boards]
    mines = [[[min(cell, 0) for cell in row] for row in rows] for rows in wanted]
    places = [[divmod(c, level.width) for c in shape.cells_in(mask)] for mask in masks]
    plainly = partial(plain.numbers, level.width, level.height)
    numbers = {"plain lists": Batch(lambda: [plainly(at) for at in places], BOARDS)}
    values = {"plain lists": Batch(lambda: [plain.three_bv(plainly(at)) for at in places], BOARDS)}
    if ms := rivals.ms_toollib():
        assert [ms.cal_board_numbers(rows) for rows in mines] == wanted
        numbers["ms_toollib"] = Batch(
            lambda: [ms.cal_board_numbers(rows) for rows in mines], BOARDS
        )
        values["ms_toollib"] = Batch(
            lambda: [ms.cal_bbbv(ms.cal_board_numbers(rows)) for rows in mines], BOARDS
        )
    if core := rivals.minegauler():
        field = rivals.minegauler_minefield(core, wanted[0])
        numbers["minegauler"] = Batch(field._calc_completed_board)
        values["minegauler"] = Batch(lambda: rivals.minegauler_value(field))
    yield measure.row(
        f"numbers of a whole board, {level.id}",
        Batch(lambda: [Board(shape, mask).planes for mask in masks], BOARDS),
        numbers,
        goal=0.2,
    )
    yield measure.row(
        f"numbers and 3BV, {level.id}",
        Batch(lambda: [_value(Board(shape, mask)) for mask in masks], BOARDS),
        values,
        goal=1.0,
    )


def _value(board: Board) -> int:
    return len(board.planes) and board.three_bv


def _from_a_seed(measure: Measure, level: Level, goal: float | None) -> Row:
    """Ours hashes and can be repeated by anyone; the others draw at random."""
    shape = level.geometry
    seeds = [number.to_bytes(16, "big") for number in range(BOARDS)]
    row, column = level.height // 2, level.width // 2
    first = row * level.width + column
    width, height, mines = level.width, level.height, level.mines
    others = {"plain lists": Batch(lambda: plain.laid(width, height, mines, (row, column)))}
    if ms := rivals.ms_toollib():
        # Its x and y are the row and the column.
        others["ms_toollib"] = Batch(lambda: ms.laymine_op(height, width, mines, row, column))
    return measure.row(
        f"board from a seed, hashed, {level.id}",
        Batch(lambda: [Layout(shape, mines, seed).board(first) for seed in seeds], BOARDS),
        others,
        goal,
    )
