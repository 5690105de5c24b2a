"""Websockets by an ordinary client: messages, limits of number, closing."""

import asyncio
import json
import resource
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from demineur.net import (
    LOOPBACK,
    Access,
    Endpoint,
    HttpRequest,
    HttpResponse,
    HttpRoutes,
    Limits,
    Route,
    listen,
)
from tests.net.conftest import (
    UPGRADE,
    Raw,
    Recorder,
    Start,
    client,
    raw_frame,
    request_head,
    until,
    within,
)


async def test_a_message_goes_in_and_out(start: Start) -> None:
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint)
    async with client(listener) as ws:
        assert ws.subprotocol == "demineur.v1"
        for text in ("{}", "é🚩" * 50, "x" * 3000, ""):
            await ws.send(text)
            assert await ws.recv() == text
        connection = await endpoint.connection()
        assert (connection.path, connection.address, connection.relayed) == (
            "/ws/K7MP3QXZ",
            "127.0.0.1",
            False,
        )
    assert await endpoint.code() == 1000


async def test_a_websocket_without_the_subprotocol_is_refused(start: Start) -> None:
    listener = await start(Recorder())
    with pytest.raises(InvalidStatus) as refused:
        await client(listener, subprotocols=["chat"])
    assert refused.value.response.status_code == 400
    assert json.loads(refused.value.response.body or b"")["error"] == "subprotocol"


async def test_the_server_closes_with_its_code(start: Start) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    async with client(listener) as ws:
        (await endpoint.connection()).close(4002, "you came back on another connection")
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert (ws.close_code, ws.close_reason) == (4002, "you came back on another connection")
    assert await endpoint.code() == 4002


async def _status(raw: Raw, **headers: str) -> tuple[int, str]:
    """Try the handshake; return the status, and the refusal's reason."""
    raw.send(request_head(headers=UPGRADE | headers))
    status, _, body = await raw.response()
    return status, json.loads(body)["error"] if body else ""


@pytest.mark.parametrize("offered", ["", "chat", "demineur.v2, chat", "demineur.v1x", "a b"])
async def test_other_subprotocols_are_refused(start: Start, raws: list[Raw], offered: str) -> None:
    raws.append(await Raw.connect(await start(Recorder())))
    answer = await _status(raws[0], **{"Sec-WebSocket-Protocol": offered})
    assert answer == (400, "subprotocol")


async def test_ours_among_other_subprotocols_is_taken(start: Start, raws: list[Raw]) -> None:
    raws.append(await Raw.connect(await start(Recorder())))
    raws[0].send(request_head(headers=UPGRADE | {"Sec-WebSocket-Protocol": "chat, demineur.v1"}))
    status, headers, _ = await raws[0].response()
    assert (status, headers["sec-websocket-protocol"]) == (101, "demineur.v1")


# Numbers.


async def test_connections_in_all_are_bounded(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=Limits(max_connections=2))
    raws += [await Raw.upgraded(listener) for _ in range(2)]
    raws.append(await Raw.connect(listener))
    assert await _status(raws[2]) == (503, "busy")
    raws[0].writer.transport.abort()
    await until(lambda: listener.connections == 1)
    raws.append(await Raw.upgraded(listener))
    assert listener.connections == 2


async def test_connections_of_one_address_are_bounded(start: Start, raws: list[Raw]) -> None:
    listener = await start(
        Recorder(),
        limits=Limits(max_connections_per_address=2),
        access=Access(trusted_proxies=LOOPBACK),
    )
    first, other = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
    raws += [await Raw.upgraded(listener, headers=first) for _ in range(2)]
    raws.append(await Raw.connect(listener))
    raws[2].send(request_head(headers=UPGRADE | first))
    status, headers, body = await raws[2].response()
    assert (status, json.loads(body)["error"]) == (429, "too_many_connections")
    assert int(headers["retry-after"]) > 0
    raws.append(await Raw.upgraded(listener, headers=other))
    raws[0].writer.transport.abort()
    await until(lambda: listener.connections == 2)
    raws.append(await Raw.upgraded(listener, headers=first))


async def test_handshakes_in_a_short_time_are_bounded(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), limits=Limits(handshake_burst=3, handshakes_per_s=0.1))
    for _ in range(3):
        raws.append(await Raw.upgraded(listener))
        raws[-1].writer.transport.abort()
    raws.append(await Raw.connect(listener))
    assert await _status(raws[-1]) == (429, "too_fast")


