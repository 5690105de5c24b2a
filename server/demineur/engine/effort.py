"""A bound on work that is counted and never timed, so that the same question has one answer.

Law of this module: whoever is about to do work that can explode says how much first (`spend`),
and stops where there is not so much left. A unit is a move tried in an enumeration, or what costs
about as much: half a microsecond to a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable

from demineur.engine.geometry import Geometry


class EffortExceededError(Exception):
    """Work came to its bound; the question is open."""


class SearchStoppedError(Exception):
    """The caller asked a long enumeration to stop."""


class Effort:
    """How much enumeration may still be done, shared by all that one question needs.

    `limit` is in units of half a microsecond to a microsecond, and up to 0.3 KB while a component
    is being looked at; None is no bound. `should_stop`, when given, is asked before every box.

    Attributes:
        left: what may still be spent; None without a bound.
        spent: what was.
    """

    __slots__ = ("_should_stop", "left", "spent")

    def __init__(self, limit: int | None, should_stop: Callable[[], bool] | None = None) -> None:
        self.left = limit
        self.spent = 0
        self._should_stop = should_stop

    def spend(self, units: int) -> None:
        """Take `units` off what is left.

        Raises:
            EffortExceededError: there is not so much left.
            SearchStoppedError: the caller wants no more.
        """
        if self._should_stop is not None and self._should_stop():
            raise SearchStoppedError
        if self.left is not None:
            if units > self.left:
                raise EffortExceededError
            self.left -= units
        self.spent += units


def mask_units(geometry: Geometry) -> int:
    """What some operations on masks of this size cost: 1 for every level, 16 at the most."""
    return 1 + geometry.stride * geometry.height // 4096
