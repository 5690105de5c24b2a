"""The time of Redis, read from the node's own monotonic clock.

All nodes stamp what players do with the same clock: that of Redis (``TIME``; in a Cluster, of
the one master that holds the nodes' beats). Between round trips the monotonic clock carries
it on, so that a reading costs nothing and steps of the machine's wall clock don't show.

The offset between the two comes from the fastest of the recent round trips: the answer was
made somewhere between question and reply, so an offset is wrong by at most half a round trip.
A better offset is approached at no more than ``SLEW`` of the time that passes, so the clock
never goes backwards and never jumps.
"""

import logging
import time
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)

SLEW = 0.05
"""Share of the passing time by which the clock may run fast or slow."""

WINDOW_NS = 10_000_000_000
"""Round trips older than this say nothing any more: quartz drifts 0.1 to 1 ms in it."""

MAX_SAMPLES = 64
LARGE_GAP_NS = 1_000_000_000


class RedisClock:
    """Milliseconds of Redis's clock. ``now_ms`` is 0-cost, monotone, and never fails."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._samples: deque[tuple[int, int, int]] = deque(maxlen=MAX_SAMPLES)
        self._target_ns = time.time_ns() - monotonic_ns()
        self._from_ns = self._target_ns
        self._since_ns = monotonic_ns()

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

    def sample(self, asked_ns: int, answered_ns: int, redis_us: int, *, step: bool = False) -> None:
        """Take in a round trip: monotonic times of question and reply, ``TIME`` in µs.

        With ``step`` the clock is set, else it is steered: only before its first reader.
        """
        trip_ns = answered_ns - asked_ns
        offset_ns = redis_us * 1000 - (asked_ns + answered_ns) // 2
        while self._samples and answered_ns - self._samples[0][2] > WINDOW_NS:
            self._samples.popleft()
        self._samples.append((trip_ns, offset_ns, answered_ns))
        target_ns = min(self._samples)[1]
        now_ns = self._monotonic_ns()
        self._from_ns = target_ns if step else self._offset_ns(now_ns)
        self._since_ns = now_ns
        if abs(target_ns - self._from_ns) > LARGE_GAP_NS >= abs(self._target_ns - self._from_ns):
            logger.warning(
                "The clock of Redis is now %d ms from ours; ours follows at %d ms a second. "
                "Do the Redis machines keep time (NTP)?",
                (target_ns - self._from_ns) // 1_000_000,
                1000 * SLEW,
            )
        self._target_ns = target_ns

    def _offset_ns(self, monotonic_ns: int) -> int:
        reach_ns = int(max(0, monotonic_ns - self._since_ns) * SLEW)
        gap_ns = self._target_ns - self._from_ns
        return self._from_ns + max(-reach_ns, min(reach_ns, gap_ns))
