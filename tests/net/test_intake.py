"""Request heads: whole, slow, wrong, too large, several, and those that never come."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from demineur.net import HttpRequest, HttpResponse, HttpRoutes, Limits
from tests.net.conftest import UPGRADE, Raw, Recorder, Start, request_head, until

_QUICK = Limits(
    handshake_timeout_s=0.15, keep_alive_s=0.15, response_timeout_s=0.3, close_timeout_s=0.2
)


def _say(request: HttpRequest) -> HttpResponse:
    return HttpResponse.json({"path": request.path, "query": dict(request.query)})


def _fail(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret detail")


_ROUTES = HttpRoutes({"/say": _say, "/fail": _fail})


async def test_a_half_open_handshake_is_dropped(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), limits=_QUICK)
    raw = await Raw.connect(listener)
    raws.append(raw)
    await raw.ended()
    assert listener.pending == 0


async def test_a_head_that_trickles_gets_408(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), limits=_QUICK)
    raw = await Raw.connect(listener)
    raws.append(raw)
    answer = asyncio.ensure_future(raw.response())
    for byte in request_head():
        raw.send(bytes((byte,)))
        await asyncio.sleep(0.01)
        if answer.done():
            break
    status, headers, body = await answer
    assert (status, headers["connection"], json.loads(body)["error"]) == (408, "close", "timeout")
    await raw.ended()


async def test_a_head_in_single_bytes_is_fine_in_time(start: Start, raws: list[Raw]) -> None:
    raw = await Raw.connect(await start(Recorder()))
    raws.append(raw)
    for byte in request_head():
        raw.send(bytes((byte,)))
        await asyncio.sleep(0)
    assert (await raw.response())[0] == 101


_WRONG_HEADS = {
    "one huge header": (request_head(headers=UPGRADE | {"X": "x" * 17_000}), 431),
    "a line above 8 KiB": (request_head(headers=UPGRADE | {"X": "x" * 9_000}), 431),
    "a huge target": (request_head("/" + "x" * 9_000), 431),
    "too many headers": (
        request_head(headers={"Host": "localhost"} | {f"X-{i}": "1" for i in range(200)}),
        431,
    ),
    "an endless line": (b"GET /" + b"x" * 20_000, 431),
    "TLS on a plain port": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "no HTTP": (b"HELO example.org\r\n\r\n", 405),
    "HTTP/0.9": (b"GET /\r\n\r\n", 400),
    "HTTP/3": (b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 400),
    "a bad header": (b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400),
    "a space before the colon": (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "a GET with a body": (request_head("/", headers={"Host": "a", "Content-Length": "3"}), 400),
    "a chunked body": (
        request_head("/", headers={"Host": "a", "Transfer-Encoding": "chunked"}),
        400,
    ),
    "bytes above ASCII in the target": (b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "small letters": (b"get / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "HTTP/2 by prior knowledge": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 405),
    "a bad websocket version": (
        request_head(headers=UPGRADE | {"Sec-WebSocket-Version": "8"}),
        400,
    ),
    "a short websocket key": (request_head(headers=UPGRADE | {"Sec-WebSocket-Key": "eA=="}), 400),
    "no Connection: Upgrade": (request_head(headers=UPGRADE | {"Connection": "close"}), 426),
    "an unknown path": (request_head("/wrong/K7MP3QXZ"), 404),
}


@pytest.mark.parametrize("name", _WRONG_HEADS)
async def test_a_wrong_head_gets_a_clean_answer(start: Start, raws: list[Raw], name: str) -> None:
    head, expected = _WRONG_HEADS[name]
    listener = await start(Recorder(), limits=Limits(close_timeout_s=0.1))
    raw = await Raw.connect(listener)
    raws.append(raw)
    raw.send(head)
    status, headers, body = await raw.response()
    assert status == expected
    assert json.loads(body).keys() == {"error", "text"}
    assert headers["connection"] == "close"
    assert headers["x-content-type-options"] == "nosniff"
    await raw.ended()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"])
async def test_other_methods_get_405_even_with_a_body(
    start: Start, raws: list[Raw], method: str
) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    raw.send(request_head("/say", method, {"Host": "a", "Content-Length": "200000"}))
    raw.send(b"x" * 200_000)
    status, headers, _ = await raw.response()
    assert (status, headers["allow"]) == (405, "GET, HEAD")


async def test_head_is_get_without_the_body(start: Start, raws: list[Raw]) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    got, got_headers, body = await raw.ask("/say?x=1")
    head, head_headers, nothing = await raw.ask("/say?x=1", "HEAD")
    assert (got, head, nothing) == (200, 200, b"")
    assert json.loads(body) == {"path": "/say", "query": {"x": ["1"]}}
    assert head_headers["content-length"] == got_headers["content-length"] == str(len(body))


async def test_a_connection_serves_several_requests(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), http=_ROUTES, limits=Limits(max_requests=3))
    raw = await Raw.connect(listener)
    raws.append(raw)
    kinds = [(await raw.ask("/say"))[1]["connection"] for _ in range(3)]
    assert kinds == ["keep-alive", "keep-alive", "close"]
    await raw.ended()


async def test_requests_behind_each_other_are_answered_in_order(
    start: Start, raws: list[Raw]
) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    raw.send(b"".join(request_head(f"/say?n={i}", headers={"Host": "a"}) for i in range(50)))
    for i in range(50):
        _, _, body = await raw.response()
        assert json.loads(body)["query"] == {"n": [str(i)]}
    raw.send(request_head() + b"")
    assert (await raw.response())[0] == 101


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
async def test_close_is_kept(start: Start, raws: list[Raw], version: str) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    raw.send(f"GET /say {version}\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    status, headers, _ = await raw.response()
    assert (status, headers["connection"]) == (200, "close")
    await raw.ended()


async def test_a_rest_between_requests_is_bounded(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), http=_ROUTES, limits=_QUICK)
    raw = await Raw.connect(listener)
    raws.append(raw)
    assert (await raw.ask("/say"))[0] == 200
    await raw.ended()
    await until(lambda: listener.pending == 0)


async def test_an_answer_that_is_not_read_is_given_up(start: Start, raws: list[Raw]) -> None:
    big = HttpResponse(200, b"x" * 5_000_000, "text/plain")
    listener = await start(Recorder(), http=HttpRoutes({"/big": lambda _: big}), limits=_QUICK)
    raw = await Raw.connect(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    raw.send(request_head("/big", headers={"Host": "a"}) * 100)
    await until(lambda: listener.pending == 1)
    await until(lambda: listener.pending == 0)


async def test_a_slow_reader_is_not_hurried(start: Start, raws: list[Raw]) -> None:
    big = HttpResponse(200, b"x" * 1_000_000, "text/plain")
    limits = Limits(keep_alive_s=0.1, response_timeout_s=30)
    listener = await start(Recorder(), http=HttpRoutes({"/big": lambda _: big}), limits=limits)
    raw = await Raw.connect(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    raw.send(request_head("/big", headers={"Host": "a"}))
    await asyncio.sleep(0.4)
    raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert len((await raw.response())[2]) == 1_000_000


async def test_an_answer_nobody_waits_for_is_given_up(start: Start, raws: list[Raw]) -> None:
    big = HttpResponse(200, b"x" * 5_000_000, "text/plain")
    listener = await start(Recorder(), http=HttpRoutes({"/big": lambda _: big}), limits=_QUICK)
    raw = await Raw.connect(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    raw.send(request_head("/big", headers={"Host": "a"}))
    raw.writer.write_eof()
    await until(lambda: listener.pending == 1)
    await until(lambda: listener.pending == 0)


async def test_a_client_that_does_not_read_is_answered_no_further(
    start: Start, raws: list[Raw]
) -> None:
    asked = []

    def big(request: HttpRequest) -> HttpResponse:
        asked.append(request.path)
        return HttpResponse(200, b"x" * 1_000_000, "text/plain")

    listener = await start(Recorder(), http=HttpRoutes({"/big": big}))
    raw = await Raw.connect(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    raw.send(request_head("/big", headers={"Host": "a"}) * 20)
    await until(lambda: bool(asked))
    await asyncio.sleep(0.05)
    assert len(asked) == 1
    raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
    for _ in range(20):
        assert len((await raw.response())[2]) == 1_000_000


async def test_a_fault_of_a_handler_is_500_without_detail(start: Start, raws: list[Raw]) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    with capture_logs() as logs:
        status, _, body = await raw.ask("/fail")
    assert (status, b"secret" in body) == (500, False)
    assert [log["event"] for log in logs] == ["http handler failed"]
    assert (await raw.ask("/say"))[0] == 200


async def test_a_websocket_address_asked_plainly(start: Start, raws: list[Raw]) -> None:
    raw = await Raw.connect(await start(Recorder(), http=_ROUTES))
    raws.append(raw)
    status, headers, _ = await raw.ask("/ws/K7MP3QXZ")
    assert (status, headers["upgrade"]) == (426, "websocket")


async def test_a_turn_answers_few_requests_however_many_ask(start: Start, raws: list[Raw]) -> None:
    turn, answered_in = 0, []

    def note(request: HttpRequest) -> HttpResponse:
        answered_in.append(turn)
        return HttpResponse.json({})

    async def others() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    listener = await start(
        Recorder(), http=HttpRoutes({"/note": note}), limits=Limits(requests_per_turn=4)
    )
    raws += [await Raw.connect(listener) for _ in range(20)]
    beside = asyncio.create_task(others())
    for raw in raws:
        raw.send(request_head("/note", "GET", {"Host": "localhost"}) * 5)
    for raw in raws:
        assert [(await raw.response())[0] for _ in range(5)] == [200] * 5
    beside.cancel()
    assert len(answered_in) == 100
    assert max(answered_in.count(each) for each in answered_in) <= 4
    raws[0].send(request_head())  # and a handshake waits in the same line
    assert (await raws[0].response())[0] == 101


async def test_who_hangs_up_in_line_holds_nobody_up(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), http=_ROUTES, limits=Limits(requests_per_turn=1))
    raws += [await Raw.connect(listener) for _ in range(10)]
    for raw in raws:
        raw.send(request_head("/say", "GET", {"Host": "localhost"}))
    await until(lambda: bool(listener._in_line))
    for intake in [*listener._in_line][::2]:
        assert intake.transport is not None
        intake.transport.abort()
    late = await Raw.connect(listener)
    raws.append(late)
    assert (await late.ask("/say"))[0] == 200
    await until(lambda: not listener._in_line)


async def test_a_fault_in_line_ends_its_own_request_only(
    start: Start, raws: list[Raw], monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = await start(Recorder(), http=_ROUTES)
    raws += [await Raw.connect(listener) for _ in range(2)]

    def fail() -> None:
        monkeypatch.undo()
        raise RuntimeError("nobody thought of it")

    monkeypatch.setattr(listener, "new_wire", fail)
    raws[0].send(request_head("/say", "GET", {"Host": "localhost"}))
    with capture_logs() as logs:
        await raws[0].ended()
    assert [entry["event"] for entry in logs] == ["a request failed"]
    assert (await raws[1].ask("/say"))[0] == 200
