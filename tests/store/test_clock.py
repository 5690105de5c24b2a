"""The clock, on a monotonic time that the test moves."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.store import RedisClock

MS = 1_000_000
REDIS_US = 1_700_000_000_000_000


class Monotonic:
    def __init__(self) -> None:
        self.ns = 5_000 * MS

    def __call__(self) -> int:
        return self.ns


def ask(
    clock: RedisClock,
    time: Monotonic,
    *,
    ahead_ms: int = 0,
    there_ms: int = 1,
    back_ms: int = 1,
    step: bool = False,
) -> None:
    """One round trip to a Redis whose clock is ``ahead_ms`` ahead of REDIS_US at time 0."""
    asked_ns = time.ns
    time.ns += there_ms * MS
    redis_us = REDIS_US + ahead_ms * 1000 + time.ns // 1000
    time.ns += back_ms * MS
    clock.sample(asked_ns, time.ns, redis_us, step=step)


def true_ms(time: Monotonic, ahead_ms: int = 0) -> int:
    return REDIS_US // 1000 + ahead_ms + time.ns // MS


def test_it_is_set_by_the_first_answer() -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, step=True)
    assert clock.now_ms() == true_ms(time)
    time.ns += 1234 * MS
    assert clock.now_ms() == true_ms(time)
    assert clock.at(time.ns - 1000 * MS) == true_ms(time) - 1000


def test_the_fastest_round_trip_counts() -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, there_ms=1, back_ms=41, step=True)
    assert abs(clock.now_ms() - true_ms(time)) == 20
    ask(clock, time, step=True)
    ask(clock, time, there_ms=60, back_ms=0, step=True)
    assert clock.now_ms() == true_ms(time)
    assert clock.error_ms == 1


def test_old_round_trips_are_forgotten() -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, step=True)
    time.ns += 11_000 * MS
    ask(clock, time, ahead_ms=8, there_ms=5, back_ms=5)
    time.ns += 1000 * MS
    assert clock.now_ms() == true_ms(time, 8)


@pytest.mark.parametrize("ahead_ms", [40, -40])
def test_it_is_steered_and_never_jumps(ahead_ms: int) -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, step=True)
    time.ns += 11_000 * MS
    ask(clock, time, ahead_ms=ahead_ms)
    before = clock.now_ms()
    assert before == true_ms(time)
    for _ in range(40):
        time.ns += 20 * MS
        passed = clock.now_ms() - before
        assert 19 <= passed <= 21
        before += passed
    assert clock.now_ms() == true_ms(time, ahead_ms)
    time.ns += 5000 * MS
    assert clock.now_ms() == true_ms(time, ahead_ms)


def test_a_redis_with_another_time_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, step=True)
    time.ns += 11_000 * MS
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            ask(clock, time, ahead_ms=60_000)
    assert len(caplog.records) == 1
    assert "60000 ms" in caplog.text


@given(
    st.lists(
        st.tuples(st.integers(0, 3000), st.integers(-500, 500), st.integers(0, 50)), max_size=60
    )
)
def test_it_never_goes_backwards(trips: list[tuple[int, int, int]]) -> None:
    time = Monotonic()
    clock = RedisClock(time)
    ask(clock, time, step=True)
    last = clock.now_ms()
    for passed_ms, ahead_ms, trip_ms in trips:
        time.ns += passed_ms * MS
        assert clock.now_ms() >= last
        last = clock.now_ms()
        ask(clock, time, ahead_ms=ahead_ms, back_ms=trip_ms)
        assert clock.now_ms() >= last
        last = clock.now_ms()