async def test_frames_of_one_address_are_bounded_together(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    limits = Limits(
        max_connections_per_address=4, address_frame_burst=25, address_frames_per_s=0.001
    )
    listener = await start(endpoint, limits=limits, access=Access(trusted_proxies=LOOPBACK))
    first, other = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
    raws += [await Raw.upgraded(listener, headers=first) for _ in range(3)]
    raws.append(await Raw.upgraded(listener, headers=other))
    for raw in raws[:2]:
        raw.send(raw_frame(b"{}") * 48)
    await endpoint.until(lambda: len(endpoint.texts) == 96)
    assert endpoint.codes == []
    raws[2].send(raw_frame(b"{}") * 48)
    assert await raws[2].close_code() == 4008
    raws[3].send(raw_frame(b"{}") * 48)  # another address has its own
    raws.append(await Raw.upgraded(listener, headers=first))
    raws[4].send(raw_frame(b"{}") * 9)  # a new connection brings no new frames
    assert await raws[4].close_code() == 4008
    await until(lambda: listener.connections == 3)
    assert endpoint.codes == [4008, 4008]


async def test_half_open_handshakes_lock_nobody_out(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint, limits=Limits(max_pending=20))
    early = await Raw.upgraded(listener)
    raws.append(early)
    raws += [await Raw.connect(listener) for _ in range(100)]
    late = await Raw.upgraded(listener)
    raws.append(late)
    for raw in (early, late):
        raw.send(raw_frame(b"{}"))
        assert await raw.frame() == (1, b"{}")
    assert listener.pending <= 20


async def test_the_quietest_goes_first(start: Start, raws: list[Raw]) -> None:
    http = HttpRoutes({"/healthz": lambda _: HttpResponse.json({})})
    listener = await start(Recorder(), http=http, limits=Limits(max_pending=2))
    busy, quiet = await Raw.connect(listener), await Raw.connect(listener)
    raws += [busy, quiet]
    assert (await busy.ask("/healthz"))[0] == 200
    raws.append(await Raw.connect(listener))
    await quiet.ended()
    assert (await busy.ask("/healthz"))[0] == 200


async def test_one_address_cannot_hold_all_half_open_places(start: Start, raws: list[Raw]) -> None:
    listener = await start(Recorder(), limits=Limits(max_connections_per_address=10))
    raws += [await Raw.connect(listener) for _ in range(30)]
    await within(raws[-1].ended())
    assert listener.pending == 10
    for raw in raws:
        raw.writer.transport.abort()
    await until(lambda: listener.pending == 0)


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
async def test_a_thousand_idle_connections_hurt_nobody(start: Start, raws: list[Raw]) -> None:
    limits = Limits(max_connections_per_address=2000, handshake_burst=2000, first_frame_s=60)
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint, limits=limits)
    for _ in range(20):
        raws += await asyncio.gather(*(Raw.upgraded(listener) for _ in range(50)))
    assert listener.connections == 1000
    async with client(listener) as ws:
        for i in range(100):
            await ws.send(str(i))
            assert await within(ws.recv(), 1) == str(i)
    for raw in raws:
        raw.writer.transport.abort()
    await until(lambda: listener.connections == 0)
    assert not listener._per_address
    assert not listener._pending_per_peer
    assert not listener.wheel._slots


