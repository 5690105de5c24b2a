"""What a user would pick instead of this engine, as far as it is installed.

``ms_toollib`` (compiled, the field's own library) comes with the ``dev`` extra.
``minegauler`` is the most complete engine in pure Python on the package index; it is
measured when it is there. Its engine needs neither its window nor its database:

    pip install --no-deps minegauler zig-minesolver attrs typing-extensions
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from loadtest.comparison.plain import MINE, PlainGame, Rows

Moves = Sequence[tuple[str, int]]
"""Moves as (``tap`` or ``flag``, cell)."""

NOTE = "minegauler is not installed: pip install --no-deps minegauler zig-minesolver attrs"


def ms_toollib() -> Any:
    """The library, or None."""
    return import_module("ms_toollib") if find_spec("ms_toollib") else None


def minegauler() -> Any:
    """Its engine, or None."""
    if find_spec("minegauler") and find_spec("zig_minesolver"):
        return import_module("minegauler.app.core.regular")
    return None


def versions() -> dict[str, str]:
    """The versions of the rivals that are installed."""
    found = {"ms_toollib": ms_toollib(), "minegauler": minegauler()}
    return {name: version(name) for name, module in found.items() if module}


def ms_events(board: Rows, moves: Moves) -> list[tuple[str, tuple[int, int]]]:
    """`moves` as presses and releases: a chord is both buttons, pressed and released.

    Which taps are chords depends on what is open, so the game is played once to see.
    """
    game = PlainGame(board)
    width = len(board[0])
    events = []
    names: tuple[str, ...]
    for kind, cell in moves:
        place = divmod(cell, width)
        if kind == "flag":
            names = ("rc", "rr")
            game.flag(*place)
        else:
            chord = game.opened[place[0]][place[1]]
            names = ("lc", "rc", "rr", "lr") if chord else ("lc", "lr")
            game.tap(*place)
        events += [(name, place) for name in names]
    return events


def minegauler_moves(core: Any, board: Rows, moves: Moves) -> list[tuple[str, Any, int]]:
    """`moves` as calls: name of the method, coordinate, and number of flags."""
    game = PlainGame(board)
    width = len(board[0])
    calls = []
    for kind, cell in moves:
        row, column = divmod(cell, width)
        coord = core.Coord(column, row)
        if kind == "flag":
            game.flag(row, column)
            calls.append(("set_cell_flags", coord, int(game.flagged[row][column])))
        else:
            name = "chord_on_cell" if game.opened[row][column] else "select_cell"
            calls.append((name, coord, 0))
            game.tap(row, column)
    return calls


def minegauler_minefield(core: Any, board: Rows) -> Any:
    """`board` as its own type."""
    return core.Minefield.from_2d_array([[int(cell == MINE) for cell in row] for row in board])


def minegauler_play(core: Any, minefield: Any, calls: list[tuple[str, Any, int]]) -> Any:
    """Play `calls` on `minefield`; how the game stands."""
    game = core.Game.from_minefield(minefield)
    for name, coord, flags in calls:
        if name == "set_cell_flags":
            game.set_cell_flags(coord, flags)
        else:
            getattr(game, name)(coord)
    return game.state


def minegauler_value(minefield: Any) -> int:
    """Its 3BV, numbers and openings, which it would otherwise keep, computed anew."""
    minefield._completed_board = minefield._openings = minefield._bbbv = None
    value: int = minefield.bbbv
    return value
