"""Gaps are noticed before what came after them, and a node that is behind says so."""

import time

import pytest

import demineur.rooms.pulse
from demineur.rooms import Pulse
from demineur.rooms.pulse import GAP_MS, INTERVAL_MS


class Clock:
    """``time.monotonic_ns`` that a test moves."""

    def __init__(self) -> None:
        self.ns = time.monotonic_ns()

    def __call__(self) -> int:
        return self.ns

    def pass_ms(self, ms: float) -> int:
        self.ns += int(ms * 1_000_000)
        return self.ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(demineur.rooms.pulse, "monotonic_ns", clock)
    return clock


async def test_a_gap_is_credited_once_and_whole(clock: Clock) -> None:
    gaps: list[int] = []
    pulse = Pulse(gaps.append, lambda: 0.0, 60)
    pulse.start()
    pulse.check(clock.pass_ms(INTERVAL_MS))
    pulse.check(clock.pass_ms(GAP_MS))
    assert gaps == []
    pulse.check(clock.pass_ms(1_000))
    assert gaps == [GAP_MS + 1_000]
    pulse.check(clock.ns)
    pulse._beat()
    assert gaps == [GAP_MS + 1_000]
    pulse.stop()
    pulse.check(clock.pass_ms(5_000))
    assert len(gaps) == 1


async def test_a_late_loop_lets_nobody_in_until_it_has_caught_up(clock: Clock) -> None:
    pulse = Pulse(lambda _: None, lambda: 0.0, 60)
    pulse.start()
    for _ in range(30):
        clock.pass_ms(INTERVAL_MS + 100)
        pulse._beat()
    assert (pulse.is_overloaded, pulse.is_full) == (True, False)
    for _ in range(30):
        clock.pass_ms(INTERVAL_MS)
        pulse._beat()
    assert (pulse.is_overloaded, pulse.is_full) == (False, False)
    pulse.stop()


@pytest.mark.parametrize(
    ("backlog", "overloaded", "full"), [(0.5, False, False), (0.6, True, False), (0.91, True, True)]
)
async def test_a_full_queue_lets_nobody_in_and_then_takes_no_moves(
    backlog: float, overloaded: bool, full: bool
) -> None:
    pulse = Pulse(lambda _: None, lambda: backlog, 60)
    assert (pulse.is_overloaded, pulse.is_full) == (overloaded, full)
