"""Addresses that can be believed, origins that may connect."""

import pytest
from websockets.datastructures import Headers

from demineur.net import LOOPBACK, Access, Networks
from demineur.net.addresses import forwarded, forwarded_address, group, x_forwarded_for

_OURS = Networks(["10.0.0.0/8", "2001:db8:f::/48"])


@pytest.mark.parametrize(
    ("peer", "hops", "address"),
    [
        ("192.0.2.9", ["6.6.6.6"], "192.0.2.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["6.6.6.6", "192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["6.6.6.6", "192.0.2.1", "10.0.0.7"], "192.0.2.1"),
        ("10.0.0.1", ["10.0.0.9", "10.0.0.7"], "10.0.0.9"),
        ("10.0.0.1", ["6.6.6.6", "garbage", "10.0.0.7"], "10.0.0.7"),
        ("10.0.0.1", ["6.6.6.6", "unknown"], "10.0.0.1"),
        ("10.0.0.1", ["6.6.6.6", ""], "10.0.0.1"),
        ("10.0.0.1", ["::ffff:192.0.2.1"], "192.0.2.1"),
        ("2001:db8:f::1", ["2001:DB8:1::0:2"], "2001:db8:1::2"),
    ],
)
def test_the_rightmost_untrusted_hop_is_the_client(
    peer: str, hops: list[str], address: str
) -> None:
    assert forwarded_address(peer, hops, _OURS) == address


def test_several_headers_are_one_list() -> None:
    assert x_forwarded_for(["1.1.1.1", "2.2.2.2,3.3.3.3:80"]) == ["1.1.1.1", "2.2.2.2", "3.3.3.3"]
    assert x_forwarded_for(["2001:db8::1"]) == ["2001:db8::1"]
    assert forwarded(['for=1.1.1.1;by=x,for="[2001:db8::2]:80"', "proto=https;for=_hidden"]) == [
        "1.1.1.1",
        "2001:db8::2",
        "_hidden",
    ]


def test_networks() -> None:
    assert "127.0.0.1" in LOOPBACK
    assert "::1" in LOOPBACK
    assert "::ffff:127.9.9.9" in LOOPBACK
    assert "fe80::1%eth0" in Networks(["fe80::/10"])
    assert "126.0.0.1" not in LOOPBACK
    assert "" not in Networks(["0.0.0.0/0"])
    assert not Networks()
    with pytest.raises(ValueError, match="does not appear"):
        Networks(["10.0.0/8"])


def test_one_client_of_six_is_a_64() -> None:
    assert group("2001:db8:1:2::1") == group("2001:db8:1:2:ffff::9") != group("2001:db8:1:3::1")
    assert group("::ffff:192.0.2.1") == "::ffff:192.0.2.1"
    assert group("somewhere") == "somewhere"


def _headers(*pairs: tuple[str, str]) -> Headers:
    return Headers(pairs)


@pytest.mark.parametrize(
    ("origin", "host", "is_allowed"),
    [
        ("http://play.example", "play.example", True),
        ("https://play.example", "play.example", True),
        ("https://play.example", "play.example:443", True),
        ("https://play.example:443", "play.example", True),
        ("HTTP://Play.Example", "play.EXAMPLE", True),
        ("http://192.168.1.5:8000", "192.168.1.5:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://play.example", "play.example:443", False),
        ("http://play.example:8000", "play.example", False),
        ("http://play.example.evil.example", "play.example", False),
        ("http://evil.example", "play.example", False),
        ("http://play.example@evil.example", "play.example", False),
        ("http://evil.example/play.example", "play.example", False),
        ("http://play.example/", "play.example", False),
        ("file://", "", False),
        ("chrome-extension://play.example", "play.example", False),
        ("http://play.example:port", "play.example", False),
        ("http://[::1", "[::1", False),
        ("null", "null", False),
    ],
)
def test_the_same_host_may_connect(origin: str, host: str, is_allowed: bool) -> None:
    headers = _headers(("Origin", origin), ("Host", host))
    assert Access().allows_origin(headers) is is_allowed


def test_configured_origins_and_none_at_all() -> None:
    evil = _headers(("Origin", "https://evil.example"), ("Host", "a"))
    assert Access().allows_origin(_headers(("Host", "a")))
    assert Access(origins=["*"]).allows_origin(evil)
    assert Access(origins=["https://Evil.example/"]).allows_origin(evil)
    assert not Access(origins=["https://evil.example:8443"]).allows_origin(evil)
    twice = _headers(("Origin", "http://a"), ("Origin", "http://a"), ("Host", "a"))
    assert not Access().allows_origin(twice)


def test_the_secret_is_not_shown() -> None:
    assert "s3cret" not in repr(Access(relay_secret="s3cret" * 5))
