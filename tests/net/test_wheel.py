"""The one timer, by a clock that the test moves."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.net.wheel import Wheel

_MS = 1_000_000


class _Timed:
    """Notes when it was looked at, and asks for what it is told to."""

    def __init__(self, *asks: int) -> None:
        self.due_tick = 0
        self.asks = list(asks)
        self.looks: list[int] = []

    def look(self, now_ns: int) -> int:
        self.looks.append(now_ns)
        return self.asks.pop(0) if self.asks else 0


@pytest.fixture
def wheel() -> Wheel:
    loop = asyncio.new_event_loop()
    made = Wheel(loop, tick_ms=50)
    made._done_tick = 0  # the test's clock begins at 0
    loop.close()
    made._arm = lambda: None  # type: ignore[method-assign]
    return made


def test_each_at_its_time_and_once(wheel: Wheel) -> None:
    soon, late = _Timed(), _Timed()
    wheel.put(soon, 100 * _MS)
    wheel.put(late, 1000 * _MS)
    for now_ms in range(0, 2000, 10):
        wheel.turn(now_ms * _MS)
    assert soon.looks == [100 * _MS]
    assert late.looks == [1000 * _MS]
    assert (soon.due_tick, late.due_tick) == (0, 0)
    assert not wheel._slots


def test_a_look_names_the_next(wheel: Wheel) -> None:
    timed = _Timed(300 * _MS, 300 * _MS + 1, 0)
    wheel.put(timed, 100 * _MS)
    for now_ms in range(0, 1000, 50):
        wheel.turn(now_ms * _MS)
    assert timed.looks == [100 * _MS, 300 * _MS, 350 * _MS]


def test_the_latest_arrangement_counts(wheel: Wheel) -> None:
    timed = _Timed()
    wheel.put(timed, 100 * _MS)
    wheel.put(timed, 500 * _MS)
    wheel.put(timed, 300 * _MS)
    for now_ms in range(0, 1000, 50):
        wheel.turn(now_ms * _MS)
    assert timed.looks == [300 * _MS]


def test_the_past_is_looked_at_in_the_next_turn(wheel: Wheel) -> None:
    wheel.turn(1000 * _MS)
    timed = _Timed()
    wheel.put(timed, 10 * _MS)
    wheel.turn(1050 * _MS)
    assert timed.looks == [1050 * _MS]


def test_who_is_dropped_is_not_looked_at_even_by_another(wheel: Wheel) -> None:
    other, kept = _Timed(), _Timed()

    class Dropper(_Timed):
        def look(self, now_ns: int) -> int:
            for timed in both:
                if timed is not self:
                    wheel.drop(timed)
            return super().look(now_ns)

    both = [Dropper(), Dropper()]
    for timed in (*both, kept):
        wheel.put(timed, 100 * _MS)
    wheel.drop(other)
    wheel.turn(100 * _MS)
    assert sorted(len(timed.looks) for timed in both) == [0, 1]
    assert len(kept.looks) == 1


@given(st.lists(st.integers(0, 5_000), max_size=40), st.integers(1, 400))
def test_never_early_and_late_by_less_than_a_tick_and_a_turn(
    times_ms: list[int], step_ms: int
) -> None:
    loop = asyncio.new_event_loop()
    wheel = Wheel(loop, tick_ms=50)
    wheel._done_tick = 0
    wheel._arm = lambda: None  # type: ignore[method-assign]
    loop.close()
    all_timed = [(at_ms, _Timed()) for at_ms in times_ms]
    for at_ms, timed in all_timed:
        wheel.put(timed, at_ms * _MS)
    for now_ms in range(0, 6000, step_ms):
        wheel.turn(now_ms * _MS)
    for at_ms, timed in all_timed:
        assert len(timed.looks) == 1
        assert at_ms * _MS <= timed.looks[0] <= (at_ms + 100 + step_ms) * _MS


async def test_the_timer_runs_while_somebody_waits_and_only_then() -> None:
    wheel = Wheel(asyncio.get_running_loop(), tick_ms=10)
    looked = asyncio.Event()

    class Looked(_Timed):
        def look(self, now_ns: int) -> int:
            looked.set()
            return super().look(now_ns)

    def is_armed() -> bool:
        return wheel._timer is not None

    assert not is_armed()
    wheel.put(Looked(), time.monotonic_ns() + 20 * _MS)
    assert is_armed()
    await asyncio.wait_for(looked.wait(), 5)
    await asyncio.sleep(0)
    assert not is_armed()
    waiting = _Timed()
    wheel.put(waiting, time.monotonic_ns() + 20 * _MS)
    wheel.stop()
    assert not is_armed()
    assert waiting.due_tick == 0
