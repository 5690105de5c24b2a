"""The game itself, pure: boards, runs, metrics and seeds, as operations on bitsets.

Nothing in this package imports anything but the standard library, reads a clock, draws
randomness or awaits. Sets of cells are ints laid out as `demineur.engine.geometry` says.
"""

from demineur.engine.board import Board, Planes, number_planes
from demineur.engine.chance import Chances, mine_chances
from demineur.engine.codec import decode_board, decode_run, encode_board, encode_run
from demineur.engine.deduction import Deductions, Proof, Rule, deduce, hint
from demineur.engine.errors import CellOffBoardError, EngineError
from demineur.engine.geometry import Cell, Geometry, Mask, geometry
from demineur.engine.guessfree import find_guess_free, is_guess_free
from demineur.engine.levels import LEVELS, Level, check_board
from demineur.engine.metrics import Metrics, three_bv_per_s
from demineur.engine.player import Player, Style
from demineur.engine.replay import Outcome, Step, replay, verify
from demineur.engine.run import Run, Status
from demineur.engine.runfile import Move, RunFile, read_run_file
from demineur.engine.seeding import Layout, attempt_seed, commitment, layout, order
from demineur.engine.view import Segments, View, segments

__all__ = [
    "LEVELS",
    "Board",
    "Cell",
    "CellOffBoardError",
    "Chances",
    "Deductions",
    "EngineError",
    "Geometry",
    "Layout",
    "Level",
    "Mask",
    "Metrics",
    "Move",
    "Outcome",
    "Planes",
    "Player",
    "Proof",
    "Rule",
    "Run",
    "RunFile",
    "Segments",
    "Status",
    "Step",
    "Style",
    "View",
    "attempt_seed",
    "check_board",
    "commitment",
    "decode_board",
    "decode_run",
    "deduce",
    "encode_board",
    "encode_run",
    "find_guess_free",
    "geometry",
    "hint",
    "is_guess_free",
    "layout",
    "mine_chances",
    "number_planes",
    "order",
    "read_run_file",
    "replay",
    "segments",
    "three_bv_per_s",
    "verify",
]
