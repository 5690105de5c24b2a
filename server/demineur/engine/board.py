"""Where the mines are, and all that follows from it.

A `Board` knows everything and is never sent to anybody; what may be sent is a
`demineur.engine.view.View`, which cannot express the content of an unopened cell.
Boards are immutable; what is costly is computed when first asked for and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from demineur.engine.errors import EngineError
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.regions import cascade, count_regions

Planes: TypeAlias = tuple[Mask, Mask, Mask, Mask]
"""Numbers 0 to 8 as four bit planes: bit k of a cell's number is its bit in plane k."""


def number_planes(geometry: Geometry, mines: Mask) -> Planes:
    """The numbers of all cells that hold no mine, at once.

    No loop over cells: a full adder sums each cell with its left and right neighbour,
    and two more sum the three rows. A cell that holds a mine counts itself, which does
    not matter, since the planes are cut to the cells without one. About thirty
    operations on ints of ``stride * height`` bits.
    """
    stride = geometry.stride
    left, right = mines << 1, mines >> 1
    either = left ^ right
    ones = either ^ mines
    twos = left & right | either & mines
    above, below = ones << stride, ones >> stride
    either = above ^ below
    carry = above & below | either & ones
    plane0 = either ^ ones
    above, below = twos << stride, twos >> stride
    either = above ^ below
    fours = above & below | either & twos
    twos = either ^ twos
    safe = geometry.full ^ mines
    carried = twos & carry
    return plane0 & safe, (twos ^ carry) & safe, (fours ^ carried) & safe, fours & carried & safe


class Board:
    """The mines of one board.

    Attributes:
        geometry: the board's shape.
        mines: cells that hold a mine.
        safe: cells that do not.
        zeros: safe cells without a mine around them.
        numbered: safe cells with one, which open alone.

    >>> from demineur.engine.geometry import geometry
    >>> Board.from_cells(geometry(6, 4), [3, 6, 22])
    1 1 1 * 1 0
    * 1 1 1 1 0
    1 1 0 1 1 1
    0 0 0 1 * 1

    Raises:
        EngineError: a mine is not on the board.
    """

    __slots__ = (
        "_isolated",
        "_openings",
        "_planes",
        "_text",
        "geometry",
        "mines",
        "numbered",
        "safe",
        "zeros",
    )

    def __init__(self, geometry: Geometry, mines: Mask) -> None:
        if mines < 0 or mines & ~geometry.full:
            raise EngineError(f"mines outside the {geometry.width}x{geometry.height} board")
        self.geometry = geometry
        self.mines = mines
        self.safe: Mask = geometry.full ^ mines
        near = geometry.spread(mines)
        self.zeros: Mask = geometry.full ^ near
        self.numbered: Mask = near ^ mines
        self._planes: Planes | None = None
        self._text: str | None = None
        self._isolated: Mask | None = None
        self._openings: int | None = None

    @classmethod
    def from_cells(cls, geometry: Geometry, cells: Iterable[Cell]) -> Board:
        """The board with mines on `cells`.

        Raises:
            CellOffBoardError: a cell is not on the board.
        """
        return cls(geometry, geometry.mask(cells))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Board):
            return NotImplemented
        return self.mines == other.mines and self.geometry == other.geometry

    def __hash__(self) -> int:
        return hash((self.geometry, self.mines))

    def __reduce__(self) -> tuple[Callable[[Geometry, Mask], Board], tuple[Geometry, Mask]]:
        return Board, (self.geometry, self.mines)

    def __repr__(self) -> str:
        width, text = self.geometry.width, self.numbers()
        return "\n".join(" ".join(text[at : at + width]) for at in range(0, len(text), width))

    @property
    def mine_count(self) -> int:
        """How many mines there are."""
        return self.mines.bit_count()

    @property
    def planes(self) -> Planes:
        """The numbers of the safe cells as four bit planes (`number_planes`)."""
        if self._planes is None:
            self._planes = number_planes(self.geometry, self.mines)
        return self._planes

    def number(self, cell: Cell) -> int:
        """How many of the neighbours of `cell` hold a mine, 0 to 8; one operation.

        It is defined for cells that hold a mine themselves, too.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(cell)
        return (self.mines & self.geometry.around[cell]).bit_count()

    @property
    def text(self) -> str:
        """The whole board as characters in the order of bits: ``0``-``8``, ``*`` for a mine.

        Character ``i`` belongs to bit ``i`` of a mask; the guard column holds zeros.

        The digits of a number in base 2 read in base 16 put each bit of a plane into a
        hexadecimal digit of its own, so that four planes add up to the whole text
        without a loop over cells.
        """
        if self._text is None:
            one, two, four, eight = (int(f"{plane:b}", 16) for plane in self.planes)
            mines = int(f"{self.mines:b}", 16) * 15
            digits = one | two << 1 | four << 2 | eight << 3 | mines
            length = self.geometry.stride * self.geometry.height
            self._text = f"{digits:0{length}x}"[::-1].replace("f", "*")
        return self._text

    def numbers(self) -> str:
        """The whole board as one string, row by row: ``0``-``8``, ``*`` for a mine."""
        text, width, stride = self.text, self.geometry.width, self.geometry.stride
        return "".join(text[at : at + width] for at in range(0, len(text), stride))

    def cascade(self, cell: Cell) -> Mask:
        """What opens when `cell`, which holds no mine, is opened on a fresh board.

        The cell alone when it has a number; when it is a zero, all zeros connected to
        it and all their neighbours.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(cell)
        bit = self.geometry.bit[cell]
        if not bit & self.zeros:
            return bit & self.safe
        return cascade(self.geometry, bit, self.zeros)

    @property
    def isolated(self) -> Mask:
        """Safe cells that no opening opens: each takes a tap of its own."""
        if self._isolated is None:
            self._isolated = self.safe & ~self.geometry.spread(self.zeros)
        return self._isolated

    @property
    def openings(self) -> int:
        """How many connected regions of zeros there are (sides or corners)."""
        if self._openings is None:
            self._openings = count_regions(self.geometry, self.zeros)
        return self._openings

    @property
    def islands(self) -> int:
        """How many connected regions of isolated cells there are (sides or corners)."""
        return count_regions(self.geometry, self.isolated)

    @property
    def three_bv(self) -> int:
        """The least number of taps that clears the board without flags."""
        return self.openings + self.isolated.bit_count()
