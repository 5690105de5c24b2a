"""A client at the wrong node: frames both ways, ends both ways, and what can fail before."""

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from demineur.net import (
    LOOPBACK,
    Access,
    Connection,
    Limits,
    Listener,
    RelayRefused,
    RelayTimeout,
    relay,
)
from demineur.net.relay_client import _connect
from demineur.net.relay_proof import (
    ADDRESS_HEADER,
    PROOF_HEADER,
    checked_secret,
    is_proven,
    proof,
)
from tests.net.conftest import (
    SECRET,
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

_INNER = Access(relay_secret=SECRET)
_KEY = UPGRADE["Sec-WebSocket-Key"]
_OTHER = checked_secret("another secret of nodes")


@dataclass
class _Outer(Recorder):
    """An endpoint that relays each connection at once, or when it has heard the first frame."""

    address: str = ""
    secret: str = SECRET
    waits_for_first: bool = False
    timeout_s: float = 2.0
    errors: list[BaseException | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._tasks: list[asyncio.Task[None]] = []

    def opened(self, connection: Connection) -> None:
        super().opened(connection)
        if not self.waits_for_first:
            self._start(connection, [])

    def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
        super().received(connection, text, arrived_ns)
        if self.waits_for_first and len(self.texts) == 1:
            self._start(connection, [text])

    def _start(self, connection: Connection, first: list[bytes]) -> None:
        if first:
            connection.hold()  # what comes behind it may be here before the task has begun
        self._tasks.append(asyncio.ensure_future(self._relay(connection, first)))

    async def _relay(self, connection: Connection, first: list[bytes]) -> None:
        try:
            await relay(
                connection, self.address, self.secret, first=first, timeout_s=self.timeout_s
            )
            self.errors.append(None)
        except (RelayRefused, RelayTimeout, ValueError) as error:
            self.errors.append(error)
        self._changed.set()

    async def error(self) -> BaseException | None:
        await self.until(lambda: bool(self.errors))
        return self.errors[-1]


@dataclass
class _Nodes:
    """The node a client has reached, and the node that runs its room."""

    outer: Listener
    inner: Listener
    at_outer: _Outer
    at_inner: Recorder


@pytest.fixture
async def nodes(start: Start) -> _Nodes:
    at_inner = Recorder(echoes=True)
    inner = await start(at_inner, access=_INNER)
    at_outer = _Outer(address=f"127.0.0.1:{inner.port}")
    outer = await start(at_outer, access=Access(trusted_proxies=LOOPBACK))
    return _Nodes(outer, inner, at_outer, at_inner)


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """Yield an address that takes connections and says nothing, as a paused node does."""
    sock = socket.create_server(("127.0.0.1", 0), backlog=8)
    yield f"127.0.0.1:{sock.getsockname()[1]}"
    sock.close()


async def test_frames_go_both_ways_as_the_clients_own(nodes: _Nodes) -> None:
    headers = {"X-Forwarded-For": "192.0.2.7"}
    async with client(nodes.outer, additional_headers=headers) as ws:
        for text in ("one", "é🚩", "x" * 4000):
            await ws.send(text)
            assert await ws.recv() == text
        connection = await nodes.at_inner.connection()
        assert connection.relayed
        assert connection.path == "/ws/K7MP3QXZ"
        assert connection.address == "192.0.2.7"
        connection.send(b"y" * 100_000)
        assert await ws.recv() == "y" * 100_000
    assert await nodes.at_inner.code() == 1000
    assert await nodes.at_outer.code() == 1000
    assert nodes.at_outer.texts == []


async def test_what_the_node_says_with_its_handshake_is_not_lost(start: Start) -> None:
    class Brief(Recorder):
        def opened(self, connection: Connection) -> None:
            super().opened(connection)
            connection.send(b"full")
            connection.close(4010, "go away")

    inner = await start(Brief(), access=_INNER)
    async with client(await start(_Outer(address=f"127.0.0.1:{inner.port}"))) as ws:
        assert await ws.recv() == "full"
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert ws.close_code == 4010


async def test_what_the_node_says_before_the_pipe_waits_for_it(start: Start) -> None:
    at_inner, at_outer = Recorder(), Recorder()
    inner = await start(at_inner, access=_INNER)
    async with client(await start(at_outer)) as ws:
        connection = await at_outer.connection()
        connection.hold()
        address = f"127.0.0.1:{inner.port}"
        upstream = await _connect(connection, address, checked_secret(SECRET), 2)
        room = await at_inner.connection()
        for text in (b"one", b"two"):
            room.send(text)
            await asyncio.sleep(0.02)
        room.close(4004, "closed")
        await asyncio.sleep(0.02)
        upstream.pipe(connection, [])
        assert [await ws.recv(), await ws.recv()] == ["one", "two"]
        await within(ws.wait_closed())
        assert ws.close_code == 4004


async def test_what_came_first_goes_ahead_of_what_came_meanwhile(
    nodes: _Nodes, raws: list[Raw]
) -> None:
    nodes.at_outer.waits_for_first = True
    raws.append(await Raw.upgraded(nodes.outer))
    texts = [b"%d" % i for i in range(500)]
    raws[0].send(b"".join(raw_frame(text) for text in texts))
    await nodes.at_inner.until(lambda: len(nodes.at_inner.texts) == 500)
    assert nodes.at_inner.texts == texts
    assert nodes.at_outer.texts == texts[:1]
    for text in texts:
        assert await raws[0].frame() == (1, text)


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4999])
async def test_the_clients_code_reaches_the_room(nodes: _Nodes, code: int) -> None:
    async with client(nodes.outer) as ws:
        await ws.send("{}")
        await ws.recv()
        await ws.close(code)
    assert await nodes.at_inner.code() == code
    assert await nodes.at_outer.code() == code


