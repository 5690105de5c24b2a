"""``Access``: whose requests are answered, and whose pages may open a websocket.

Law of this module: it decides from the request alone, and keeps nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from websockets.datastructures import Headers

from demineur.net.addresses import (
    LOOPBACK,
    Networks,
    forwarded,
    forwarded_address,
    x_forwarded_for,
)

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Access:
    """Origins, trusted proxies, and who may read the metrics."""

    origins: Sequence[str] = ()
    """Origins besides the server's own host that may open a websocket, such as
    ``https://play.example``; ``*`` allows all."""

    trusted_proxies: Networks = field(default_factory=Networks)
    """Peers whose forwarding header is believed."""

    forwarded_header: Literal["x-forwarded-for", "forwarded"] = "x-forwarded-for"
    """The header that the proxy writes. Only one is read: a proxy that writes one passes the
    other on as the client sent it."""

    internal: Networks = LOOPBACK
    """Clients that may read internal routes (the metrics)."""

    relay_secret: str | None = field(default=None, repr=False)
    """Makes it the internal listener, which takes nothing but connections relayed by nodes
    that know the secret (16 bytes at least); their path reaches the endpoint as ``/ws/…``."""

    def client_address(self, peer: str, headers: Headers) -> str:
        """Return the client's address, behind trusted proxies if there are any."""
        if peer not in self.trusted_proxies:
            return peer
        values = headers.get_all(self.forwarded_header)
        read = forwarded if self.forwarded_header == "forwarded" else x_forwarded_for
        return forwarded_address(peer, read(values), self.trusted_proxies)

    def is_internal(self, peer: str, headers: Headers) -> bool:
        """Return whether this request may read internal routes.

        A forwarding header from a peer that is not a trusted proxy means that a proxy nobody
        told us about stands between: then the peer's address proves nothing.
        """
        through_proxy = any(name in headers for name in ("x-forwarded-for", "forwarded"))
        if through_proxy and peer not in self.trusted_proxies:
            return False
        return self.client_address(peer, headers) in self.internal

    def allows_origin(self, headers: Headers) -> bool:
        """Return whether a page of this request's origin may open a websocket.

        No ``Origin`` at all is no browser, and allowed: it could write any. Allowed besides
        are the origin whose host and port are the ``Host`` header's, and ``origins``.
        """
        values = headers.get_all("Origin")
        if not values:
            return True
        if len(values) > 1:
            return False
        origin = values[0].lower()
        if "*" in self.origins or origin in {
            allowed.lower().rstrip("/") for allowed in self.origins
        }:
            return True
        hosts = headers.get_all("Host")
        return len(hosts) == 1 and _is_same_host(origin, hosts[0].lower())


def _is_same_host(origin: str, host: str) -> bool:
    try:
        parts, wanted = urlsplit(origin), urlsplit(f"//{host}")
        default = _DEFAULT_PORTS.get(parts.scheme)
        same_port = (parts.port or default) == (wanted.port or default)
    except ValueError:
        return False
    if default is None or parts.path or parts.query:
        return False
    return parts.hostname is not None and parts.hostname == wanted.hostname and same_port
