"""The time of Redis, read from the node's own monotonic clock.

All nodes stamp what players do with the same clock: that of Redis (``TIME``; in a Cluster, of
the one master that holds the nodes' beats). Between round trips the monotonic clock carries
it on, so that a reading costs nothing and steps of the machine's wall clock don't show.

The offset between the two comes from the fastest of the recent round trips: the answer was
made somewhere between question and reply, so an offset is wrong by at most half a round trip.
A better offset is approached at no more than ``SLEW`` of the time that passes, so the clock
never goes backwards and never jumps.
"""

import time
from collections import deque
from collections.abc import Callable

SLEW = 0.05
"""Share of the passing time by which the clock may run fast or slow."""

WINDOW_NS = 10_000_000_000
"""Round trips older than this say nothing any more: quartz drifts 0.1 to 1 ms in it."""

MAX_SAMPLES = 64


class RedisClock:
    """Milliseconds of Redis's clock. ``now_ms`` is 0-cost, monotone, and never fails."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._samples: deque[tuple[int, int, int]] = deque(maxlen=MAX_SAMPLES)
        self._target_ns = time.time_ns() - monotonic_ns()
        self._from_ns = self._target_ns
        self._since_ns = monotonic_ns()
        self.synchronised = False
        """Whether Redis was asked yet; until then it is the machine's own clock."""

    def now_ms(self) -> int:
        """Return the time of Redis now, in ms since 1970."""
        return self.at(self._monotonic_ns())

    def at(self, monotonic_ns: int) -> int:
        """Return the time of Redis at a reading of ``time.monotonic_ns``, past or present."""
        return (monotonic_ns + self._offset_ns(monotonic_ns)) // 1_000_000

    @property
    def error_ms(self) -> float:
        """How wrong the clock can be: half the fastest round trip, and what is not slewed yet."""
        if not self._samples:
            return float("inf")
        unslewed = abs(self._target_ns - self._offset_ns(self._monotonic_ns()))
        return (min(sample[0] for sample in self._samples) / 2 + unslewed) / 1e6

    def sample(self, asked_ns: int, answered_ns: int, redis_us: int) -> None:
        """Take in a round trip: monotonic times of question and reply, ``TIME`` in µs.

        The first sample sets the clock, later ones steer it.
        """
        trip_ns = answered_ns - asked_ns
        offset_ns = redis_us * 1000 - (asked_ns + answered_ns) // 2
        while self._samples and answered_ns - self._samples[0][2] > WINDOW_NS:
            self._samples.popleft()
        self._samples.append((trip_ns, offset_ns, answered_ns))
        self._steer(min(self._samples)[1])

    def _steer(self, target_ns: int) -> None:
        now_ns = self._monotonic_ns()
        self._from_ns = self._offset_ns(now_ns) if self.synchronised else target_ns
        self._since_ns = now_ns
        self._target_ns = target_ns
        self.synchronised = True

    def _offset_ns(self, monotonic_ns: int) -> int:
        reach_ns = int(max(0, monotonic_ns - self._since_ns) * SLEW)
        gap_ns = self._target_ns - self._from_ns
        return self._from_ns + max(-reach_ns, min(reach_ns, gap_ns))
