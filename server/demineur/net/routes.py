"""Plain HTTP: requests, responses, and which path answers with what.

Law of this module: a handler is a synchronous function from request to response; what it
raises is logged and answered with 500 and no detail. Every answer carries the security
headers. Only ``GET`` and ``HEAD`` exist: nothing here changes anything.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import parse_qs, unquote

import orjson
from websockets.datastructures import Headers

from demineur.net.static import StaticSite

_HOST = re.compile(r"[A-Za-z0-9.\-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")

_PAGES = (re.compile(r"/"), re.compile(r"/r/[^/]{1,32}"))

SECURITY_HEADERS: tuple[tuple[str, str], ...] = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("X-Frame-Options", "DENY"),
)
"""On every answer. Strict-Transport-Security is left to what ends TLS, which knows."""


def content_security_policy(host: str) -> str:
    """Return the policy of a page that was asked for under this ``Host``.

    The websocket's own origin is named beside ``'self'``, since not every browser counts
    ``ws:`` of the same host as that.
    """
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self'{sockets}; manifest-src 'self'; worker-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A ``GET`` or ``HEAD`` request."""

    path: str
    """Percent-decoded, without the query."""
    query: Mapping[str, list[str]]
    headers: Headers
    address: str
    """The client's, behind trusted proxies."""
    is_internal: bool
    """Whether the client is in ``Access.internal``."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer. ``Content-Length``, ``Date`` and the security headers are added to it."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def json(
        cls, content: object, status: int = 200, headers: tuple[tuple[str, str], ...] = ()
    ) -> "HttpResponse":
        """Return the content as JSON, never cached."""
        no_store = ("Cache-Control", "no-store")
        return cls(status, orjson.dumps(content), "application/json", (no_store, *headers))

    @classmethod
    def error(
        cls, status: int, code: str, text: str, headers: tuple[tuple[str, str], ...] = ()
    ) -> "HttpResponse":
        """Return the JSON of a refusal: ``{"error": code, "text": text}``."""
        return cls.json({"error": code, "text": text}, status, headers)

    def serialize(self, *, host: str, is_head: bool, keeps_alive: bool) -> bytes:
        """Return the bytes of the whole answer."""
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Date: {formatdate(usegmt=True)}",
            f"Connection: {'keep-alive' if keeps_alive else 'close'}",
        ]
        if self.status != HTTPStatus.NOT_MODIFIED:
            lines.append(f"Content-Type: {self.content_type}")
            lines.append(f"Content-Length: {len(self.body)}")
        lines += [f"{name}: {value}" for name, value in (*self.headers, *SECURITY_HEADERS)]
        lines.append(f"Content-Security-Policy: {content_security_policy(host)}")
        head = "\r\n".join((*lines, "", "")).encode("latin-1")
        return head if is_head else head + self.body


Handler = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True, slots=True)
class Route:
    """A handler, and whether only internal clients may call it."""

    handler: Handler
    is_internal: bool = False


@dataclass(frozen=True, slots=True)
class HttpRoutes:
    """The paths of a listener: exact ones with a handler, then the web client's files."""

    routes: Mapping[str, Route | Handler] = field(default_factory=dict)
    site: StaticSite | None = None
    pages: Sequence[re.Pattern[str]] = _PAGES
    """Paths that all show the web client's ``index.html``."""

    def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the answer; 404 where there is none, 403 where it is not for this client."""
        found = self.routes.get(request.path)
        if found is not None:
            route = found if isinstance(found, Route) else Route(found)
            if route.is_internal and not request.is_internal:
                return HttpResponse.error(403, "internal", "This is not for you.")
            return route.handler(request)
        if request.path.startswith("/ws/"):
            upgrade = ("Upgrade", "websocket")
            return HttpResponse.error(
                426, "upgrade", "This is the address of a websocket.", (upgrade,)
            )
        asset = self._asset(request.path)
        if self.site is None or asset is None:
            return HttpResponse.error(404, "not_found", "There is nothing here.")
        return _file_answer(self.site, asset, request.headers)

    def _asset(self, path: str) -> str | None:
        if self.site is None:
            return None
        if any(page.fullmatch(path) for page in self.pages):
            path = "/static/index.html"
        return path if path in self.site else None


def _file_answer(site: StaticSite, path: str, headers: Headers) -> HttpResponse:
    asset = site[path]
    variant = asset.choose(",".join(headers.get_all("Accept-Encoding")))
    common: tuple[tuple[str, str], ...]
    common = (("ETag", variant.etag), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"))
    if variant.is_named_in(",".join(headers.get_all("If-None-Match"))):
        return HttpResponse(304, b"", asset.content_type, common)
    if variant.encoding:
        common = (*common, ("Content-Encoding", variant.encoding))
    return HttpResponse(200, variant.body, asset.content_type, common)


def split_target(target: str) -> tuple[str, dict[str, list[str]]]:
    """Return the decoded path and the query of a request's target.

    >>> split_target("/r/K7MP%2D3QXZ?x=1")
    ('/r/K7MP-3QXZ', {'x': ['1']})
    """
    path, _, query = target.partition("?")
    return unquote(path, errors="replace"), parse_qs(query, max_num_fields=32)
