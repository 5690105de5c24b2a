"""The mine probability of every hidden cell, exactly.

Law of this module: chances are ratios of whole numbers of layouts, and become floats only when
they are read. A layout is a way to put the mines that fits the open numbers and the number of
mines; all layouts are equally likely, since the mines of a seed are a uniform choice among the
cells that its first tap leaves, and those that it protects are open.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Final

from demineur.engine.census import Census, repack, unpack
from demineur.engine.deduction_knowledge import Knowledge
from demineur.engine.effort import Effort, EffortExceededError
from demineur.engine.errors import EngineError
from demineur.engine.frontier import component, split
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.view import View

CHANCE_EFFORT: Final = 300_000
"""Units of effort spent at most: twice what the worst of 4,000 positions of 30 x 16 with 99 or
16 x 16 with 51 mines took, which was 40 ms. Positions of the levels stay far below it."""


class Chances:
    """How likely each hidden cell of a view is to hold a mine.

    Attributes:
        geometry: the board's shape.
        layouts: how many layouts fit the view; a whole number, often of hundreds of digits.
    """

    __slots__ = ("_groups", "geometry", "layouts")

    def __init__(self, geometry: Geometry, layouts: int, groups: list[tuple[Mask, int]]) -> None:
        """`groups` are the hidden cells, each with the layouts that have a mine on a given cell."""
        self.geometry = geometry
        self.layouts = layouts
        self._groups = groups

    def of(self, cell: Cell) -> float:
        """The chance of a mine on a hidden cell, 0.0 to 1.0, correctly rounded.

        Raises:
            CellOffBoardError: the cell is not on the board.
            EngineError: it is open.
        """
        return self._with_mine(cell) / self.layouts

    def ratio(self, cell: Cell) -> Fraction:
        """The chance of a mine on a hidden cell, exactly. Errors as `of`."""
        return Fraction(self._with_mine(cell), self.layouts)

    def values(self) -> list[float | None]:
        """The chance of a mine for every cell of the board, None for open ones."""
        chances: list[float | None] = [None] * self.geometry.cells
        for cells, mined in self._groups:
            chance = mined / self.layouts
            for cell in self.geometry.cells_in(cells):
                chances[cell] = chance
        return chances

    def safest(self) -> tuple[Mask, float]:
        """The hidden cells least likely to hold a mine, and how likely they are.

        No cells, and 1.0, when none is hidden.
        """
        least = min((mined for _, mined in self._groups), default=self.layouts)
        cells = 0
        for group, mined in self._groups:
            if mined == least:
                cells |= group
        return cells, least / self.layouts

    def _with_mine(self, cell: Cell) -> int:
        self.geometry.check(cell)
        bit = self.geometry.bit[cell]
        for cells, mined in self._groups:
            if cells & bit:
                return mined
        raise EngineError(f"cell {cell} is open and has no chance")


def mine_chances(view: View, *, effort: int | None = CHANCE_EFFORT) -> Chances | None:
    """The chances of every hidden cell; None when enumerating takes more than `effort`.

    `effort` is in units of a quarter to half a microsecond; None is no bound.

    >>> from demineur.engine.geometry import geometry
    >>> view = View.empty(geometry(3, 2), 2)
    >>> _ = view.add([(0, "1")])
    >>> [mine_chances(view).ratio(cell) for cell in (1, 2)]
    [Fraction(1, 3), Fraction(1, 2)]

    Raises:
        EngineError: no layout of mines fits the view.
    """
    knowledge = Knowledge.of(view)
    knowledge.settle()
    knowledge.check()
    facts = (knowledge.geometry, knowledge.planes, knowledge.mines)
    work = Effort(effort)
    try:
        censuses = [
            Census(component(*facts, group, work), work)
            for group in split(knowledge.geometry, knowledge.active(), knowledge.unknown, work)
        ]
    except EffortExceededError:
        return None
    outside = knowledge.unknown
    for census in censuses:
        outside &= ~census.component.cells
    layouts, groups = _weigh(censuses, knowledge.lacking, outside)
    groups.append((knowledge.safe, 0))
    groups.append((knowledge.mines & ~view.exploded, layouts))
    return Chances(view.geometry, layouts, [group for group in groups if group[0]])


def _weigh(
    censuses: list[Census], lacking: int, outside: Mask
) -> tuple[int, list[tuple[Mask, int]]]:
    """All layouts of the board, and for each group of like cells those with a mine on a cell.

    `lacking` mines are in the components and `outside` them.
    """
    room = outside.bit_count()
    frontier = sum(census.component.cells.bit_count() for census in censuses)
    # Every coefficient is at most the number of subsets of the frontier.
    width = frontier + 1
    own = [repack(unpack(census.layouts, census.width), width) for census in censuses]
    everything = 1
    for layouts in own:
        everything *= layouts
    # ways[t]: layouts of the outside when the components hold t mines.
    ways = [_choose(room, lacking - total) for total in range(frontier + 1)]
    total = _dot(unpack(everything, width), ways)
    if not total:
        raise EngineError("the number of mines does not fit the numbers of this view")
    groups = []
    for census, layouts in zip(censuses, own, strict=True):
        others = unpack(everything // layouts, width)
        rest = [_dot(others, ways[held:]) for held in range(census.component.cells.bit_count() + 1)]
        for cells, mined in census.mined():
            groups.append((cells, _dot(unpack(mined, census.width), rest)))
    with_mine = [_choose(room - 1, lacking - total - 1) for total in range(frontier + 1)]
    groups.append((outside, _dot(unpack(everything, width), with_mine) if room else 0))
    return total, groups


def _choose(cells: int, mines: int) -> int:
    return comb(cells, mines) if 0 <= mines <= cells else 0


def _dot(counts: list[int], weights: list[int]) -> int:
    return sum(
        count * weight for count, weight in zip(counts, weights, strict=False) if count and weight
    )
