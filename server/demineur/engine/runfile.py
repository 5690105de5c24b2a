"""Run files: one run, whole, as a document that anyone can play again and check.

A run file is a JSON object (decoded already; this module reads no file)::

    {"format": "demineur/run/1", "width": 30, "height": 16, "mines": 60,
     "seed": "32 hex digits", "attempt": 0,   or   "mine_cells": [...],
     "moves": [[t_ms, "tap" or "flag", cell], ...]}

It may have a ``commitment``, the one of its seed that was published before the race; and
a ``result`` as it was recorded, or an ``expect``, which is the same to whoever checks
and is what test vectors carry. Reading is strict: what is not exactly this is refused
with one line that says what is wrong and where. Moves count from 1 there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from demineur.engine.board import Board
from demineur.engine.errors import CellOffBoardError, EngineError
from demineur.engine.geometry import Cell, Geometry, geometry
from demineur.engine.levels import check_board
from demineur.engine.seeding import MAX_ATTEMPT, Layout

FORMAT: Final = "demineur/run/1"

MAX_TIME_MS: Final = 2**53
"""Times are whole milliseconds that every reader of JSON keeps exact."""

Document: TypeAlias = dict[str, Any]
"""A decoded JSON object."""

MoveKind: TypeAlias = Literal["tap", "flag"]

_REQUIRED: Final = ("format", "width", "height", "mines", "moves")
_OPTIONAL: Final = ("seed", "attempt", "mine_cells", "commitment", "result", "expect")
RECORDED: Final = frozenset(
    (
        *("status", "opened", "flags", "exploded", "elapsed_ms", "mine_counter", "three_bv"),
        *("three_bv_solved", "openings", "taps", "flag_moves", "efficiency", "steps"),
        *("opened_count", "flags_count"),
    )
)
"""What may be recorded of a run: what a replay tells, and two counts of it."""

_SEED: Final = re.compile("[0-9a-f]{32}")
_COMMITMENT: Final = re.compile("[0-9a-f]{64}")


class Move(NamedTuple):
    """A move: when, in ms on the player's own clock of any origin; what; and where."""

    t_ms: int
    kind: MoveKind
    cell: Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """A run file that was read or is to be written.

    Attributes:
        width: columns.
        height: rows.
        mines: how many mines there are.
        seed: the 16 bytes that the board follows from, or None.
        attempt: which board of the seed's guess-free search.
        mine_cells: where the mines are, ascending, when no seed is given.
        moves: all moves, ignored ones too; their times never go down.
        commitment: the commitment that was published, if it is known.
        result: what was recorded of the run, by the names that `replay` uses.
        expect: the same, in a test vector.
    """

    width: int
    height: int
    mines: int
    moves: tuple[Move, ...]
    seed: bytes | None = None
    attempt: int = 0
    mine_cells: tuple[Cell, ...] | None = None
    commitment: str | None = None
    result: Mapping[str, Any] | None = field(default=None, hash=False)
    expect: Mapping[str, Any] | None = field(default=None, hash=False)

    @property
    def geometry(self) -> Geometry:
        """The board's shape."""
        return geometry(self.width, self.height)

    def source(self) -> Layout | Board:
        """What the run is played on; a seed costs its hashes."""
        if self.seed is not None:
            return Layout(self.geometry, self.mines, self.seed, self.attempt)
        return Board.from_cells(self.geometry, self.mine_cells or ())

    def board(self) -> Board | None:
        """The board that the run was played on; None without a tap on a seed's."""
        source = self.source()
        if isinstance(source, Board):
            return source
        first_tap = next((move.cell for move in self.moves if move.kind == "tap"), None)
        return None if first_tap is None else source.board(first_tap)

    def document(self) -> Document:
        """The run file as an object for JSON, in the order of the format's description."""
        document: Document = {
            "format": FORMAT,
            "width": self.width,
            "height": self.height,
            "mines": self.mines,
        }
        if self.seed is not None:
            document |= {"seed": self.seed.hex(), "attempt": self.attempt}
        else:
            document["mine_cells"] = list(self.mine_cells or ())
        document["moves"] = [list(move) for move in self.moves]
        for name in ("commitment", "result", "expect"):
            if (value := getattr(self, name)) is not None:
                document[name] = value
        return document


def read_run_file(document: object) -> RunFile:
    """The run file that a decoded JSON value holds.

    Raises:
        EngineError: it holds none; the message says what is wrong and where.
    """
    fields = _fields(document)
    width, height = _whole(fields, "width"), _whole(fields, "height")
    mines = _whole(fields, "mines")
    shape = geometry(width, height)
    seed = attempt = mine_cells = None
    if ("seed" in fields) == ("mine_cells" in fields):
        raise EngineError("a run has either a seed or mine_cells")
    if "seed" in fields:
        check_board(width, height, mines)
        seed = bytes.fromhex(_hex(fields, "seed", _SEED, 32))
        attempt = _whole(fields, "attempt") if "attempt" in fields else 0
        if not 0 <= attempt <= MAX_ATTEMPT:
            raise EngineError(f"attempt must be from 0 to {MAX_ATTEMPT}")
    else:
        mine_cells = _mine_cells(fields, shape, mines)
    return RunFile(
        width=width,
        height=height,
        mines=mines,
        moves=_moves(fields["moves"], shape),
        seed=seed,
        attempt=attempt or 0,
        mine_cells=mine_cells,
        commitment=_hex(fields, "commitment", _COMMITMENT, 64) if "commitment" in fields else None,
        result=_record(fields, "result"),
        expect=_record(fields, "expect"),
    )


