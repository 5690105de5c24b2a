"""Boards and runs drawn for people.

A row is led by the index of its first cell, so that any cell's index is that plus its
column. Colours are for terminals only; without them the text is the same.
"""

from __future__ import annotations

import sys
from typing import Final

from demineur.engine import Board, Cell, Geometry

HIDDEN: Final = "·"
FLAG: Final = "⚑"
WRONG_FLAG: Final = "✗"
MINE: Final = "*"
EXPLODED: Final = "✱"

_COLOURS: Final = {
    "1": "34",
    "2": "32",
    "3": "31",
    "4": "35",
    "5": "33",
    "6": "36",
    "7": "1",
    "8": "90",
    HIDDEN: "90",
    FLAG: "1;33",
    WRONG_FLAG: "1;31",
    MINE: "1;37",
    EXPLODED: "1;97;41",
}
"""ANSI colours of the marks, near those that the numbers have had since 1990."""


def draw_board(board: Board, first_tap: Cell) -> list[str]:
    """All of `board`, the cell of the first tap between brackets."""
    marks = board.numbers().replace("0", " ")
    return _frame(board.geometry, list(marks), first_tap)


def draw_run(
    board: Board, opened: list[Cell], flags: list[Cell], exploded: list[Cell], *, ended: bool
) -> list[str]:
    """A run on `board` as its player sees it; once `ended`, with the mines."""
    content = board.numbers()
    marks = [HIDDEN] * board.geometry.cells
    for cell in opened:
        marks[cell] = content[cell].replace("0", " ")
    for cell in flags:
        marks[cell] = WRONG_FLAG if ended and content[cell] != "*" else FLAG
    if ended:
        for cell, mark in enumerate(content):
            if mark == "*" and marks[cell] == HIDDEN:
                marks[cell] = MINE
    for cell in exploded:
        marks[cell] = EXPLODED
    return _frame(board.geometry, marks, None)


def _frame(shape: Geometry, marks: list[str], bracketed: Cell | None) -> list[str]:
    margin = len(str(shape.cells - shape.width))
    colours = sys.stdout.isatty()
    bar = "─" * (2 * shape.width + 1)
    lines = [f"{'':{margin}} ┌{bar}┐"]
    for start in range(0, shape.cells, shape.width):
        row = [_coloured(mark) if colours else mark for mark in marks[start : start + shape.width]]
        gaps = [" "] * (shape.width + 1)
        if bracketed is not None and start <= bracketed < start + shape.width:
            gaps[bracketed - start], gaps[bracketed - start + 1] = "[", "]"
        cells = "".join(gap + mark for gap, mark in zip(gaps, row, strict=False)) + gaps[-1]
        lines.append(f"{start:>{margin}} │{cells}│")
    return [*lines, f"{'':{margin}} └{bar}┘"]


def _coloured(mark: str) -> str:
    colour = _COLOURS.get(mark)
    return f"\x1b[{colour}m{mark}\x1b[0m" if colour else mark
