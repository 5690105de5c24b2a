"""The six levels, and which boards a seed can make."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from demineur.engine.errors import EngineError
from demineur.engine.geometry import Geometry, geometry

PROTECTED_CELLS: Final = 9
"""The most cells of a protected square: the first tap and its eight neighbours."""


@dataclass(frozen=True, slots=True)
class Level:
    """A named size with its number of mines."""

    id: str
    width: int
    height: int
    mines: int

    @property
    def geometry(self) -> Geometry:
        """The level's shape."""
        return geometry(self.width, self.height)


LEVELS: Final = MappingProxyType(
    {
        level.id: level
        for level in (
            Level("beginner", 9, 9, 10),
            Level("intermediate", 16, 10, 25),
            Level("hard", 20, 12, 40),
            Level("expert", 30, 16, 60),
            Level("extreme", 40, 20, 60),
            Level("marathon", 80, 40, 240),
        )
    }
)
"""The levels by id, easiest first."""


def check_board(width: int, height: int, mines: int) -> None:
    """Refuse a board that a seed cannot make.

    Wherever the first tap falls, its protected square holds no mine, so there must be
    room for all mines outside any such square: ``0 <= mines <= cells - 9``. (A board
    given by its mines needs no such room and is not checked by this.)

    Raises:
        EngineError: a side is not from 1 to 255, or there are too many mines.
    """
    shape = geometry(width, height)
    room = shape.cells - PROTECTED_CELLS
    if room < 0:
        raise EngineError(
            f"a {width}x{height} board is too small for a protected tap: it has fewer than 9 cells"
        )
    if not 0 <= mines <= room:
        raise EngineError(f"a {width}x{height} board holds 0 to {room} mines, not {mines}")
