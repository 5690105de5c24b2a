"""Connected regions of cells, by whole-board operations on bitsets.

Zeros of a board are connected when they touch by a side or by a corner; each such
region is an *opening*.
"""

from __future__ import annotations

from demineur.engine.geometry import Geometry, Mask


def flood(geometry: Geometry, seed: Mask, within: Mask) -> Mask:
    """All cells of `within` that are connected to `seed` by sides or corners.

    `seed` must lie in `within`. One step of eight operations for each ring of cells, so
    the cost is that of the longest shortest way inside.
    """
    stride = geometry.stride
    reached = seed
    while True:
        rows = reached | reached << 1 | reached >> 1
        grown = (rows | rows << stride | rows >> stride) & within
        if grown == reached:
            return reached
        reached = grown


def count_regions(geometry: Geometry, mask: Mask) -> int:
    """How many regions `mask` has, connected by sides or corners."""
    count = 0
    while mask:
        mask ^= flood(geometry, mask & -mask, mask)
        count += 1
    return count
