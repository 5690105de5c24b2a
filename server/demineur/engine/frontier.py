"""The frontier: the hidden cells that open numbers speak about, cut into independent components.

Law of this module: it only arranges. A `Component` is a connected group of numbers and the
unknown cells around them, laid out as a sequence of steps that `enumeration` walks; nothing here
decides what is safe or mined.

Cells of a component that touch the very same numbers are interchangeable, so they form one *box*
and only how many mines it holds matters. The boxes are put in an order that keeps few numbers
half-finished at any time (a breadth-first walk from a far end, as in the Cuthill-McKee ordering
of sparse matrices), because the work of an enumeration grows with the variety of half-finished
numbers and not with the number of cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from demineur.engine.board import Planes
from demineur.engine.effort import Effort, mask_units
from demineur.engine.geometry import Geometry, Mask

FIELD_BITS: Final = 5
"""Bits of one number in a state: what it lacks, 0 to 8, and a guard bit above that."""

_GUARD: Final = 1 << (FIELD_BITS - 1)
_FIELD: Final = (1 << FIELD_BITS) - 1

Move: TypeAlias = tuple[int, int]
"""A choice for a box: the mines put into it, and what this takes off the state."""


class Step:
    """One box, and what mines in it do to the numbers around it.

    A *state* is one int with `FIELD_BITS` bits for each half-finished number: the mines that it
    still lacks. A number takes a free field at its first box and gives it back, empty, at its
    last, so that states stay short however large the component is.

    Attributes:
        cells: the box.
        size: how many cells it has.
        enter: what to add to a state first, for the numbers that begin with this box.
        fields: the bits of a state that the box can change.
    """

    __slots__ = ("_caps", "_delta", "_guards", "_memo", "cells", "enter", "fields", "size")

    def __init__(self, cells: Mask, enter: int, fields: list[int], room: list[int]) -> None:
        """`fields` are those of the box's numbers; `room`, how many cells each has after it."""
        shifts = [FIELD_BITS * field for field in fields]
        self.cells = cells
        self.size = cells.bit_count()
        self.enter = enter
        self._delta = sum(1 << shift for shift in shifts)
        self._guards = self._delta * _GUARD
        self.fields = self._delta * _FIELD
        self._caps = sum(_GUARD + left << shift for left, shift in zip(room, shifts, strict=True))
        self._memo: dict[int, tuple[Move, ...]] = {}

    def moves(self, state: int) -> tuple[Move, ...]:
        """Every number of mines that the box can take in an entered `state`, fewest first."""
        around = state & self.fields
        found = self._memo.get(around)
        if found is None:
            found = self._memo[around] = tuple(self._choices(around))
        return found

    def _choices(self, around: int) -> Iterator[Move]:
        # No field borrows from the next: with its guard bit it is 16 or more and loses 8 at
        # most, so a guard bit that went out says that this field alone fell below zero.
        guards = self._guards
        for mines in range(self.size + 1):
            drop = mines * self._delta
            left = (around | guards) - drop
            if left & guards != guards:
                return
            if (self._caps - (left ^ guards)) & guards == guards:
                yield mines, drop


class Component:
    """A connected group of the frontier, ready to be enumerated.

    A layout of mines fits the numbers exactly when its moves lead from state 0, through all
    steps, back to 0.

    Attributes:
        numbers: the open numbers.
        cells: the unknown cells.
        steps: the boxes, in order.
        overfull: whether a number has more known mines around it than it says, so that no layout
            fits.
    """

    __slots__ = ("cells", "numbers", "overfull", "steps")

    def __init__(self, numbers: Mask, cells: Mask, steps: list[Step], overfull: bool) -> None:
        self.numbers = numbers
        self.cells = cells
        self.steps = steps
        self.overfull = overfull


