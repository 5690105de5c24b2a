"""The game itself, pure: boards, runs, metrics and seeds, as operations on bitsets.

Nothing in this package imports anything but the standard library, reads a clock, draws
randomness or awaits. Sets of cells are ints laid out as `demineur.engine.geometry` says.
"""

from demineur.engine.board import Board, Planes, number_planes
from demineur.engine.errors import CellOffBoardError, EngineError
from demineur.engine.geometry import Cell, Geometry, Mask, geometry
from demineur.engine.levels import LEVELS, Level, check_board
from demineur.engine.run import Run, Status
from demineur.engine.seeding import Layout, attempt_seed, commitment, layout, order
from demineur.engine.view import Segments, View, segments

__all__ = [
    "LEVELS",
    "Board",
    "Cell",
    "CellOffBoardError",
    "EngineError",
    "Geometry",
    "Layout",
    "Level",
    "Mask",
    "Planes",
    "Run",
    "Segments",
    "Status",
    "View",
    "attempt_seed",
    "check_board",
    "commitment",
    "geometry",
    "layout",
    "number_planes",
    "order",
    "segments",
]
