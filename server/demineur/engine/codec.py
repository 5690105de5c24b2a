"""Boards and runs as bytes: for a store or a worker, never for a player.

Both hold the mines or the seed that they follow from. What a player may see is written
by `demineur.engine.view`.

All integers are big-endian. A set of cells is its int in ``ceil((width + 1) * height /
8)`` bytes, guard column included: 62 for Expert, 405 for Marathon.

Board, 3 bytes and a set (Expert 65, Marathon 408)::

    kind 0x11 | width | height | mines (set)

Run, 26 bytes on a layout before the first tap, and 10 bytes and one to three sets more
after it (Expert 98 to 222, usually 160; Marathon 441 to 1,251)::

    kind 0x12 | width | height | marks | mines (set)                           on a board
    kind 0x13 | width | height | marks | seed (16) | attempt (4) | mines (2)   on a layout
    and then, when it has begun,
    first tap (2) | taps (4) | flag moves (4) | opened (set) [| flags (set)] [| exploded (set)]

``marks``: 1 penalty, 2 begun, 4 has flags, 8 has exploded mines. The status is not
stored, since it follows. Every run has one encoding, and decoding refuses all else:
what is decoded is a position that the rules can reach or that differs from one only in
its counts of moves.
"""

from __future__ import annotations

import struct
from typing import Final

from demineur.engine.board import Board
from demineur.engine.errors import EngineError
from demineur.engine.geometry import Geometry, Mask, geometry
from demineur.engine.run import Run
from demineur.engine.seeding import SEED_BYTES, Layout

_BOARD: Final = 0x11
_RUN_ON_BOARD: Final = 0x12
_RUN_ON_LAYOUT: Final = 0x13

_PENALTY: Final = 1
_BEGUN: Final = 2
_FLAGS: Final = 4
_EXPLODED: Final = 8

_HEAD: Final = struct.Struct(">BBB")
_LAYOUT: Final = struct.Struct(f">{SEED_BYTES}sIH")
_COUNTS: Final = struct.Struct(">HII")


def _mask_bytes(shape: Geometry) -> int:
    return (shape.stride * shape.height + 7) // 8


def encode_board(board: Board) -> bytes:
    """`board` as bytes: 3 and a set."""
    shape = board.geometry
    head = _HEAD.pack(_BOARD, shape.width, shape.height)
    return head + board.mines.to_bytes(_mask_bytes(shape), "big")


def decode_board(data: bytes) -> Board:
    """The board that `encode_board` wrote.

    Raises:
        EngineError: `data` is not exactly what it writes.
    """
    reader = _Reader(data, "a board")
    if reader.byte() != _BOARD:
        raise EngineError("these bytes do not hold a board")
    shape = geometry(reader.byte(), reader.byte())
    board = Board(shape, reader.mask(shape))
    reader.end()
    return board


def encode_run(run: Run) -> bytes:
    """`run` as bytes: sizes are in the module's docstring.

    Raises:
        EngineError: more than 2**32 - 1 taps or flag moves were made.
    """
    shape, source = run.geometry, run.source
    size = _mask_bytes(shape)
    first_tap = run.first_tap
    marks = _PENALTY if run.penalty else 0
    sets: list[Mask] = []
    if first_tap is not None:
        marks |= _BEGUN | (_FLAGS if run.flags else 0) | (_EXPLODED if run.exploded else 0)
        sets = [run.opened, *filter(None, (run.flags, run.exploded))]
    if isinstance(source, Layout):
        kind = _RUN_ON_LAYOUT
        origin = _LAYOUT.pack(source.seed, source.attempt, source.mine_count)
    else:
        kind = _RUN_ON_BOARD
        origin = source.mines.to_bytes(size, "big")
    head = _HEAD.pack(kind, shape.width, shape.height) + bytes((marks,)) + origin
    if first_tap is None:
        return head
    try:
        counts = _COUNTS.pack(first_tap, run.taps, run.flag_moves)
    except struct.error:
        raise EngineError("a run of more than 4294967295 moves of a kind") from None
    return head + counts + b"".join(mask.to_bytes(size, "big") for mask in sets)


def decode_run(data: bytes) -> Run:
    """The run that `encode_run` wrote. It costs what its board does.

    Raises:
        EngineError: `data` is not exactly what `encode_run` writes for some run.
    """
    reader = _Reader(data, "a run")
    kind = reader.byte()
    if kind not in (_RUN_ON_BOARD, _RUN_ON_LAYOUT):
        raise EngineError("these bytes do not hold a run")
    shape = geometry(reader.byte(), reader.byte())
    marks = reader.byte()
    if marks & ~(_PENALTY | _BEGUN | _FLAGS | _EXPLODED):
        raise EngineError(f"a run has unknown marks {marks:#x}")
    source: Layout | Board
    if kind == _RUN_ON_BOARD:
        source = Board(shape, reader.mask(shape))
    else:
        seed, attempt, mines = reader.layout()
        source = Layout(shape, mines, seed, attempt)
    penalty = bool(marks & _PENALTY)
    if not marks & _BEGUN:
        if marks & (_FLAGS | _EXPLODED):
            raise EngineError("a run has flags or exploded mines before its first tap")
        reader.end()
        return Run(source, penalty=penalty)
    first_tap, taps, flag_moves = reader.counts()
    opened = reader.mask(shape)
    flags = reader.mask(shape, empty=False) if marks & _FLAGS else 0
    exploded = reader.mask(shape, empty=False) if marks & _EXPLODED else 0
    reader.end()
    return Run.resume(
        source,
        penalty=penalty,
        first_tap=first_tap,
        opened=opened,
        flags=flags,
        exploded=exploded,
        taps=taps,
        flag_moves=flag_moves,
    )


class _Reader:
    """Takes bytes from the front of what is to be decoded, and knows when they run out."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._at = 0
        self._what = what

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise EngineError(f"{self._what} of {len(self._data)} bytes is cut short")
        self._at += size
        return taken

    def byte(self) -> int:
        return self._take(1)[0]

    def layout(self) -> tuple[bytes, int, int]:
        seed, attempt, mines = _LAYOUT.unpack(self._take(_LAYOUT.size))
        return seed, attempt, mines

    def counts(self) -> tuple[int, int, int]:
        first_tap, taps, flag_moves = _COUNTS.unpack(self._take(_COUNTS.size))
        return first_tap, taps, flag_moves

    def mask(self, shape: Geometry, *, empty: bool = True) -> Mask:
        mask = int.from_bytes(self._take(_mask_bytes(shape)), "big")
        if mask & ~shape.full:
            raise EngineError(f"{self._what} has cells off its {shape.width}x{shape.height} board")
        if not (mask or empty):
            raise EngineError(f"{self._what} holds a set that should have been left out")
        return mask

    def end(self) -> None:
        if self._at != len(self._data):
            raise EngineError(f"{self._what} has {len(self._data) - self._at} bytes too many")
