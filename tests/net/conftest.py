"""Listeners on loopback, endpoints that remember, and sockets without manners."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest
import uvloop
from websockets.asyncio.client import connect

from demineur.net import Access, Connection, HttpRoutes, Limits, Listener, listen

SECRET = "a secret of the nodes"

T = TypeVar("T")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The transport differs between the two loops, so every test here runs on both."""
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}


class Recorder:
    """An endpoint that keeps what it is told, and echoes if it shall."""

    def __init__(self, *, echoes: bool = False) -> None:
        self.echoes = echoes
        self.connections: list[Connection] = []
        self.texts: list[bytes] = []
        self.codes: list[int] = []
        self._changed = asyncio.Event()

    def opened(self, connection: Connection) -> None:
        self.connections.append(connection)
        self._changed.set()

    def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
        self.texts.append(text)
        if self.echoes:
            connection.send(text)
        self._changed.set()

    def closed(self, connection: Connection, code: int) -> None:
        self.codes.append(code)
        self._changed.set()

    async def until(self, ready: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not ready():
                self._changed.clear()
                await self._changed.wait()

    async def connection(self) -> Connection:
        await self.until(lambda: bool(self.connections))
        return self.connections[-1]

    async def code(self) -> int:
        await self.until(lambda: bool(self.codes))
        return self.codes[-1]


Start = Callable[..., Coroutine[Any, Any, Listener]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Return a function that starts a listener, which the test's end closes."""
    listeners: list[Listener] = []

    async def start(
        endpoint: Any = None,
        *,
        http: HttpRoutes | None = None,
        limits: Limits | None = None,
        access: Access | None = None,
    ) -> Listener:
        listener = await listen(
            lambda path: endpoint if path.startswith("/ws/") else None,
            http=http,
            limits=limits,
            access=access,
        )
        listeners.append(listener)
        return listener

    yield start
    for listener in listeners:
        await listener.close(timeout_s=0.2)


def client(listener: Listener, path: str = "/ws/K7MP3QXZ", **options: Any) -> connect:
    """Return the ordinary client of ``websockets``, not yet connected."""
    options.setdefault("subprotocols", ["demineur.v1"])
    options.setdefault("proxy", None)
    return connect(f"ws://127.0.0.1:{listener.port}{path}", **options)


_KEY = "dGhlIHNhbXBsZSBub25jZQ=="
_MASK = b"\x01\x02\x03\x04"

UPGRADE = {
    "Host": "localhost",
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": _KEY,
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "demineur.v1",
}


def request_head(
    path: str = "/ws/K7MP3QXZ", method: str = "GET", headers: dict[str, str] = UPGRADE
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join((*lines, "", "")).encode()


def raw_frame(
    payload: bytes, opcode: int = 1, *, fin: bool = True, masked: bool = True, rsv: int = 0
) -> bytes:
    """Return a frame of a client, right or wrong."""
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    second, length = (0x80 if masked else 0), len(payload)
    if length < 126:
        head = struct.pack("!BB", first, second | length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", first, second | 126, length)
    else:
        head = struct.pack("!BBQ", first, second | 127, length)
    if not masked:
        return head + payload
    return head + _MASK + bytes(byte ^ _MASK[i % 4] for i, byte in enumerate(payload))


class Raw:
    """A client that does what it is told, and no more."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, listener: Listener, *, receive_bytes: int = 0) -> "Raw":
        sock = socket.socket()
        sock.setblocking(False)
        if receive_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", listener.port))
        return cls(*await asyncio.open_connection(sock=sock, limit=receive_bytes or 65536))

    @classmethod
    async def upgraded(
        cls, listener: Listener, *, receive_bytes: int = 0, headers: dict[str, str] | None = None
    ) -> "Raw":
        raw = await cls.connect(listener, receive_bytes=receive_bytes)
        raw.send(request_head(headers=UPGRADE | (headers or {})))
        status, _, _ = await raw.response()
        assert status == 101
        return raw

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def response(self, *, is_head: bool = False) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers (names in small letters) and body of the next response."""
        head = (await within(self.reader.readuntil(b"\r\n\r\n"))).decode("latin-1")
        status, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): text for name, text in (line.split(": ", 1) for line in lines)}
        size = 0 if is_head else int(headers.get("content-length", "0"))
        return int(status.split()[1]), headers, await within(self.reader.readexactly(size))

    async def ask(self, path: str, method: str = "GET", **headers: str) -> Any:
        self.send(request_head(path, method, {"Host": "localhost"} | headers))
        return await self.response(is_head=method == "HEAD")

    async def frame(self) -> tuple[int, bytes]:
        """Return opcode and payload of the next frame."""
        first, length = await within(self.reader.readexactly(2))
        if length == 126:
            length = int.from_bytes(await within(self.reader.readexactly(2)))
        elif length == 127:
            length = int.from_bytes(await within(self.reader.readexactly(8)))
        return first & 0x0F, await within(self.reader.readexactly(length))

    async def close_code(self) -> int:
        """Skip to the close frame, and return its code; 1006 where the end comes without."""
        try:
            while True:
                opcode, payload = await self.frame()
                if opcode == 8:
                    return int.from_bytes(payload[:2])
        except (asyncio.IncompleteReadError, ConnectionError):
            return 1006

    async def ended(self) -> None:
        """Wait for the server to hang up, whatever comes before."""
        with contextlib.suppress(ConnectionError):
            while await within(self.reader.read(65536)):
                pass


@pytest.fixture
async def raws() -> AsyncIterator[list[Raw]]:
    """Return a list; the clients in it are dropped at the test's end."""
    clients: list[Raw] = []
    yield clients
    for raw in clients:
        raw.writer.transport.abort()
    await asyncio.sleep(0)


async def until(is_so: Callable[[], bool], seconds: float = 5) -> None:
    """Let the event loop turn until it is so."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(0)


async def within(awaitable: Awaitable[T], seconds: float = 5) -> T:
    async with asyncio.timeout(seconds):
        return await awaitable
