"""Which hidden cells are certainly safe and which certainly mined, from what a player sees.

Law of this module: the input is a `View`, flags are never believed, and the answer is exact. The
cells found are safe, or mined, in every layout of mines that fits the open numbers and the number
of mines; when `Deductions.complete` is true they are all that are.

Rules are tried from the simplest to the strongest (`Rule`). The strongest two enumerate, which on
some positions is more work than anyone would wait for; it is bounded by a count of moves tried,
and a question that comes to the bound is answered with what is known and `complete` false.
"""

from __future__ import annotations

from typing import Final

from demineur.engine.deduction_knowledge import Knowledge, Rule, conclude
from demineur.engine.deduction_proof import Proof, first_use, prove
from demineur.engine.effort import Effort
from demineur.engine.geometry import Cell, Mask
from demineur.engine.view import View

__all__ = ["DEFAULT_EFFORT", "Deductions", "Proof", "Rule", "deduce", "hint"]

DEFAULT_EFFORT: Final = 100_000
"""Units of effort spent at most. A position of a level takes a few thousand at the worst."""


class Deductions:
    """What follows from a view, as the view was when it was asked.

    Attributes:
        safe: hidden cells that are certainly safe.
        mines: hidden cells that are certainly mined.
        complete: whether these are all that are certain.
    """

    __slots__ = ("_effort", "_start", "complete", "mines", "safe")

    def __init__(
        self, start: Knowledge, safe: Mask, mines: Mask, complete: bool, effort: int | None
    ) -> None:
        self._start = start
        self._effort = effort
        self.safe = safe
        self.mines = mines
        self.complete = complete

    def proof(self, cell: Cell) -> Proof | None:
        """Why `cell` is certain, by the simplest rule that says so; None when it is not.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self._start.geometry.check(cell)
        bit = self._start.geometry.bit[cell]
        if not bit & (self.safe | self.mines):
            return None
        return prove(self._start, bit, self._effort)


def deduce(
    view: View, *, rule: Rule = Rule.COUNT, effort: int | None = DEFAULT_EFFORT
) -> Deductions:
    """All cells that are certain in `view`, by `rule` and those before it.

    `effort` bounds the enumeration, in moves tried of about a microsecond each; None is no bound.
    With a `rule` before COUNT, `complete` is true only when no cell is left in doubt.

    >>> from demineur.engine.geometry import geometry
    >>> view = View.empty(geometry(5, 3), 3)
    >>> _ = view.add([(5, "12321"), (10, "00000")])
    >>> found = deduce(view)
    >>> print(view.geometry.draw(found.mines))
    . # # # .
    . . . . .
    . . . . .
    >>> print(view.geometry.draw(found.safe))
    # . . . #
    . . . . .
    . . . . .

    Raises:
        EngineError: no layout of mines fits the view.
    """
    start = Knowledge.of(view)
    knowledge = start.with_numbers(start.numbers)
    complete = conclude(knowledge, rule, Effort(effort))
    knowledge.check()
    complete = not knowledge.unknown or (complete and rule is Rule.COUNT)
    return Deductions(start, knowledge.safe, knowledge.mines ^ start.mines, complete, effort)


def hint(view: View, *, effort: int | None = DEFAULT_EFFORT) -> Proof | None:
    """The simplest step that helps: a safe cell, or a mine without a flag, and its proof.

    Safe cells come before mines. None when nothing is certain, or when `effort` was not enough to
    find what is.

    >>> from demineur.engine.geometry import geometry
    >>> view = View.empty(geometry(3, 2), 1)
    >>> _ = view.add([(0, "11")])
    >>> proof = hint(view)
    >>> proof.cell, proof.mine, proof.rule.value, view.geometry.cells_in(proof.numbers)
    (2, False, 'subset', [0, 1])

    Raises:
        EngineError: no layout of mines fits the view.
    """
    start = Knowledge.of(view)
    cell = first_use(start, ~view.flags, effort)
    return prove(start, cell, effort) if cell else None
