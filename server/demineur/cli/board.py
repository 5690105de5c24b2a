"""``demineur board``: the board that a seed makes."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer

from demineur.cli.drawing import draw_board
from demineur.cli.errors import InputError
from demineur.cli.output import JsonDocuments, spooled
from demineur.engine import LEVELS, Board, Layout, commitment, layout

_SIZE: Final = re.compile("([0-9]{1,9})x([0-9]{1,9})")
_SEED: Final = re.compile("[0-9a-f]{32}")
_WHOLE: Final = re.compile("-?[0-9]{1,18}")


def _whole(option: str, text: str) -> int:
    """The number of an option; int() alone would take ``1_0`` and digits of other scripts."""
    if not _WHOLE.fullmatch(text):
        raise InputError(f"{option}: {text!r} is not a whole number")
    return int(text)


def board(
    seed: Annotated[str, typer.Option(metavar="HEX", help="16 bytes as 32 hex digits.")],
    first_tap: Annotated[str, typer.Option(metavar="CELL", help="Cell of the first tap.")],
    level: Annotated[str | None, typer.Option(help=f"One of {', '.join(LEVELS)}.")] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Columns and rows.")] = None,
    mines: Annotated[
        str | None, typer.Option(metavar="N", help="How many mines, with --size.")
    ] = None,
    attempt: Annotated[str, typer.Option(metavar="N", help="Of a guess-free search.")] = "0",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Show the board that follows from a seed and a first tap."""
    if not _SEED.fullmatch(seed):
        raise InputError("--seed: a seed is 32 lower-case hex digits")
    width, height, count = _shape(level, size, mines)
    boards = layout(width, height, count, bytes.fromhex(seed), _whole("--attempt", attempt))
    cell = _whole("--first-tap", first_tap)
    made = boards.board(cell)
    with spooled() as spool:
        if as_json:
            documents = JsonDocuments(spool, is_array=False)
            documents.add(
                {
                    "mine_cells": made.geometry.cells_in(made.mines),
                    "numbers": made.numbers(),
                    "three_bv": made.three_bv,
                    "openings": made.openings,
                    "commitment": commitment(boards.seed),
                }
            )
            documents.end()
        else:
            for line in _description(boards, made, cell):
                spool.line(line)


def _shape(level: str | None, size: str | None, mines: str | None) -> tuple[int, int, int]:
    if level is not None:
        if size is not None or mines is not None:
            raise InputError("give either --level, or --size and --mines")
        if level not in LEVELS:
            raise InputError(f"--level: {level!r} is none of {', '.join(LEVELS)}")
        known = LEVELS[level]
        return known.width, known.height, known.mines
    if size is None or mines is None:
        raise InputError("give either --level, or --size and --mines")
    sides = _SIZE.fullmatch(size)
    if not sides:
        raise InputError(f"--size: {size!r} is not columns x rows, like 30x16")
    return int(sides[1]), int(sides[2]), _whole("--mines", mines)


def _description(boards: Layout, made: Board, first_tap: int) -> list[str]:
    shape = made.geometry
    row, column = divmod(first_tap, shape.width)
    attempt = f", attempt {boards.attempt}" if boards.attempt else ""
    return [
        f"{shape.width} x {shape.height}, {made.mine_count} mines, "
        f"first tap {first_tap} (row {row}, column {column}){attempt}",
        *draw_board(made, first_tap),
        f"3BV {made.three_bv}, openings {made.openings}, islands {made.islands}",
        f"commitment {commitment(boards.seed)}",
    ]
