"""One player's run by the letter of the rules, slowly: sets of cells.

It takes from the engine only the mines of a first tap.
"""

from fractions import Fraction
from itertools import product

from demineur.engine import Layout


class Grid:
    """One player's board and run."""

    def __init__(self, layout: Layout, *, penalty: bool) -> None:
        self.layout = layout
        self.penalty = penalty
        self.width, self.height = layout.geometry.width, layout.geometry.height
        self.mines: set[int] | None = None
        self.open: set[int] = set()
        self.hit: set[int] = set()
        self.flags: set[int] = set()

    def around(self, cell: int) -> set[int]:
        y, x = divmod(cell, self.width)
        near = product(range(y - 1, y + 2), range(x - 1, x + 2))
        inside = {(r, c) for r, c in near if 0 <= r < self.height and 0 <= c < self.width}
        return {r * self.width + c for r, c in inside} - {cell}

    def number(self, cell: int) -> int:
        assert self.mines is not None
        return len(self.around(cell) & self.mines)

    @property
    def safe(self) -> set[int]:
        return set(range(self.width * self.height)) - (self.mines or set())

    @property
    def won(self) -> bool:
        return self.mines is not None and not self.lost and self.open == self.safe

    @property
    def lost(self) -> bool:
        return bool(self.hit) and not self.penalty

    def reaches(self, cell: int) -> set[int]:
        """Return what a tap opens by itself."""
        if self.mines is None:
            return {cell}
        if cell in self.open:
            around = self.around(cell)
            marks = self.flags | self.hit
            ok = len(around & marks) == self.number(cell)
            return around - marks - self.open if ok else set()
        return set() if cell in self.flags | self.hit else {cell}

    def tap(self, cell: int) -> int:
        """Open; return how many mines were hit."""
        if self.mines is None:
            shape = self.layout.geometry
            self.mines = set(shape.cells_in(self.layout.mines_for(cell)))
        todo = self.reaches(cell)
        hit = todo & self.mines
        self.hit |= hit
        todo -= hit
        while todo:
            each = todo.pop()
            if each not in self.open:
                self.open.add(each)
                self.flags.discard(each)
                if self.number(each) == 0:
                    todo |= self.around(each)
        return len(hit)

    @property
    def share(self) -> Fraction:
        """Return the share of 3BV solved."""
        if self.mines is None:
            return Fraction(0)
        zeros = {cell for cell in self.safe if self.number(cell) == 0}
        lone = {cell for cell in self.safe - zeros if not self.around(cell) & zeros}
        solved, total = len(lone & self.open), len(lone)
        while zeros:
            opening, todo = set(), {next(iter(zeros))}
            while todo:
                opening |= todo
                todo = {n for cell in todo for n in self.around(cell) & zeros} - opening
            zeros -= opening
            total += 1
            solved += opening <= self.open
        return Fraction(solved, total)
