"""Medians of alternatives that are measured in turn, so that noise falls on all of them.

Times are of the processor, not of the wall: all that is measured is computing, and what
else runs on the machine then counts only by the caches that it empties.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

ROUND_NS = 4_000_000
"""A round is repeated until it takes this long: the clock's grain is then below 0.1 %."""

Work = Callable[[], object]


@dataclass(frozen=True)
class Batch:
    """A piece of work that does `things` alike each time it is called."""

    work: Work
    things: int = 1


@dataclass(frozen=True)
class Row:
    """One line of the comparison.

    Attributes:
        name: what is done.
        unit: of the figures.
        ours: this engine's figure.
        others: the figures of what it is measured against, by name.
        goal: the most that `ratio` may be; None where nothing was set.
    """

    name: str
    ours: float
    others: Mapping[str, float] = field(default_factory=dict)
    goal: float | None = None
    unit: str = "us"

    @property
    def ratio(self) -> float | None:
        """Ours by the smallest of the others."""
        return self.ours / min(self.others.values()) if self.others else None


@dataclass(frozen=True)
class Measure:
    """How long to measure: rounds of each alternative."""

    rounds: int = 15

    def medians_us(self, batches: Mapping[str, Batch]) -> dict[str, float]:
        """Microseconds for one thing of each batch."""
        repeats = {name: self._repeats(batch.work) for name, batch in batches.items()}
        taken: dict[str, list[float]] = {name: [] for name in batches}
        enabled = gc.isenabled()
        gc.disable()
        try:
            for _ in range(self.rounds):
                for name, batch in batches.items():
                    spent_ns = self._spent_ns(batch.work, repeats[name])
                    taken[name].append(spent_ns / repeats[name] / batch.things / 1000)
        finally:
            if enabled:
                gc.enable()
        return {name: statistics.median(rounds) for name, rounds in taken.items()}

    def row(
        self, name: str, ours: Batch, others: Mapping[str, Batch], goal: float | None = None
    ) -> Row:
        """The comparison of one thing, as each does it."""
        medians = self.medians_us({"": ours, **others})
        return Row(name, medians.pop(""), medians, goal)

    def each_us(self, works: Sequence[Work]) -> list[float]:
        """The median of every one of `works`, in order."""
        return list(
            self.medians_us({str(at): Batch(work) for at, work in enumerate(works)}).values()
        )

    def _repeats(self, work: Work) -> int:
        work()
        spent_ns = max(1, self._spent_ns(work, 1))
        return max(1, round(ROUND_NS / spent_ns))

    @staticmethod
    def _spent_ns(work: Work, repeats: int) -> int:
        start_ns = time.process_time_ns()
        for _ in range(repeats):
            work()
        return time.process_time_ns() - start_ns
