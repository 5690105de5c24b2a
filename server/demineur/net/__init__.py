"""Transport: websockets and plain HTTP on one port, and the relay between nodes.

Law of this package: text in, text out, close; it knows neither rooms nor messages, and never
imports ``store``. Whatever a client does costs bounded memory and time.
"""

from demineur.net.access import Access
from demineur.net.addresses import LOOPBACK, Networks
from demineur.net.connection import Connection, Endpoint
from demineur.net.files import allow_open_files
from demineur.net.limits import Limits
from demineur.net.listener import EndpointFor, Listener, listen
from demineur.net.rates import Gate, TokenBucket
from demineur.net.relay_client import RelayError, RelayRefused, RelayTimeout, relay
from demineur.net.routes import HttpRequest, HttpResponse, HttpRoutes, Route
from demineur.net.static import StaticSite, find_web

__all__ = [
    "LOOPBACK",
    "Access",
    "Connection",
    "Endpoint",
    "EndpointFor",
    "Gate",
    "HttpRequest",
    "HttpResponse",
    "HttpRoutes",
    "Limits",
    "Listener",
    "Networks",
    "RelayError",
    "RelayRefused",
    "RelayTimeout",
    "Route",
    "StaticSite",
    "TokenBucket",
    "allow_open_files",
    "find_web",
    "listen",
    "relay",
]
