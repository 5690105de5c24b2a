"""Why a cell is certain: the simplest rule that says so, and few numbers that are enough for it.

Law of this module: a `Proof` stands by itself. Its numbers alone prove its cell by its rule, and
none of them can be left out (unless the effort ran out while that was being tried). A proof by
Rule.COUNT also takes in all that the other rules prove, as a player does who reads the mine
counter; else it would name every number that places a mine anywhere on the board.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from demineur.engine.deduction_knowledge import CHEAP_RULES, NOTHING, Knowledge, Rule, conclude
from demineur.engine.effort import Effort
from demineur.engine.geometry import Cell, Mask


@dataclass(frozen=True, slots=True)
class Proof:
    """Why one cell is certain.

    Attributes:
        cell: the cell.
        mine: whether it is certainly mined, or else certainly safe.
        rule: the simplest rule that proves it.
        numbers: open cells whose numbers prove it; with Rule.COUNT, together with how many mines
            are left, and then it may be empty.
        safe: everything that these numbers prove safe by this rule.
        mines: everything that they prove mined.
    """

    cell: Cell
    mine: bool
    rule: Rule
    numbers: Mask
    safe: Mask
    mines: Mask


def prove(start: Knowledge, bit: Mask, effort: int | None) -> Proof | None:
    """The proof of the cell of `bit` from `start`; None when `effort` was not enough for it."""
    for rule in Rule:
        if bit & ~_concluded(start, start.numbers, rule, Effort(effort)).unknown:
            break
    else:
        return None
    if rule is Rule.COUNT:
        start = _concluded(start, start.numbers, Rule.ENUMERATION, Effort(effort))
    work = Effort(effort)

    def enough(numbers: Mask) -> bool:
        return bool(bit & ~_concluded(start, numbers, rule, work).unknown)

    numbers = _least(_near(start, bit, enough), enough)
    end = _concluded(start, numbers, rule, Effort(effort))
    at = bit.bit_length() - 1
    return Proof(
        cell=at - at // start.geometry.stride,
        mine=bool(bit & end.mines),
        rule=rule,
        numbers=numbers,
        safe=end.safe & ~start.safe,
        mines=end.mines & ~start.mines,
    )


def first_use(start: Knowledge, wanted: Mask, effort: int | None) -> Mask:
    """A cell that the fewest steps of the simplest rule prove, as a mask; 0 when there is none.

    Safe cells come before mines, and a mine counts only when it is in `wanted`.
    """
    for rule in Rule:
        knowledge = start.with_numbers(start.numbers)
        found = knowledge.step(rule) if rule in CHEAP_RULES else NOTHING
        while found != NOTHING:
            cells = found[0] or found[1] & wanted
            if cells:
                return cells & -cells
            knowledge.learn(*found)
            found = knowledge.step(rule)
        if rule not in CHEAP_RULES:
            conclude(knowledge, rule, Effort(effort))
            cells = knowledge.safe or knowledge.mines & ~start.mines & wanted
            if cells:
                return cells & -cells
    return 0


def _concluded(start: Knowledge, numbers: Mask, rule: Rule, effort: Effort) -> Knowledge:
    knowledge = start.with_numbers(numbers)
    conclude(knowledge, rule, effort)
    return knowledge


def _near(start: Knowledge, bit: Mask, enough: Callable[[Mask], bool]) -> list[Mask]:
    """Single numbers that are enough together: the nearest of the cell of `bit`, ring by ring."""
    spread = start.geometry.spread
    numbers = ring = start.numbers & spread(bit)
    near = _apart(ring)
    while not enough(numbers):
        ring = start.numbers & spread(spread(numbers) & start.unknown) & ~numbers
        if not ring:
            return near + _apart(start.active() & ~numbers)
        numbers |= ring
        near += _apart(ring)
    return near


def _least(numbers: list[Mask], enough: Callable[[Mask], bool]) -> Mask:
    """A subset of `numbers` that is enough and of which nothing can be left out.

    It is tried to leave out all, halves, quarters and so on, the last ones first. One round for
    each size will do: what was needed among more numbers is needed among fewer.
    """
    size = len(numbers)
    while size:
        end = len(numbers)
        while end > 0:
            fewer = numbers[: max(end - size, 0)] + numbers[end:]
            if enough(sum(fewer)):
                numbers = fewer
            end -= size
        size //= 2
    return sum(numbers)


def _apart(mask: Mask) -> list[Mask]:
    """The cells of `mask`, each as a mask."""
    cells = []
    while mask:
        bit = mask & -mask
        mask ^= bit
        cells.append(bit)
    return cells
