"""The engine's one family of errors.

Everything that the engine refuses, it refuses with an `EngineError` whose message is
one line that says what was wrong and where. A move that the rules ignore is not an
error (it changes nothing); a cell that is not on the board is.
"""

from __future__ import annotations


class EngineError(ValueError):
    """Input that describes no board, cell, run or position of the game."""


class CellOffBoardError(EngineError):
    """A cell that is not on the board; the message names the cell and the board."""

    def __init__(self, cell: int, width: int, height: int) -> None:
        super().__init__(f"cell {cell} is off the {width}x{height} board")
