"""Which path answers with what, and the headers that every answer carries."""

import re

import pytest
from websockets.datastructures import Headers

from demineur.net import HttpRequest, HttpResponse, HttpRoutes, Route
from demineur.net.routes import content_security_policy
from tests.net.conftest import Raw, Recorder, Start


def _request(path: str, *, is_internal: bool = False) -> HttpRequest:
    return HttpRequest(path, {}, Headers(), "192.0.2.1", is_internal)


def _ok(request: HttpRequest) -> HttpResponse:
    return HttpResponse.json({"ok": True})


def test_an_internal_route_is_for_internal_clients() -> None:
    routes = HttpRoutes({"/metrics": Route(_ok, is_internal=True), "/healthz": _ok})
    assert routes.answer(_request("/metrics")).status == 403
    assert routes.answer(_request("/metrics", is_internal=True)).status == 200
    assert routes.answer(_request("/healthz")).status == 200
    assert routes.answer(_request("/")).status == 404


@pytest.mark.parametrize(
    ("host", "sockets"),
    [
        ("play.example:8000", " ws://play.example:8000 wss://play.example:8000"),
        ("[::1]:80", " ws://[::1]:80 wss://[::1]:80"),
        ("", ""),
        ("evil; script-src *", ""),
        ("a,b", ""),
    ],
)
def test_the_policy_lets_nothing_in_but_our_own(host: str, sockets: str) -> None:
    policy = dict(
        part.strip().partition(" ")[::2] for part in content_security_policy(host).split(";")
    )
    assert policy["connect-src"] == "'self'" + sockets
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert "unsafe" not in content_security_policy(host)


async def test_every_answer_carries_the_security_headers(start: Start, raws: list[Raw]) -> None:
    raw = await Raw.connect(await start(Recorder(), http=HttpRoutes({"/ok": _ok})))
    raws.append(raw)
    for path, expected in (("/ok", 200), ("/none", 404)):
        status, headers, _ = await raw.ask(path)
        assert status == expected
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "camera=()" in headers["permissions-policy"]
        assert "ws://localhost" in headers["content-security-policy"]
        assert re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", headers["date"])
        assert "server" not in headers
