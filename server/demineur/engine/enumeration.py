"""All layouts of mines that fit a component of the frontier, without listing them one by one.

Law of this module: exact or not at all. A component is walked box by box, and layouts that leave
the same state (what each half-finished number still lacks) are kept together, so the work is
states times moves and not layouts. For each state it is kept which mine totals lead to it, which
is all that certainty needs (`census` keeps how many layouts do). Work is bounded by an `Effort`.
"""

from __future__ import annotations

from typing import Final

from demineur.engine.effort import Effort
from demineur.engine.errors import EngineError
from demineur.engine.frontier import Component
from demineur.engine.geometry import Mask

ANY_TOTAL: Final = -1
"""The set of all mine totals, as a bitset."""


class Reach:
    """Which mine totals a component can have, and what each box can hold.

    A set of totals is a bitset: bit t for t mines in the component.

    Raises:
        EngineError: no layout fits the numbers.
        EffortExceededError, SearchStoppedError: as `Effort.spend`.
    """

    __slots__ = ("_alone", "_layers", "component", "totals")

    def __init__(self, component: Component, effort: Effort) -> None:
        self.component = component
        self._layers = layers = [{} if component.overfull else {0: 1}]
        for step in component.steps:
            layer: dict[int, int] = {}
            states = layers[-1]
            effort.spend(len(states) * (step.size + 1))
            for state, totals in states.items():
                entered = state + step.enter
                for mines, drop in step.moves(entered):
                    after = entered - drop
                    layer[after] = layer.get(after, 0) | totals << mines
            layers.append(layer)
        self.totals = layers[-1].get(0, 0)
        if not self.totals:
            raise EngineError("no layout of mines fits the numbers of this view")
        self._alone: tuple[Mask, Mask] | None = None

    def alone(self) -> tuple[Mask, Mask]:
        """Cells safe and cells mined in every layout; found once and kept."""
        if self._alone is None:
            self._alone = self.certain(ANY_TOTAL)
        return self._alone

    def certain(self, allowed: int) -> tuple[Mask, Mask]:
        """Cells safe and cells mined in every layout whose total is in `allowed`.

        Raises:
            EngineError: no layout has such a total.
        """
        safe = mined = 0
        ends = {0: allowed}
        for step, states in zip(reversed(self.component.steps), self._layers[-2::-1], strict=True):
            held = 0
            starts: dict[int, int] = {}
            for state, totals in states.items():
                leads_on = 0
                entered = state + step.enter
                for mines, drop in step.moves(entered):
                    onward = ends.get(entered - drop, 0) >> mines
                    if onward:
                        leads_on |= onward
                        if totals & onward:
                            held |= 1 << mines
                if leads_on:
                    starts[state] = leads_on
            if not held:
                raise EngineError("no layout of mines fits the numbers of this view")
            if held == 1:
                safe |= step.cells
            elif held == 1 << step.size:
                mined |= step.cells
            ends = starts
        return safe, mined


def certain_by_count(reaches: list[Reach], lacking: int, outside: Mask) -> tuple[Mask, Mask]:
    """What the number of mines adds to what components say by themselves: safe, mined.

    `reaches` are all components of a position, `lacking` the mines that are in them or in
    `outside`, the unknown cells that no number touches. Cells that are certain without the number
    of mines may be among those found.

    Raises:
        EngineError: the mines are too few or too many for the numbers.
    """
    room = outside.bit_count()
    totals = [reach.totals for reach in reaches]
    most = sum(total.bit_length() - 1 for total in totals)
    least = sum((total & -total).bit_length() - 1 for total in totals)
    if most < lacking < least + room:
        return 0, 0
    others, everything = _sums_of_others(totals)
    outside_can = (1 << room + 1) - 1
    left = _mirror(everything, lacking) & outside_can
    if not left:
        raise EngineError("the number of mines does not fit the numbers of this view")
    safe = outside if left == 1 else 0
    mined = outside if left == 1 << room else 0
    for reach, other in zip(reaches, others, strict=True):
        allowed = _mirror(_sums(other, outside_can), lacking)
        if reach.totals & ~allowed:
            here = reach.certain(allowed)
            safe |= here[0]
            mined |= here[1]
    return safe, mined


def _sums(left: int, right: int) -> int:
    """Every total of `left` plus a total of `right`."""
    if left.bit_count() > right.bit_count():
        left, right = right, left
    sums = 0
    while left:
        bit = left & -left
        left ^= bit
        sums |= right * bit
    return sums


def _sums_of_others(totals: list[int]) -> tuple[list[int], int]:
    """For each component the possible totals of all others together; and those of all."""
    before, after = [1], [1]
    for own in totals:
        before.append(_sums(before[-1], own))
    for own in reversed(totals):
        after.append(_sums(after[-1], own))
    others = [_sums(*both) for both in zip(before[:-1], after[-2::-1], strict=True)]
    return others, before[-1]


def _mirror(totals: int, lacking: int) -> int:
    """``lacking - t`` for every total t that is not above `lacking`."""
    if lacking < 0:
        return 0
    kept = totals & (1 << lacking + 1) - 1
    return int(f"{kept:0{lacking + 1}b}"[::-1], 2)
