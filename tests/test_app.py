"""One node put together: its addresses, its answers, its log, its start and its end."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from demineur import __version__
from demineur.app import App, CannotListen, _store_settings, configure_logging
from demineur.config import Settings
from demineur.protocol import schema
from demineur.store import StoreError, StoreSettings
from tests.player_client import PlayerClient
from tests.server_process import ServerProcess

CODE = "K7MP3QXZ"


def settings(**given: object) -> Settings:
    return Settings.model_validate({"port": 0, "redis_url": "memory://", **given})


@pytest.fixture
async def app() -> AsyncIterator[App]:
    app = await App.start(settings())
    yield app
    await app.stop()


async def get(port: int, path: str, *headers: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers in small letters, and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    status, *rest = head.decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in rest)
    return int(status.split()[1]), {name.lower(): value for name, value in pairs}, body


async def test_what_it_answers(app: App) -> None:
    for path in ("/", f"/r/{CODE}"):
        status, headers, body = await get(app.port, path)
        assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b"<html" in body
    assert json.loads((await get(app.port, "/healthz"))[2]) == {
        "status": "ok",
        "version": __version__,
    }
    assert (await get(app.port, "/readyz"))[0] == 200
    assert json.loads((await get(app.port, "/schema.json"))[2]) == schema()
    assert b"demineur_rooms 0" in (await get(app.port, "/metrics"))[2]
    assert (await get(app.port, "/nothing"))[0] == 404
    assert (await get(app.port, "/ws/lobby"))[0] == 426


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/metrics", "/nothing"])
async def test_every_answer_carries_the_security_headers(app: App, path: str) -> None:
    _, headers, _ = await get(app.port, path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert "server" not in headers


async def test_it_is_not_ready_while_its_store_is_away_or_it_goes(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(app.store), "stalled_since_ms", 1)
    status, _, body = await get(app.port, "/readyz")
    assert (status, json.loads(body)) == (503, {"status": "store unavailable"})
    app.node.rooms.is_draining = True
    status, _, body = await get(app.port, "/readyz")
    assert (status, json.loads(body)) == (503, {"status": "draining"})
    assert (await get(app.port, "/healthz"))[0] == 200


async def test_metrics_are_for_whom_the_settings_name() -> None:
    app = await App.start(settings(metrics_from="10.0.0.0/8", trusted_proxies="127.0.0.1"))
    assert (await get(app.port, "/metrics"))[0] == 403
    assert (await get(app.port, "/metrics", "X-Forwarded-For: 10.1.2.3"))[0] == 200
    assert (await get(app.port, "/metrics", "X-Forwarded-For: 10.1.2.3, 192.0.2.1"))[0] == 403
    await app.stop()


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("/ws/lobby", True),
        (f"/ws/{CODE}", True),
        ("/ws/k7mp3qxz", False),
        ("/ws/K7MP-3QXZ", False),
        ("/ws/K7MP3QX0", False),
        (f"/ws/{CODE}/", False),
        (f"/{CODE}", False),
        ("/ws", False),
        ("", False),
    ],
)
async def test_which_addresses_have_a_websocket(app: App, path: str, is_one: bool) -> None:
    assert (app.endpoint(path) is not None) is is_one


async def test_an_address_that_is_taken_is_named_and_nothing_stays_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}: "):
            await App.start(settings(port=port))
        with pytest.raises(CannotListen, match=f"127.0.0.1:{port}: "):
            await App.start(settings(internal_port=port))
    assert {task for task in asyncio.all_tasks() if task is not asyncio.current_task()} == set()


async def test_a_store_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]

    def impatient(given: Settings, address: str) -> StoreSettings:
        return replace(_store_settings(given, address), call_timeout_s=0.1)

    monkeypatch.setattr("demineur.app._store_settings", impatient)
    with pytest.raises(StoreError, match="There is no Redis"):
        await App.start(settings(redis_url=f"redis://127.0.0.1:{port}/0"))
    assert {task for task in asyncio.all_tasks() if task is not asyncio.current_task()} == set()


async def test_it_ends_with_people_in_it_and_says_why() -> None:
    app = await App.start(settings())
    base = f"ws://127.0.0.1:{app.port}"
    (host, guest, silent) = [PlayerClient(base, CODE, name) for name in ("Host", "Guest", "-")]
    for client in (host, guest, silent):
        await client.connect()
    await host.hello()
    await host.create()
    await guest.hello()
    began = asyncio.get_running_loop().time()
    await app.stop()
    assert asyncio.get_running_loop().time() - began < 5
    for client in (host, guest, silent):
        assert await client.closed() == 1012
    assert host.frames[-1]["code"] == 1012


@pytest.fixture
def logging_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_has_no_local_variables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(settings(log_format=form))
    try:
        _fail(" ".join(["a", "token"]))
    except RuntimeError:
        structlog.stdlib.get_logger("demineur.test").exception("a fault", room=CODE)
        logging.getLogger("elsewhere").exception("another")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("RuntimeError: with a reason") == 2
    assert "a token" not in err
    assert err.count("Traceback") == 2
    if form == "json":
        first, second = (json.loads(line) for line in err.splitlines())
        assert (first["event"], first["room"], first["level"]) == ("a fault", CODE, "error")
        assert (second["event"], second["logger"]) == ("another", "elsewhere")


def _fail(secret: str) -> None:
    assert secret
    raise RuntimeError("with a reason")


def test_a_slip_of_the_pen_is_warned_of_and_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "a", prot=80, net__max_frame_bytes=5000).start().ready() as first:
        assert "no such setting" in first.log
        assert "DEMINEUR_PROT" in first.log
        assert "MAX_FRAME" not in first.log
        with ServerProcess(tmp_path / "b", port=first.port).start() as second:
            assert second.wait() == 1
            (line,) = second.log.splitlines()
            assert line.startswith(f"demineur: 127.0.0.1:{first.port}: ")
        with ServerProcess(tmp_path / "c", data_dir=first.directory / "data").start() as third:
            assert third.wait() == 1
            assert "in use by another server" in third.log
            assert "Traceback" not in third.log
        assert first.stop() == 0