# Whose page, and whose address.


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 101),
        ("http://localhost:80", 101),
        ("https://localhost", 101),
        ("https://friends.example", 101),
        ("http://localhost:8000", 403),
        ("https://evil.example", 403),
        ("https://friends.example.evil.example", 403),
        ("http://friends.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
async def test_only_our_pages_may_connect(
    start: Start, raws: list[Raw], origin: str, status: int
) -> None:
    listener = await start(Recorder(), access=Access(origins=["https://friends.example"]))
    raws.append(await Raw.connect(listener))
    assert (await _status(raws[0], Origin=origin))[0] == status


async def _address(start: Start, raws: list[Raw], access: Access, **headers: str) -> str:
    endpoint = Recorder()
    raws.append(await Raw.upgraded(await start(endpoint, access=access), headers=headers))
    return (await endpoint.connection()).address


async def test_a_forwarding_header_counts_from_a_trusted_proxy_only(
    start: Start, raws: list[Raw]
) -> None:
    spoofed = {"X-Forwarded-For": "6.6.6.6, 192.0.2.1", "Forwarded": "for=6.6.6.7"}
    assert await _address(start, raws, Access(), **spoofed) == "127.0.0.1"
    trusting = Access(trusted_proxies=LOOPBACK)
    assert await _address(start, raws, trusting, **spoofed) == "192.0.2.1"
    assert await _address(start, raws, trusting, Forwarded="for=6.6.6.7") == "127.0.0.1"
    other = Access(trusted_proxies=LOOPBACK, forwarded_header="forwarded")
    assert await _address(start, raws, other, **spoofed) == "6.6.6.7"


async def test_metrics_are_for_internal_clients(start: Start, raws: list[Raw]) -> None:
    def metrics(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"metrics", "text/plain")

    http = HttpRoutes({"/metrics": Route(metrics, is_internal=True)})
    for access, headers, status in (
        (Access(), {}, 200),
        (Access(), {"X-Forwarded-For": "127.0.0.1"}, 403),
        (Access(trusted_proxies=LOOPBACK), {"X-Forwarded-For": "192.0.2.1"}, 403),
        (Access(trusted_proxies=LOOPBACK), {"X-Forwarded-For": "192.0.2.1, 127.0.0.1"}, 403),
    ):
        raws.append(await Raw.connect(await start(Recorder(), http=http, access=access)))
        assert (await raws[-1].ask("/metrics", **headers))[0] == status


# Closing.


async def test_a_graceful_end(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    stubborn = await Raw.upgraded(listener)
    half_open = await Raw.connect(listener)
    raws += [stubborn, half_open]
    async with client(listener) as ws:
        await until(lambda: listener.connections == 2)
        before = asyncio.get_running_loop().time()
        await listener.close(1012, "the server restarts", timeout_s=0.2)
        assert asyncio.get_running_loop().time() - before < 1
        await within(ws.wait_closed())
        assert (ws.close_code, ws.close_reason) == (1012, "the server restarts")
    assert await stubborn.close_code() == 1012
    await half_open.ended()
    assert (listener.connections, listener.pending) == (0, 0)
    assert endpoint.codes == [1012, 1012]
    await listener.close()


async def test_draining_refuses_and_keeps(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint)
    raws += [await Raw.upgraded(listener), await Raw.connect(listener)]
    await until(lambda: listener.pending == 1)
    port = listener.port
    listener.stop_accepting()
    assert await _status(raws[1]) == (503, "restart")
    raws[0].send(raw_frame(b"{}"))
    assert await raws[0].frame() == (1, b"{}")
    with pytest.raises(OSError, match=r"."):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_look_up_that_fails_is_500(raws: list[Raw]) -> None:
    def fail(path: str) -> Endpoint | None:
        raise RuntimeError("a secret detail")

    listener = await listen(fail)
    raws.append(await Raw.connect(listener))
    assert await _status(raws[0]) == (500, "internal")
    await listener.close(timeout_s=0.1)


async def test_packing_is_off_unless_asked_for(start: Start) -> None:
    for deflate in (False, True):
        endpoint = Recorder(echoes=True)
        listener = await start(endpoint, limits=Limits(deflate=deflate))
        async with client(listener, compression="deflate") as ws:
            assert bool(ws.protocol.extensions) == deflate
            await ws.send("x" * 4000)
            assert await ws.recv() == "x" * 4000
            options: dict[str, Any] = {"text": True}
            await ws.send(b"plain", **options)
            assert await ws.recv() == "plain"


async def test_a_packed_bomb_is_too_big(start: Start) -> None:
    endpoint = Recorder()
    async with client(
        await start(endpoint, limits=Limits(deflate=True)), compression="deflate"
    ) as ws:
        await ws.send("x" * 100_000)
        await within(ws.wait_closed())
        assert ws.close_code == 1009


async def test_two_processes_may_share_a_port(start: Start) -> None:
    one = await listen(lambda _: None, reuse_port=True)
    other = await listen(lambda _: None, port=one.port, reuse_port=True)
    assert one.port == other.port
    for listener in (one, other):
        await listener.close(timeout_s=0.1)
