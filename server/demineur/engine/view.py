"""What a player may see: the only way in which a board's content leaves the engine.

`segments` writes revealed cells for a wire and refuses any other; `View` is the same
knowledge as bitsets, for players, deduction and load tests. A view is built from
segments or from a run, and has no field that could hold the content of an unopened cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from demineur.engine.board import Planes
from demineur.engine.errors import EngineError
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.run import Run

Segments: TypeAlias = list[tuple[Cell, str]]
"""Revealed cells, as stretches of a row: the first cell, and a character for each.

``0``-``8`` is an open cell's number, ``*`` a mine that exploded.
"""

_STRETCH = re.compile("1+")


def segments(run: Run, mask: Mask) -> Segments:
    """The content of the cells of `mask`, all of which `run` must have revealed.

    Neighbours in a row make one segment. O(area) at the speed of string conversion, and
    half a microsecond a segment.

    >>> from demineur.engine.board import Board
    >>> from demineur.engine.geometry import geometry
    >>> run = Run(Board.from_cells(geometry(6, 4), [3, 6, 22]))
    >>> segments(run, run.tap(18))
    [(7, '111'), (12, '1101'), (18, '0001')]

    Raises:
        EngineError: a cell is not revealed.
    """
    board = run.board
    if mask < 0 or mask & ~(run.opened | run.exploded):
        raise EngineError("a cell that is not open has no content to tell")
    if board is None or not mask:
        return []
    text, stride = board.text, run.geometry.stride
    spans = (match.span() for match in _STRETCH.finditer(f"{mask:b}"[::-1]))
    return [(start - start // stride, text[start:end]) for start, end in spans]


class View:
    """What one player knows of a run, and no more.

    Attributes:
        geometry: the board's shape.
        mine_count: how many mines there are.
        opened: open cells without a mine.
        planes: the numbers of the open cells, as four bit planes.
        flags: the player's flags.
        exploded: mines that opened.

    >>> from demineur.engine.geometry import geometry
    >>> view = View.empty(geometry(6, 4), 3)
    >>> print(view.geometry.draw(view.add([(7, '111'), (12, '1101'), (18, '0001')])))
    . . . . . .
    . # # # . .
    # # # # . .
    # # # # . .
    >>> view.number(9), view.number(14), view.number(6)
    (1, 0, None)
    """

    __slots__ = ("exploded", "flags", "geometry", "mine_count", "opened", "planes")

    def __init__(self, geometry: Geometry, mine_count: int) -> None:
        self.geometry = geometry
        self.mine_count = mine_count
        self.opened: Mask = 0
        self.planes: Planes = (0, 0, 0, 0)
        self.flags: Mask = 0
        self.exploded: Mask = 0

    @classmethod
    def empty(cls, geometry: Geometry, mine_count: int) -> View:
        """The view before the first tap."""
        return cls(geometry, mine_count)

    @classmethod
    def of(cls, run: Run) -> View:
        """What the player of `run` sees now."""
        view = cls(run.geometry, run.mine_count)
        view.opened, view.flags, view.exploded = run.opened, run.flags, run.exploded
        if run.board is not None:
            one, two, four, eight = run.board.planes
            opened = run.opened
            view.planes = (one & opened, two & opened, four & opened, eight & opened)
        return view

    @property
    def hidden(self) -> Mask:
        """Cells that are not open, flags included."""
        return self.geometry.full & ~(self.opened | self.exploded)

    def number(self, cell: Cell) -> int | None:
        """The number of `cell`, or None when it is not open.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(cell)
        bit = self.geometry.bit[cell]
        if not bit & self.opened:
            return None
        return sum(1 << k for k, plane in enumerate(self.planes) if plane & bit)

    def add(self, revealed: Iterable[tuple[Cell, str]]) -> Mask:
        """Take in segments as `segments` writes them; which cells they revealed.

        A flag on a cell that is now open is gone.

        Raises:
            EngineError: a segment leaves its row or the board, or holds another character.
        """
        shape = self.geometry
        places = [0] * 10
        for start, text in revealed:
            shape.check(start)
            if not text or start % shape.width + len(text) > shape.width:
                raise EngineError(f"the segment at cell {start} does not fit its row")
            for cell, mark in enumerate(text, start):
                kind = "012345678*".find(mark)
                if kind < 0:
                    raise EngineError(f"cell {cell} cannot hold {mark!r}")
                places[kind] |= shape.bit[cell]
        one, two, four, eight = self.planes
        one |= places[1] | places[3] | places[5] | places[7]
        two |= places[2] | places[3] | places[6] | places[7]
        four |= places[4] | places[5] | places[6] | places[7]
        self.planes = one, two, four, eight | places[8]
        *numbered, exploded = places
        opened = 0
        for mask in numbered:
            opened |= mask
        self.opened |= opened
        self.exploded |= exploded
        self.flags &= ~(opened | exploded)
        return opened | exploded

    def flag(self, cell: Cell) -> bool:
        """Set or lift the player's flag on a hidden cell; whether that changed anything.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(cell)
        bit = self.geometry.bit[cell]
        if bit & (self.opened | self.exploded):
            return False
        self.flags ^= bit
        return True
