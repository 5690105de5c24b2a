"""Addresses of Redis: what they mean, what is refused, and that no secret is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.store import StoreMisconfigured, safe_url
from demineur.store.address import Form, RedisAddress, parse_address


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://cache", RedisAddress(Form.STANDALONE, (("cache", 6379),))),
        ("redis://cache:1/3", RedisAddress(Form.STANDALONE, (("cache", 1),), db=3)),
        (
            "redis://app:p%40s%2Fs@[::1]:7000",
            RedisAddress(Form.STANDALONE, (("::1", 7000),), username="app", password="p@s/s"),
        ),
        ("redis://:pw@cache", RedisAddress(Form.STANDALONE, (("cache", 6379),), password="pw")),
        (
            "rediss://cache?ca_file=/etc/ca.pem&db=2",
            RedisAddress(
                Form.STANDALONE, (("cache", 6379),), tls=True, ca_file="/etc/ca.pem", db=2
            ),
        ),
        (
            "unix:///run/redis/r.sock?db=1",
            RedisAddress(Form.STANDALONE, socket_path="/run/redis/r.sock", db=1),
        ),
        (
            "unix://app:pw@/run/r.sock",
            RedisAddress(Form.STANDALONE, socket_path="/run/r.sock", username="app", password="pw"),
        ),
        (
            "redis+sentinel://app:pw@a:1,b/races/4?sentinel_user=s&sentinel_password=t",
            RedisAddress(
                Form.SENTINEL,
                (("a", 1), ("b", 26379)),
                service="races",
                db=4,
                username="app",
                password="pw",
                sentinel_username="s",
                sentinel_password="t",
            ),
        ),
        (
            "rediss+cluster://a:1,b:2,c",
            RedisAddress(Form.CLUSTER, (("a", 1), ("b", 2), ("c", 6379)), tls=True),
        ),
    ],
)
def test_forms(url: str, address: RedisAddress) -> None:
    assert parse_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "cache:6379",
        "http://cache",
        "redis://",
        "redis://a,b",
        "redis://cache:port",
        "redis://cache:99999",
        "redis://cache/x",
        "redis://cache?timeout=3",
        "redis+sentinel://a:1",
        "redis+cluster://a:1/1",
        "unix://cache/r.sock",
        "unix://",
    ],
)
def test_what_is_refused(url: str) -> None:
    with pytest.raises(StoreMisconfigured):
        parse_address(url)


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(StoreMisconfigured) as refused:
        parse_address("redis://app:s3cret@a,b")
    assert "s3cret" not in str(refused.value)
    assert "app:***@a,b" in str(refused.value)


SECRET = st.text("abcdefgh0123456789@:/?&=%", min_size=8, max_size=20)


@given(SECRET, st.sampled_from(["redis", "rediss+cluster", "redis+sentinel", "nonsense"]))
def test_no_secret_is_ever_shown(secret: str, scheme: str) -> None:
    url = f"{scheme}://app:{secret}@cache:1/races?sentinel_password={secret.replace('&', '')}"
    assert secret not in safe_url(url)


def test_the_repr_of_an_address_shows_no_secret() -> None:
    address = parse_address("redis+sentinel://app:s3cret@a/races?sentinel_password=t0psecret")
    assert "s3cret" not in repr(address)
    assert "t0psecret" not in repr(address)
