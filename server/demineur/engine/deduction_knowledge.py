"""What is known at some point of a deduction, and how each kind of reasoning makes it grow.

Law of this module: `Knowledge` grows only by cells that follow from its numbers, and from the
number of mines where a method says so. Flags never enter.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from demineur.engine.board import Planes, number_planes
from demineur.engine.deduction_rules import Found, number_pairs, single_numbers
from demineur.engine.effort import Effort, EffortExceededError
from demineur.engine.enumeration import Reach, certain_by_count
from demineur.engine.errors import EngineError
from demineur.engine.frontier import component, split
from demineur.engine.geometry import Geometry, Mask
from demineur.engine.view import View

NOTHING: Found = (0, 0)

Reaches: TypeAlias = dict[tuple[Mask, Mask], Reach]
"""Enumerated components by their numbers and cells."""


class Rule(StrEnum):
    """The kinds of reasoning, simplest first; each includes those before it."""

    SINGLE = "single"
    """A number has all its mines, or as many hidden cells as mines; again and again."""
    SUBSET = "subset"
    """Two numbers, the hidden cells of one being among those of the other."""
    OVERLAP = "overlap"
    """Two numbers that share some of their hidden cells."""
    ENUMERATION = "enumeration"
    """All layouts that fit a connected group of numbers."""
    COUNT = "count"
    """All layouts that fit the numbers and the number of mines on the board."""


CHEAP_RULES = frozenset({Rule.SINGLE, Rule.SUBSET, Rule.OVERLAP})


class Knowledge:
    """What is known of a board; it grows as rules find cells.

    Attributes:
        geometry: the board's shape.
        mine_count: how many mines there are.
        planes: the numbers, at least of the cells of `numbers`.
        numbers: open cells whose numbers may be used.
        unknown: cells that are neither open nor proved.
        mines: cells proved mined, and mines that exploded.
        safe: cells proved safe that are not open yet.
    """

    __slots__ = ("geometry", "mine_count", "mines", "numbers", "planes", "safe", "unknown")

    def __init__(
        self,
        geometry: Geometry,
        mine_count: int,
        planes: Planes,
        numbers: Mask,
        unknown: Mask,
        mines: Mask,
    ) -> None:
        self.geometry = geometry
        self.mine_count = mine_count
        self.planes = planes
        self.numbers = numbers
        self.unknown = unknown
        self.mines = mines
        self.safe: Mask = 0

    @classmethod
    def of(cls, view: View) -> Knowledge:
        """What `view` shows, before any deduction."""
        return cls(
            view.geometry, view.mine_count, view.planes, view.opened, view.hidden, view.exploded
        )

    def with_numbers(self, numbers: Mask) -> Knowledge:
        """A copy that may use only `numbers`."""
        copy = Knowledge(
            self.geometry, self.mine_count, self.planes, numbers, self.unknown, self.mines
        )
        copy.safe = self.safe
        return copy

    @property
    def lacking(self) -> int:
        """How many mines are among the unknown cells."""
        return self.mine_count - self.mines.bit_count()

    def active(self) -> Mask:
        """The numbers that have an unknown neighbour."""
        return self.numbers & self.geometry.spread(self.unknown)

    def learn(self, safe: Mask, mined: Mask) -> None:
        """Take in cells that a rule proved.

        Raises:
            EngineError: a cell was proved both, so no layout fits.
        """
        if safe & mined:
            raise EngineError("no layout of mines fits the numbers of this view")
        self.safe |= safe
        self.mines |= mined
        self.unknown &= ~(safe | mined)

    def step(self, rule: Rule) -> Found:
        """What one pass of the cheap rules up to `rule` finds; it is not learned yet.

        Pairs are looked at only when no number says anything by itself.
        """
        numbers = self.active()
        if not numbers:
            return NOTHING
        facts = (self.geometry, self.planes, numbers, self.mines, self.unknown)
        found = single_numbers(*facts)
        if rule is Rule.SINGLE or found != NOTHING:
            return found
        return number_pairs(*facts, subset_only=rule is Rule.SUBSET)

    def settle(self, rule: Rule = Rule.OVERLAP) -> None:
        """Learn all that the cheap rules up to `rule` find.

        Raises:
            EngineError: no layout fits.
        """
        found = self.step(rule)
        while found != NOTHING:
            self.learn(*found)
            found = self.step(rule)

    def reach(self, effort: Effort, known: Reaches) -> bool:
        """Make `known` the present components, enumerating new ones; whether all could be.

        Small components come first, so that a huge one does not take the effort of the others.

        Raises:
            EngineError: no layout fits.
            SearchStoppedError: the caller of `effort` wants no more.
        """
        try:
            groups = split(self.geometry, self.active(), self.unknown, effort)
            for gone in known.keys() - groups:
                del known[gone]
            for group in sorted(groups, key=lambda group: group[1].bit_count()):
                if group not in known:
                    laid = component(self.geometry, self.planes, self.mines, group, effort)
                    known[group] = Reach(laid, effort)
        except EffortExceededError:
            return False
        return True

    def by_count(self, known: Reaches) -> Found:
        """What the number of mines adds, when `known` are all present components.

        Raises:
            EngineError: the number of mines fits no layout.
        """
        outside = self.unknown
        for _, cells in known:
            outside &= ~cells
        return certain_by_count(list(known.values()), self.lacking, outside)

    def check(self) -> None:
        """Refuse numbers that are settled and wrong; those in doubt `reach` looks at.

        Raises:
            EngineError: a number differs from the mines around it.
        """
        settled = self.numbers & ~self.geometry.spread(self.unknown)
        counts = number_planes(self.geometry, self.mines)
        if any((plane ^ count) & settled for plane, count in zip(self.planes, counts, strict=True)):
            raise EngineError("no layout of mines fits the numbers of this view")


def conclude(knowledge: Knowledge, rule: Rule, effort: Effort) -> bool:
    """Learn all that `rule` and those before it prove; whether the effort was enough for that.

    Enumerating once is enough: it finds everything that follows from the numbers, so nothing that
    it finds can help another rule.

    Raises:
        EngineError: no layout fits.
        SearchStoppedError: the caller of `effort` wants no more.
    """
    if rule in CHEAP_RULES:
        knowledge.settle(rule)
        return True
    knowledge.settle()
    known: Reaches = {}
    complete = knowledge.reach(effort, known)
    counted = knowledge.by_count(known) if complete and rule is Rule.COUNT else NOTHING
    for reach in known.values():
        knowledge.learn(*reach.alone())
    knowledge.learn(*counted)
    return complete or (rule is Rule.COUNT and _count_settles(knowledge))


def _count_settles(knowledge: Knowledge) -> bool:
    """Whether the unknown cells hold no mine or nothing else; then learn that."""
    if knowledge.lacking == 0:
        knowledge.learn(knowledge.unknown, 0)
    elif knowledge.lacking == knowledge.unknown.bit_count():
        knowledge.learn(0, knowledge.unknown)
    return not knowledge.unknown