@pytest.mark.parametrize(("code", "reason"), [(4002, "you came back"), (1012, "restart")])
async def test_the_rooms_code_reaches_the_client(nodes: _Nodes, code: int, reason: str) -> None:
    async with client(nodes.outer) as ws:
        connection = await nodes.at_inner.connection()
        connection.send(b"goodbye")
        connection.close(code, reason)
        assert await ws.recv() == "goodbye"
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert (ws.close_code, ws.close_reason) == (code, reason)
    assert await nodes.at_inner.code() == code
    assert await nodes.at_outer.code() == code
    await until(lambda: nodes.inner.connections == nodes.outer.connections == 0)


async def test_a_lost_client_is_lost_for_the_room_too(nodes: _Nodes) -> None:
    raw = await Raw.upgraded(nodes.outer)
    await nodes.at_inner.connection()
    raw.writer.transport.abort()
    assert await nodes.at_inner.code() == 1006
    assert await nodes.at_outer.code() == 1006


async def test_a_lost_node_sends_the_client_back_at_once(nodes: _Nodes) -> None:
    async with client(nodes.outer) as ws:
        (await nodes.at_inner.connection()).abort()
        await within(ws.wait_closed())
        assert ws.close_code == 1012
    assert await nodes.at_outer.code() == 1012


async def test_abuse_is_closed_where_it_arrives(nodes: _Nodes, raws: list[Raw]) -> None:
    raws.append(await Raw.upgraded(nodes.outer))
    await nodes.at_inner.connection()
    raws[0].send(raw_frame(b"\x00", 2))
    assert await raws[0].close_code() == 1003
    assert await nodes.at_inner.code() == 1003


# What waits.


async def test_a_client_that_never_reads_is_bounded_at_both_nodes(
    start: Start, raws: list[Raw]
) -> None:
    limits = Limits(close_timeout_s=0.2, stall_timeout_s=0.4)
    at_inner = Recorder()
    inner = await start(at_inner, access=_INNER, limits=limits)
    at_outer = _Outer(address=f"127.0.0.1:{inner.port}")
    outer = await start(at_outer, limits=limits)
    raws.append(await Raw.upgraded(outer, receive_bytes=4096))
    raws[0].writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await at_inner.connection()
    most_inner = most_outer = 0
    while not at_outer.codes:
        connection.send(b"x" * 1000)
        most_inner = max(most_inner, connection.buffered)
        most_outer = max(most_outer, at_outer.connections[0].buffered)
        await asyncio.sleep(0)
    assert 16_384 < most_outer < 16_384 + 2 * 262_144  # a read of the other node's at most
    assert most_inner <= 262_144 + 1004
    assert at_outer.codes == [4009]
    await at_inner.code()
    await until(lambda: inner.connections == outer.connections == 0)


