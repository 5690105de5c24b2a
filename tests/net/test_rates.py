"""Token buckets against a plain reckoning, and a gate that forgets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.net import Gate, TokenBucket

_S = 1_000_000_000


@given(
    st.integers(1, 50),
    st.integers(1, 60),
    st.lists(st.integers(0, _S // 5), min_size=1, max_size=200),
)
def test_never_more_than_burst_and_rate_allow(rate: int, burst: int, gaps: list[int]) -> None:
    bucket = TokenBucket(rate, burst)
    now, taken = 0, []
    for gap in gaps:
        now += gap
        if bucket.take(now):
            taken.append(now)
    for i, begin in enumerate(taken):
        for j, end in enumerate(taken[i:], start=i):
            assert j - i + 1 <= burst + (end - begin) / _S * rate + 1e-6


def test_a_fair_player_is_never_stopped() -> None:
    bucket = TokenBucket(30, 60)
    assert all(bucket.take(_S * i // 30) for i in range(3000))
    assert all(bucket.take(_S * 200) for _ in range(60))
    assert not bucket.take(_S * 200)


def test_the_wait_is_as_long_as_it_says() -> None:
    bucket = TokenBucket(4, 1)
    assert bucket.take(0)
    assert bucket.wait_ms == 250
    assert not bucket.take(200_000_000)
    assert bucket.wait_ms == 50
    assert bucket.take(250_000_000)


def test_several_at_once_and_time_going_back() -> None:
    bucket = TokenBucket(1, 10)
    assert bucket.take(5 * _S, 10)
    assert not bucket.take(3 * _S)
    assert not bucket.take(5 * _S + _S // 2)
    assert bucket.take(6 * _S)
    assert not bucket.is_full(7 * _S)
    assert bucket.is_full(20 * _S)


@pytest.mark.parametrize(("rate", "burst"), [(0, 1), (-1, 1), (1, 0), (1, 0.5)])
def test_numbers_that_make_no_sense(rate: float, burst: float) -> None:
    with pytest.raises(ValueError, match="bucket"):
        TokenBucket(rate, burst)
    with pytest.raises(ValueError, match="bucket"):
        Gate(rate, burst)
    with pytest.raises(ValueError, match="max_addresses"):
        Gate(1, 1, max_addresses=0)


def test_a_gate_counts_addresses_apart_and_a_subnet_of_six_as_one() -> None:
    gate = Gate(1, 2)
    assert [gate.admit("192.0.2.1", 0) for _ in range(3)] == [True, True, False]
    assert gate.admit("192.0.2.2", 0)
    assert gate.wait_ms("192.0.2.1") == 1000
    assert gate.wait_ms("192.0.2.9") == 0
    assert gate.admit("2001:db8::1", 0)
    assert gate.admit("2001:db8::ffff", 0)
    assert not gate.admit("2001:db8::2:3", 0)
    assert gate.admit("2001:db8:0:1::1", 0)


def test_a_gate_is_bounded_and_forgets_the_oldest() -> None:
    gate = Gate(1, 1, max_addresses=100)
    busy = 0
    for i in range(1000):
        assert gate.admit(f"10.0.{i // 250}.{i % 250}", 0)
        busy += gate.admit("192.0.2.1", 0)  # in use all the time, so never forgotten
    assert len(gate) == 100
    assert busy == 1
