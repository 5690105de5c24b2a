"""Who is calling: network addresses, and what a proxy says about them.

Law of this module: an address that a client can write by itself is never believed. A
forwarding header counts only from a peer in the trusted networks, only the one header that
the site's proxy is known to write, and only back to the first hop that is not trusted.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_IPV6_GROUP_BITS = 64
"""A household or a rented machine has a whole /64, so that is one address to us."""


class Networks:
    """A set of IP networks, as CIDR strings: ``Networks(["127.0.0.0/8", "::1"])``.

    Raises ``ValueError`` for a string that is no network.

    >>> "::ffff:127.0.0.1" in Networks(["127.0.0.0/8"]), "no address" in Networks(["::/0"])
    (True, False)
    """

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks: list[IPv4Network | IPv6Network] = [ip_network(text) for text in networks]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, address: object) -> bool:
        parsed = _parse(str(address))
        if parsed is None:
            return False
        return any(
            parsed.version == network.version and parsed in network for network in self._networks
        )


LOOPBACK = Networks(["127.0.0.0/8", "::1/128"])


@lru_cache(maxsize=4096)
def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.split("%", 1)[0])
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def normalise(text: str) -> str | None:
    """Return the address in its one spelling, or None where it is none.

    >>> normalise("::FFFF:192.0.2.1"), normalise("2001:DB8:0::1"), normalise("unknown")
    ('192.0.2.1', '2001:db8::1', None)
    """
    address = _parse(text)
    return None if address is None else str(address)


def group(address: str) -> str:
    """Return what counts as one client: the IPv4 address, or the /64 of an IPv6 one.

    >>> group("192.0.2.7"), group("2001:db8:1:2:3::4")
    ('192.0.2.7', '2001:db8:1:2::/64')
    """
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, _IPV6_GROUP_BITS), strict=False))
    return address


def forwarded_address(peer: str, hops: Sequence[str], trusted: Networks) -> str:
    """Return the client's address: the rightmost hop that is not trusted.

    ``hops`` is what the proxies wrote, the client's end first. A hop that is no address ends
    the walk: nothing to the left of it can be believed.

    >>> ours = Networks(["10.0.0.0/8"])
    >>> forwarded_address("10.0.0.1", ["6.6.6.6", "192.0.2.1", "10.0.0.9"], ours)
    '192.0.2.1'
    >>> forwarded_address("192.0.2.5", ["6.6.6.6"], ours)
    '192.0.2.5'
    """
    address = peer
    for hop in reversed(hops):
        if address not in trusted:
            break
        known = normalise(hop)
        if known is None:
            break
        address = known
    return address


def x_forwarded_for(values: Iterable[str]) -> list[str]:
    """Return the hops of all ``X-Forwarded-For`` headers in order; ports are cut off.

    >>> x_forwarded_for(["192.0.2.1, [2001:db8::1]:99", "10.0.0.1:80"])
    ['192.0.2.1', '2001:db8::1', '10.0.0.1']
    """
    return [_without_port(hop.strip()) for value in values for hop in value.split(",")]


def forwarded(values: Iterable[str]) -> list[str]:
    """Return the ``for`` hops of all ``Forwarded`` headers (RFC 7239) in order.

    A hop that names nobody (``unknown``, ``_hidden``, no ``for`` at all) is kept as it is, so
    that the walk ends there.

    >>> forwarded(['for=192.0.2.60;proto=http, For="[2001:db8::1]:4711"', "by=10.0.0.1"])
    ['192.0.2.60', '2001:db8::1', '']
    """
    return [_for(element) for value in values for element in value.split(",")]


def _for(element: str) -> str:
    for pair in element.split(";"):
        name, _, value = pair.partition("=")
        if name.strip().lower() == "for":
            return _without_port(value.strip().strip('"'))
    return ""


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    host, colon, _ = hop.partition(":")
    return host if colon and hop.count(":") == 1 else hop