async def test_a_slow_client_drops_the_rooms_progress(nodes: _Nodes, raws: list[Raw]) -> None:
    raws.append(await Raw.upgraded(nodes.outer, receive_bytes=4096))
    raws[0].writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await nodes.at_inner.connection()
    await until(lambda: not connection.send_droppable(b"p" * 1000))
    connection.send(b"m")
    raws[0].writer.transport.resume_reading()  # type: ignore[attr-defined]
    while await raws[0].frame() != (1, b"m"):
        pass
    assert connection.send_droppable(b"again")
    assert await raws[0].frame() == (1, b"again")


async def test_a_node_that_is_behind_stops_the_client(nodes: _Nodes, raws: list[Raw]) -> None:
    raws.append(await Raw.upgraded(nodes.outer))
    (await nodes.at_inner.connection()).pause(True)
    texts = [b"%d" % i + b"x" * 2000 for i in range(1500)]
    raws[0].send(b"".join(raw_frame(text) for text in texts))
    at_outer = nodes.at_outer.connections[0]
    await until(lambda: bool(at_outer._pauses))
    nodes.at_inner.echoes = False
    nodes.at_inner.connections[0].pause(False)
    await nodes.at_inner.until(lambda: len(nodes.at_inner.texts) == 1500)
    assert nodes.at_inner.texts == texts


async def test_a_node_that_stays_behind_is_lost(
    nodes: _Nodes, raws: list[Raw], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demineur.net.relay_client._STALL_TIMEOUT_S", 0.1)
    raws.append(await Raw.upgraded(nodes.outer))
    (await nodes.at_inner.connection()).pause(True)
    raws[0].send(raw_frame(b"x" * 4000) * 1500)
    assert await raws[0].close_code() == 1012


# What can fail before anything was forwarded.


async def _takes_over(outer: _Outer, listener: Listener) -> None:
    """The client speaks, the relay fails, and the first node finds every word."""
    async with client(listener) as ws:
        for text in ("hello", "join", "tap"):
            await ws.send(text)
        await outer.error()
        assert outer.texts == []
        outer.echoes = True
        outer.connections[0].release()
        for text in ("hello", "join", "tap"):
            assert await ws.recv() == text
        await ws.send("again")
        assert await ws.recv() == "again"
    assert await outer.code() == 1000


async def test_nobody_there_is_refused_and_nothing_is_lost(start: Start) -> None:
    gone = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{gone.getsockname()[1]}"
    gone.close()
    outer = _Outer(address=address)
    await _takes_over(outer, await start(outer))
    error = await outer.error()
    assert isinstance(error, RelayRefused)
    assert error.status is None


async def test_a_silent_node_times_out_and_nothing_is_lost(start: Start, silent: str) -> None:
    outer = _Outer(address=silent, timeout_s=0.2)
    await _takes_over(outer, await start(outer))
    assert isinstance(await outer.error(), RelayTimeout)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"secret": "another secret of nodes"}, 403),
        ({"is_draining": True}, 503),
        ({"endpoint": None}, 404),
    ],
)
async def test_a_node_that_says_no(start: Start, changes: dict[str, Any], status: int) -> None:
    inner = await start(None if "endpoint" in changes else Recorder(), access=_INNER)
    inner.is_closing = "is_draining" in changes
    outer = _Outer(address=f"127.0.0.1:{inner.port}", secret=changes.get("secret", SECRET))
    await _takes_over(outer, await start(outer))
    error = await outer.error()
    assert isinstance(error, RelayRefused)
    assert error.status == status


async def _answers(answer: bytes) -> tuple[asyncio.Server, str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: wrong\r\nSec-WebSocket-Protocol: demineur.v1\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"x" * 20_000,
    ],
)
async def test_what_is_no_node_is_refused(start: Start, answer: bytes) -> None:
    server, address = await _answers(answer)
    outer = _Outer(address=address)
    await _takes_over(outer, await start(outer))
    assert isinstance(await outer.error(), RelayRefused)
    server.close()


async def test_a_client_that_leaves_meanwhile_is_told_of_to_both(nodes: _Nodes) -> None:
    nodes.at_outer.waits_for_first = True
    raw = await Raw.upgraded(nodes.outer)
    raw.send(raw_frame(b"hello") + raw_frame(b"leave") + raw_frame(b"\x03\xe8", 8))
    assert await nodes.at_inner.code() == 1000
    assert nodes.at_inner.texts == [b"hello", b"leave"]
    assert await nodes.at_outer.code() == 1000
    raw.writer.close()