def split(
    geometry: Geometry, numbers: Mask, unknown: Mask, effort: Effort
) -> list[tuple[Mask, Mask]]:
    """The connected groups, each as its numbers and its cells, by lowest cell.

    Two numbers are connected when they share an unknown cell; numbers without an unknown
    neighbour are in no group. A unit of effort a group on boards up to Marathon.

    Raises:
        EffortExceededError, SearchStoppedError: as `Effort.spend`.
    """
    spread, units = geometry.spread, mask_units(geometry)
    frontier = spread(numbers) & unknown
    groups = []
    while frontier:
        cells, reached, members = frontier & -frontier, 0, 0
        while cells != reached:
            reached = cells
            members = spread(cells) & numbers
            cells = spread(members) & frontier
        effort.spend(units)
        groups.append((members, cells))
        frontier ^= cells
    return groups


def component(
    geometry: Geometry, planes: Planes, mines: Mask, group: tuple[Mask, Mask], effort: Effort
) -> Component:
    """Lay out a group that `split` gave; 3 to 6 µs for each number.

    `planes` hold the numbers, `mines` are the known mines. Ten units of effort a number on
    boards up to Marathon.

    Raises:
        EffortExceededError, SearchStoppedError: as `Effort.spend`.
    """
    numbers, cells = group
    effort.spend(numbers.bit_count() * 10 * mask_units(geometry))
    one, two, four, eight = planes
    stride, square = geometry.stride, geometry.square
    touching: dict[Mask, int] = {}
    lacking: list[int] = []
    rest = numbers
    while rest:
        bit = rest & -rest
        rest ^= bit
        at = bit.bit_length() - 1
        around = square[at - at // stride]
        value = (one >> at & 1) + 2 * (two >> at & 1) + 4 * (four >> at & 1) + 8 * (eight >> at & 1)
        here = around & cells
        flag = 1 << len(lacking)
        lacking.append(value - (around & mines).bit_count())
        while here:
            cell = here & -here
            here ^= cell
            touching[cell] = touching.get(cell, 0) | flag
    boxes: dict[int, Mask] = {}
    for cell, signature in touching.items():
        boxes[signature] = boxes.get(signature, 0) | cell
    overfull = min(lacking) < 0
    return Component(numbers, cells, [] if overfull else _steps(boxes, lacking), overfull)


def _steps(boxes: dict[int, Mask], lacking: list[int]) -> list[Step]:
    """The boxes, keyed by the set of numbers that touch them, in order of elimination."""
    touched = {signature: _members(signature) for signature in boxes}
    by_number: list[list[int]] = [[] for _ in lacking]
    room = [0] * len(lacking)
    for signature, numbers in touched.items():
        for number in numbers:
            by_number[number].append(signature)
            room[number] += boxes[signature].bit_count()
    steps = []
    field: dict[int, int] = {}
    free: list[int] = []
    for signature in reversed(_walk(by_number, touched, _walk(by_number, touched, None)[-1])):
        enter, numbers = 0, touched[signature]
        for number in numbers:
            room[number] -= boxes[signature].bit_count()
            if number not in field:
                field[number] = free.pop() if free else len(field)
                enter += lacking[number] << FIELD_BITS * field[number]
        steps.append(
            Step(boxes[signature], enter, [field[n] for n in numbers], [room[n] for n in numbers])
        )
        free += [field[number] for number in numbers if not room[number]]
    return steps


def _walk(
    by_number: list[list[int]], touched: dict[int, list[int]], first: int | None
) -> list[int]:
    """All boxes breadth-first, number by number, from the box `first` (or any); narrow ones first.

    The last one is a far end of the component.
    """
    first = next(iter(touched)) if first is None else first
    seen = {first}
    walked = [first]
    for box in walked:
        for number in touched[box]:
            new = [other for other in by_number[number] if other not in seen]
            new.sort(key=int.bit_count)
            seen.update(new)
            walked += new
    return walked


def _members(signature: int) -> list[int]:
    """The positions of the bits of `signature`, ascending."""
    members = []
    while signature:
        bit = signature & -signature
        signature ^= bit
        members.append(bit.bit_length() - 1)
    return members
