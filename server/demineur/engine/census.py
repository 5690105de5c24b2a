"""How many layouts of mines fit a component of the frontier: what chances are made of.

Law of this module: whole numbers only. It walks a component as `enumeration` does, with the
number of layouts in place of yes and no.

Numbers of layouts by mine total are a polynomial, and a polynomial is one int: its value at
``1 << width``, where `width` bits are enough for every coefficient (Kronecker substitution), so
that sums and products of polynomials are sums and products of ints.
"""

from __future__ import annotations

from math import comb

from demineur.engine.effort import Effort
from demineur.engine.errors import EngineError
from demineur.engine.frontier import Component
from demineur.engine.geometry import Mask


class Census:
    """How many layouts a component has, by its mine total, and how many have a mine in a box.

    Attributes:
        component: what was counted.
        width: bits a coefficient.
        layouts: layouts by total, as a polynomial.

    Raises:
        EngineError: no layout fits the numbers.
        EffortExceededError, SearchStoppedError: as `Effort.spend`.
    """

    __slots__ = ("_layers", "component", "layouts", "width")

    def __init__(self, component: Component, effort: Effort) -> None:
        self.component = component
        self.width = width = component.cells.bit_count() + 1
        # A state's polynomial has as many coefficients as it has bits in one.
        weight = 1 + width * width // 4096
        self._layers = layers = [{} if component.overfull else {0: 1}]
        for step in component.steps:
            layer: dict[int, int] = {}
            states = layers[-1]
            effort.spend(len(states) * (step.size + 1) * weight)
            ways = [comb(step.size, mines) for mines in range(step.size + 1)]
            for state, count in states.items():
                entered = state + step.enter
                for mines, drop in step.moves(entered):
                    after = entered - drop
                    layer[after] = layer.get(after, 0) + (count * ways[mines] << width * mines)
            layers.append(layer)
        self.layouts = layers[-1].get(0, 0)
        if not self.layouts:
            raise EngineError("no layout of mines fits the numbers of this view")

    def mined(self) -> list[tuple[Mask, int]]:
        """Each box, and the layouts that have a mine on any one given cell of it, by total."""
        width = self.width
        boxes = []
        ends = {0: 1}
        for step, states in zip(reversed(self.component.steps), self._layers[-2::-1], strict=True):
            here = 0
            starts: dict[int, int] = {}
            ways = [comb(step.size, mines) for mines in range(step.size + 1)]
            with_cell = [comb(step.size - 1, mines - 1) for mines in range(1, step.size + 1)]
            for state, count in states.items():
                onward = through = 0
                entered = state + step.enter
                for mines, drop in step.moves(entered):
                    end = ends.get(entered - drop)
                    if end is not None:
                        onward += end * ways[mines] << width * mines
                        if mines:
                            through += end * with_cell[mines - 1] << width * mines
                if onward:
                    starts[state] = onward
                    if through:
                        here += through * count
            boxes.append((step.cells, here))
            ends = starts
        return boxes


def unpack(polynomial: int, width: int) -> list[int]:
    """The coefficients of a polynomial that is packed `width` bits a coefficient."""
    low = (1 << width) - 1
    found = []
    while polynomial:
        found.append(polynomial & low)
        polynomial >>= width
    return found


def repack(coefficients: list[int], width: int) -> int:
    """The polynomial with these coefficients, packed `width` bits a coefficient."""
    packed = 0
    for coefficient in reversed(coefficients):
        packed = packed << width | coefficient
    return packed