async def test_a_relay_that_is_cancelled_leaves_the_connection_held(
    start: Start, silent: str
) -> None:
    outer = _Outer(address=silent, timeout_s=10)
    async with client(await start(outer)) as ws:
        await outer.connection()
        await asyncio.sleep(0.02)
        outer._tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await outer._tasks[0]
        outer.echoes = True
        outer.connections[0].release()
        await ws.send("still here")
        assert await ws.recv() == "still here"


async def test_one_hop_only(nodes: _Nodes, start: Start) -> None:
    class Again(_Outer):
        pass

    again = Again(address=nodes.at_outer.address)
    middle = await start(again, access=_INNER)
    nodes.at_outer.address = f"127.0.0.1:{middle.port}"
    async with client(nodes.outer):
        assert isinstance(await again.error(), ValueError)
        again.connections[0].release()
    assert nodes.at_inner.connections == []


# The internal listener.


@pytest.mark.parametrize(
    "change",
    [
        {},
        {PROOF_HEADER: "0" * 64},
        {PROOF_HEADER: ""},
        {PROOF_HEADER: "é"},
        {
            PROOF_HEADER: proof(
                checked_secret("another secret of nodes"), _KEY, "/relay/A", "1.1.1.1"
            )
        },
        {PROOF_HEADER: proof(checked_secret(SECRET), _KEY, "/relay/B", "1.1.1.1")},
        {PROOF_HEADER: proof(checked_secret(SECRET), _KEY, "/relay/A", "2.2.2.2")},
        {PROOF_HEADER: proof(checked_secret(SECRET), "other key", "/relay/A", "1.1.1.1")},
    ],
)
async def test_without_the_right_proof_it_is_403(
    start: Start, raws: list[Raw], change: dict[str, str]
) -> None:
    endpoint = Recorder()
    raws.append(await Raw.connect(await start(endpoint, access=_INNER)))
    headers = UPGRADE | {ADDRESS_HEADER: "1.1.1.1"} | change
    raws[0].send(request_head("/relay/A", headers=headers))
    assert (await raws[0].response())[0] == 403
    assert endpoint.connections == []


@pytest.mark.parametrize(
    ("path", "address", "status"),
    [
        ("/relay/A", "1.1.1.1", 101),
        ("/ws/A", "1.1.1.1", 403),
        ("/relay/A", "nowhere", 403),
    ],
)
async def test_a_proof_is_for_relays_of_addresses(
    start: Start, raws: list[Raw], path: str, address: str, status: int
) -> None:
    raws.append(await Raw.connect(await start(Recorder(), access=_INNER)))
    right = proof(checked_secret(SECRET), _KEY, path, address)
    headers = UPGRADE | {ADDRESS_HEADER: address, PROOF_HEADER: right}
    raws[0].send(request_head(path, headers=headers))
    assert (await raws[0].response())[0] == status


async def test_the_public_listener_takes_no_relay(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raws.append(await Raw.connect(await start(endpoint)))
    right = proof(checked_secret(SECRET), _KEY, "/relay/A", "1.1.1.1")
    headers = UPGRADE | {ADDRESS_HEADER: "1.1.1.1", PROOF_HEADER: right}
    raws[0].send(request_head("/relay/A", headers=headers))
    assert (await raws[0].response())[0] == 404
    raws.append(await Raw.connect(await start(endpoint)))
    raws[1].send(request_head("/ws/A", headers=headers))
    assert (await raws[1].response())[0] == 101
    assert endpoint.connections[0].address == "127.0.0.1"
    assert not endpoint.connections[0].relayed


async def test_a_secret_has_a_length(start: Start) -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        await start(Recorder(), access=Access(relay_secret="short"))


def test_a_proof_fits_its_own_handshake_only() -> None:
    secret = checked_secret(SECRET)
    right = proof(secret, _KEY, "/relay/A", "1.1.1.1")
    assert is_proven(secret, right, _KEY, "/relay/A", "1.1.1.1")
    assert not is_proven(secret, right, _KEY, "/relay/A\n1.1.1.1", "")
    assert SECRET not in right
