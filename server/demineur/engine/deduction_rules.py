"""The cheap rules of deduction, for all numbers of a board at once.

Law of this module: a rule here is sound by itself, looks at one number or at two, and works on
the whole board by bit planes; what needs more than two numbers is in `enumeration`. Nothing here
knows a mine that deduction has not proved.

With the mines still lacking around a number A written ``a``, two rules say all that one number
and two numbers can say:

- one number: ``a`` is 0, and all its unknown neighbours are safe; or ``a`` is how many unknown
  neighbours it has, and all of them are mines;
- two numbers, A and B: ``b - a`` is how many unknown cells only B touches. Then B can only have
  so many more when all cells that only B touches are mines and all that only A touches are safe.
  (When either side is empty, one number's cells are a subset of the other's.)

That nothing else follows from a pair: with x, y, z mines in the three parts, x + y = a and
y + z = b leave y an interval, and a part is settled only where an end of that interval meets the
part's own bound; the cases that are left when no single number settles it are the ones above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

from demineur.engine.board import Planes, number_planes
from demineur.engine.geometry import Geometry, Mask

Found: TypeAlias = tuple[Mask, Mask]
"""Cells proved safe, cells proved mined."""


def single_numbers(
    geometry: Geometry, planes: Planes, numbers: Mask, mines: Mask, unknown: Mask
) -> Found:
    """What each number says alone. Two whole-board counts: about twice `number_planes`.

    `planes` hold the numbers, at least where `numbers` has a cell; `mines` are the known mines
    and `unknown` the cells that are neither open nor known.
    """
    one, two, four, eight = planes
    m1, m2, m4, m8 = number_planes(geometry, mines)
    t1, t2, t4, t8 = number_planes(geometry, mines | unknown)
    sated = numbers & ~(one ^ m1 | two ^ m2 | four ^ m4 | eight ^ m8)
    full = numbers & ~(one ^ t1 | two ^ t2 | four ^ t4 | eight ^ t8)
    return (
        geometry.spread(sated) & unknown if sated else 0,
        geometry.spread(full) & unknown if full else 0,
    )


def number_pairs(
    geometry: Geometry,
    planes: Planes,
    numbers: Mask,
    mines: Mask,
    unknown: Mask,
    *,
    subset_only: bool = False,
) -> Found:
    """What two numbers say together, for all pairs; `single_numbers` must have nothing to say.

    `numbers` must have an unknown neighbour each. With `subset_only`, only pairs of which one
    number's unknown cells are a subset of the other's. One pass over the 24 offsets at which two
    numbers share a neighbour, 20 to 60 operations each.
    """
    lack1, lack2, lack4 = _lacking(geometry, planes, numbers, mines)
    safe = mined = 0
    for pair in _pairs(geometry):
        offset = pair.offset
        hit = numbers & pair.inside & _ahead(numbers, offset)
        if not hit:
            continue
        hit = _differing_by_own(pair, hit, unknown, (lack1, lack2, lack4))
        if hit and subset_only:
            hit &= ~(_any_ahead(unknown, pair.only_a) & _any_ahead(unknown, pair.only_b))
        if hit:
            for step in pair.only_a:
                safe |= _ahead(hit, -step)
            for step in pair.only_b:
                mined |= _ahead(hit, -step)
    return safe & unknown, mined & unknown


class _Pair(NamedTuple):
    """Where B stands from A, and the cells that only one of them touches, all as shifts from A."""

    inside: Mask
    offset: int
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]


@lru_cache(maxsize=64)
def _pairs(geometry: Geometry) -> tuple[_Pair, ...]:
    stride, width, height = geometry.stride, geometry.width, geometry.height
    near = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]
    pairs = []
    for down in range(-2, 3):
        for right in range(-2, 3):
            # Two columns away a shift would carry from one row into the next, past the guard.
            columns = [at for at in range(width) if 0 <= at + right < width]
            if (down, right) == (0, 0) or not columns:
                continue
            line = sum(1 << at for at in columns)
            inside = sum(line << stride * row for row in range(height))
            ends = {(0, 0), (down, right)}
            of_a = set(near) - ends
            of_b = {(down + row, right + column) for row, column in near} - ends
            only_a, only_b = (
                tuple(sorted(stride * row + column for row, column in cells))
                for cells in (of_a - of_b, of_b - of_a)
            )
            pairs.append(_Pair(inside, stride * down + right, only_a, only_b))
    return tuple(pairs)


def _ahead(mask: Mask, shift: int) -> Mask:
    """The cells from which the cell `shift` bits ahead is in `mask`."""
    return mask >> shift if shift >= 0 else mask << -shift


def _any_ahead(mask: Mask, shifts: tuple[int, ...]) -> Mask:
    found = 0
    for shift in shifts:
        found |= _ahead(mask, shift)
    return found


def _lacking(
    geometry: Geometry, planes: Planes, numbers: Mask, mines: Mask
) -> tuple[Mask, Mask, Mask]:
    """Numbers less the known mines around them, as three planes.

    Three are enough: a number that lacks eight is settled by itself.
    """
    one, two, four, _ = planes
    m1, m2, m4, _ = number_planes(geometry, mines)
    borrow = m1 & ~one
    differ = two ^ m2
    return (
        (one ^ m1) & numbers,
        (differ ^ borrow) & numbers,
        (four ^ m4 ^ (m2 & ~two | borrow & ~differ)) & numbers,
    )


def _differing_by_own(
    pair: _Pair, hit: Mask, unknown: Mask, lacking: tuple[Mask, Mask, Mask]
) -> Mask:
    """Those A of `hit` for which ``a`` and B's own unknown cells add up to ``b``."""
    lack1, lack2, lack4 = lacking
    sum1, sum2, sum4, over = lack1 & hit, lack2 & hit, lack4 & hit, 0
    for shift in pair.only_b:
        own = (unknown >> shift if shift >= 0 else unknown << -shift) & hit
        if own:
            carry = sum1 & own
            sum1 ^= own
            own = sum2 & carry
            sum2 ^= carry
            over |= sum4 & own
            sum4 ^= own
    offset = pair.offset
    differ = sum1 ^ _ahead(lack1, offset) | sum2 ^ _ahead(lack2, offset)
    return hit & ~(differ | sum4 ^ _ahead(lack4, offset) | over)
