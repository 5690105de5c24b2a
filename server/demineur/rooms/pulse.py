"""``Pulse``: how well this node is: late event loops, stalls of its own, and overload.

A node that was paused, or whose event loop was held up, has failed its players for that time
(R19): the gap is measured here and credited. A node that is merely behind refuses new rooms
and players until it has caught up, and keeps serving those who play.
"""

import asyncio
from collections.abc import Callable
from time import monotonic_ns

INTERVAL_MS = 50
GAP_MS = 500
"""A turn of the event loop later than this is a failure and not just load."""
BEHIND_MS = 100
"""Lateness at which a client that sent several moves at once is answered only the first."""
BUSY_BACKLOG = 0.5
FULL_BACKLOG = 0.9
"""Shares of the store's queue; what nobody asked for, deadlines and outages, has the rest."""
_SMOOTHING = 0.1


class Pulse:
    """Beats every 50 ms while it runs."""

    def __init__(
        self, on_gap: Callable[[int], None], backlog: Callable[[], float], busy_lag_ms: float
    ) -> None:
        """``backlog`` tells how full the store's queue is, from 0 to 1.

        ``busy_lag_ms``: the smoothed lateness above which nobody new should be let in.
        """
        self.lag_ms = 0.0
        """Smoothed lateness of the event loop."""
        self._on_gap = on_gap
        self._backlog = backlog
        self._busy_lag_ms = busy_lag_ms
        self._expected_ns = 0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to beat."""
        self._expect()

    def stop(self) -> None:
        """Stop beating."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def is_overloaded(self) -> bool:
        """Whether nobody new should be let in."""
        return self.lag_ms > self._busy_lag_ms or self._backlog() > BUSY_BACKLOG

    @property
    def is_full(self) -> bool:
        """Whether moves must be refused too: the store is about to take no more."""
        return self._backlog() > FULL_BACKLOG

    def is_behind(self, now_ns: int) -> bool:
        """Whether more has come in than can be worked off at once. O(1), and never smoothed."""
        return now_ns - self._expected_ns > BEHIND_MS * 1_000_000

    def check(self, now_ns: int) -> None:
        """Notice a gap before anything that arrived after it is worked on. O(1)."""
        late_ms = (now_ns - self._expected_ns) // 1_000_000
        if late_ms > GAP_MS and self._timer is not None:
            self._expected_ns = now_ns
            self._on_gap(late_ms)

    def _expect(self) -> None:
        self._expected_ns = monotonic_ns() + INTERVAL_MS * 1_000_000
        self._timer = asyncio.get_running_loop().call_later(INTERVAL_MS / 1000, self._beat)

    def _beat(self) -> None:
        now_ns = monotonic_ns()
        late_ms = max(0.0, (now_ns - self._expected_ns) / 1e6)
        self.lag_ms += (min(late_ms, 1000.0) - self.lag_ms) * _SMOOTHING
        self.check(now_ns)
        self._expect()
