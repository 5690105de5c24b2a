"""``Wheel``: one timer for the deadlines of all connections.

Law of this module: a connection has one next point in time at which it wants to be looked
at, and nothing else. Traffic moves no timer: whoever is looked at too early names the next
point. So an idle connection costs one entry of a set, and a busy one no timer calls at all.
"""

import asyncio
import time
from typing import Protocol


class Timed(Protocol):
    """What a wheel holds."""

    due_tick: int
    """Where it stands in the wheel; 0: not in it. Written by the wheel only."""

    def look(self, now_ns: int) -> int:
        """Do what is due, and return when to be looked at next; 0: never."""


class Wheel:
    """Looks at each ``Timed`` at its time, late by at most one ``tick_ms``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tick_ms: int = 50) -> None:
        self._loop = loop
        self._tick_ns = tick_ms * 1_000_000
        self._slots: dict[int, set[Timed]] = {}
        self._done_tick = self._tick(time.monotonic_ns())
        self._timer: asyncio.TimerHandle | None = None

    def put(self, timed: Timed, at_ns: int) -> None:
        """Look at it at this time instead of any earlier arrangement. O(1)."""
        self.drop(timed)
        tick = max(self._tick(at_ns), self._done_tick + 1)
        timed.due_tick = tick
        slot = self._slots.get(tick)
        if slot is None:
            self._slots[tick] = {timed}
        else:
            slot.add(timed)
        if self._timer is None:
            self._arm()

    def drop(self, timed: Timed) -> None:
        """Forget it. O(1)."""
        if timed.due_tick:
            slot = self._slots[timed.due_tick]
            slot.discard(timed)
            if not slot:
                del self._slots[timed.due_tick]
            timed.due_tick = 0

    def stop(self) -> None:
        """Cancel the timer; what is in the wheel is not looked at any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for slot in self._slots.values():
            for timed in slot:
                timed.due_tick = 0
        self._slots.clear()

    def turn(self, now_ns: int) -> None:
        """Look at all that is due by this time."""
        now_tick = now_ns // self._tick_ns
        due = sorted(tick for tick in self._slots if tick <= now_tick)
        self._done_tick = max(self._done_tick, now_tick)
        for tick in due:
            slot = self._slots[tick]  # stays there: a look may drop others from it
            while slot:
                timed = slot.pop()
                timed.due_tick = 0
                next_ns = timed.look(now_ns)
                if next_ns:
                    self.put(timed, next_ns)
            self._slots.pop(tick, None)

    def _tick(self, at_ns: int) -> int:
        return -(-at_ns // self._tick_ns)

    def _arm(self) -> None:
        self._timer = self._loop.call_later(self._tick_ns / 1e9, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        try:
            self.turn(time.monotonic_ns())
        finally:
            if self._slots and self._timer is None:
                self._arm()