def _fields(document: object) -> Document:
    if not isinstance(document, dict):
        raise EngineError(f"a run is an object, not {shown(document)}")
    for name in document:
        if name not in _REQUIRED and name not in _OPTIONAL:
            raise EngineError(f"unknown field {shown(name)}")
    for name in _REQUIRED:
        if name not in document:
            raise EngineError(f"field {name!r} is missing")
    if document["format"] != FORMAT:
        raise EngineError(f"format must be {FORMAT!r}, not {shown(document['format'])}")
    for name in ("attempt", "commitment"):
        if name in document and "seed" not in document:
            raise EngineError(f"field {name!r} needs a seed")
    return document


def shown(value: object) -> str:
    """A value of a document for a message: as JSON has it, on one line, not at length.

    >>> shown(None), shown("no"), shown([1, 2]), shown(10**1000)
    ('null', "'no'", 'a list', 'so large a number')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) > MAX_TIME_MS:
        return "so large a number"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _whole(fields: Document, name: str) -> int:
    value = fields[name]
    if type(value) is not int:
        raise EngineError(f"{name} must be a whole number, not {shown(value)}")
    if not 0 <= value <= MAX_TIME_MS:
        raise EngineError(f"{name} cannot be {shown(value)}")
    return value


def _hex(fields: Document, name: str, pattern: re.Pattern[str], digits: int) -> str:
    value = fields[name]
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise EngineError(f"{name} must be {digits} lower-case hex digits, not {shown(value)}")
    return value


def _record(fields: Document, name: str) -> Document | None:
    if name not in fields:
        return None
    value = fields[name]
    if not isinstance(value, dict):
        raise EngineError(f"{name} must be an object, not {shown(value)}")
    for entry in value:
        if entry not in RECORDED:
            raise EngineError(f"{name}: unknown field {shown(entry)}")
    return value


def _mine_cells(fields: Document, shape: Geometry, mines: int) -> tuple[Cell, ...]:
    cells = fields["mine_cells"]
    if not isinstance(cells, list):
        raise EngineError(f"mine_cells must be a list, not {shown(cells)}")
    seen: set[Cell] = set()
    for cell in cells:
        if fault := _cell_fault(cell, shape):
            raise EngineError(f"mine_cells: {fault}")
        if cell in seen:
            raise EngineError(f"mine_cells: cell {cell} is there twice")
        seen.add(cell)
    if len(cells) != mines:
        raise EngineError(f"mines is {mines}, but mine_cells has {len(cells)}")
    return tuple(sorted(cells))


def _cell_fault(cell: object, shape: Geometry) -> str | None:
    if type(cell) is not int:
        return f"a cell is a whole number, not {shown(cell)}"
    if 0 <= cell < shape.cells:
        return None
    if abs(cell) > MAX_TIME_MS:
        return f"a cell cannot be {shown(cell)}"
    return str(CellOffBoardError(cell, shape.width, shape.height))


def _moves(moves: object, shape: Geometry) -> tuple[Move, ...]:
    if not isinstance(moves, list):
        raise EngineError(f"moves must be a list, not {shown(moves)}")
    before_ms = -MAX_TIME_MS
    cells = shape.cells
    for count, move in enumerate(moves, 1):
        if not isinstance(move, list) or len(move) != 3:
            raise EngineError(f"move {count}: a move is a list of time, kind and cell")
        t_ms, kind, cell = move
        if type(t_ms) is not int or not before_ms <= t_ms <= MAX_TIME_MS:
            raise EngineError(f"move {count}: {_time_fault(t_ms, before_ms)}")
        before_ms = t_ms
        if kind not in ("tap", "flag"):
            raise EngineError(f"move {count}: a move is 'tap' or 'flag', not {shown(kind)}")
        if type(cell) is not int or not 0 <= cell < cells:
            raise EngineError(f"move {count}: {_cell_fault(cell, shape)}")
    return tuple(Move(*cast("list[Any]", move)) for move in moves)


def _time_fault(t_ms: object, before_ms: int) -> str:
    if type(t_ms) is not int:
        return f"a time is in whole milliseconds, not {shown(t_ms)}"
    if abs(t_ms) > MAX_TIME_MS:
        return f"a time cannot be {shown(t_ms)}"
    return f"time {t_ms} is before {before_ms}, and times never go down"
