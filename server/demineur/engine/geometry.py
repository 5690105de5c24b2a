"""Shapes of boards, and the layout of bits that every other module relies on.

A set of cells is one non-negative int, a `Mask`. Cell ``(row, column)`` is bit
``row * (width + 1) + column``: rows are `stride` = ``width + 1`` bits apart, and the
last column of every row is a guard that is always zero. A shift by one therefore never
carries a cell into the next row, and the eight neighbours of every cell of a board are
four shifts away, with no masks for the edges.

A geometry is immutable, and there is one of each size (`geometry` interns them), so
that the tables are built once however many boards are in play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, TypeAlias, overload

from demineur.engine.errors import CellOffBoardError, EngineError

Cell: TypeAlias = int
"""A cell as an index, ``row * width + column``, both from 0."""

Mask: TypeAlias = int
"""A set of cells, one bit a cell, in the layout that this module describes."""

MAX_SIDE: Final = 255
"""The most columns or rows of a board."""

TABLE_CELLS: Final = 4096
"""Up to this many cells the masks of single cells are kept in tables.

Three tables take about 3.5 MB at this size (Marathon, with 3,200 cells, is the largest
level). They grow with the square of the area and would take 850 MB for 255 x 255, so
above it the masks are made when they are asked for, at the cost of a shift or five.
"""

_BITS: Final = bytes.maketrans(b"01", b"\x00\x01")


class _Computed(Sequence[Mask]):
    """The masks of single cells of a large board, made when asked for."""

    __slots__ = ("_length", "_make")

    def __init__(self, length: int, make: Callable[[Cell], Mask]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, cell: int) -> Mask: ...
    @overload
    def __getitem__(self, cell: slice) -> Sequence[Mask]: ...
    def __getitem__(self, cell: int | slice) -> Mask | Sequence[Mask]:
        if isinstance(cell, slice):
            return [self._make(index) for index in range(*cell.indices(self._length))]
        if not -self._length <= cell < self._length:
            raise IndexError(cell)
        return self._make(cell % self._length)


class Geometry:
    """A board's shape: `width` columns by `height` rows, each from 1 to 255.

    Use `geometry`, which gives the same object for the same size.

    Attributes:
        width: columns.
        height: rows.
        cells: how many cells there are, ``width * height``.
        stride: bits from a cell to the one below it, ``width + 1``.
        full: all cells.
        edge: the cells of the first and last row and column.
        indices: all cells as numbers, ascending.
        bit: for each cell, the set of it alone.
        around: for each cell, its 8 neighbours (5 on an edge, 3 in a corner).
        square: for each cell, its neighbours and itself: what the first tap protects.

    >>> shape = geometry(4, 3)
    >>> print(shape.draw(shape.around[5]))
    # # # .
    # . # .
    # # # .

    Raises:
        EngineError: a side is not from 1 to 255.
    """

    __slots__ = (
        "_by_position",
        "around",
        "bit",
        "cells",
        "edge",
        "full",
        "height",
        "indices",
        "square",
        "stride",
        "width",
    )

    def __init__(self, width: int, height: int) -> None:
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise EngineError(f"a board has 1 to 255 columns and rows, not {width}x{height}")
        self.width = width
        self.height = height
        self.cells = width * height
        self.stride = stride = width + 1
        row = (1 << width) - 1
        self.full: Mask = sum(row << at * stride for at in range(height))
        sides = sum((1 | 1 << width - 1) << at * stride for at in range(height))
        self.edge: Mask = row | row << (height - 1) * stride | sides
        self.indices: tuple[Cell, ...] = tuple(range(self.cells))
        self._by_position: list[Cell] = [
            r * width + min(c, width - 1) for r in range(height) for c in range(stride)
        ]
        self.bit: Sequence[Mask]
        self.around: Sequence[Mask]
        self.square: Sequence[Mask]
        if self.cells <= TABLE_CELLS:
            self.bit = tuple(map(self._bit_of, range(self.cells)))
            self.square = tuple(map(self.spread, self.bit))
            self.around = tuple(s ^ b for s, b in zip(self.square, self.bit, strict=True))
        else:
            self.bit = _Computed(self.cells, self._bit_of)
            self.square = _Computed(self.cells, lambda cell: self.spread(self._bit_of(cell)))
            self.around = _Computed(self.cells, lambda cell: self.square[cell] ^ self.bit[cell])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Geometry):
            return NotImplemented
        return self.width == other.width and self.height == other.height

    def __hash__(self) -> int:
        return hash((self.width, self.height))

    def __repr__(self) -> str:
        return f"geometry({self.width}, {self.height})"

    def __reduce__(self) -> tuple[Callable[[int, int], Geometry], tuple[int, int]]:
        return geometry, (self.width, self.height)

    def _bit_of(self, cell: Cell) -> Mask:
        return 1 << (cell + cell // self.width)

    def check(self, cell: Cell) -> None:
        """Refuse a cell that is not on the board.

        Raises:
            CellOffBoardError: it is not.
        """
        if not 0 <= cell < self.cells:
            raise CellOffBoardError(cell, self.width, self.height)

    def spread(self, mask: Mask) -> Mask:
        """`mask` and all neighbours of its cells, cut to the board. Eight operations.

        >>> shape = geometry(5, 3)
        >>> print(shape.draw(shape.spread(shape.mask([0, 9]))))
        # # . # #
        # # . # #
        . . . # #
        """
        stride = self.stride
        rows = mask | mask << 1 | mask >> 1
        return (rows | rows << stride | rows >> stride) & self.full

    def mask(self, cells: Iterable[Cell]) -> Mask:
        """The set of `cells`, in any order, repeats allowed. O(area + cells).

        Raises:
            CellOffBoardError: a cell is not on the board.
        """
        width, stride = self.width, self.stride
        last = stride * self.height - 1
        digits = bytearray(b"0") * (last + 1)
        for cell in cells:
            if not 0 <= cell < self.cells:
                raise CellOffBoardError(cell, width, self.height)
            digits[last - cell - cell // width] = 49
        return int(digits, 2)

    def cells_in(self, mask: Mask) -> list[Cell]:
        """The cells of `mask`, ascending. O(area)."""
        digits = f"{mask:b}"[::-1].encode().translate(_BITS)
        return list(compress(self._by_position, digits))

    def draw(self, mask: Mask) -> str:
        """`mask` as text, a line a row: ``#`` for a cell in it, ``.`` for one that is not."""
        digits = f"{mask:0{self.stride * self.height}b}"[::-1]
        marks = digits.replace("0", ".").replace("1", "#")
        starts = range(0, len(marks), self.stride)
        return "\n".join(" ".join(marks[at : at + self.width]) for at in starts)


@lru_cache(maxsize=64)
def geometry(width: int, height: int) -> Geometry:
    """The one `Geometry` of this size.

    Raises:
        EngineError: a side is not from 1 to 255.
    """
    return Geometry(width, height)
