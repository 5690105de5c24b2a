"""Listeners on loopback, endpoints that remember, and sockets without manners."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import uvloop
from websockets.asyncio.client import ClientConnection, connect

from demineur.net import Access, Connection, HttpRoutes, Limits, Listener, listen

SECRET = "a secret of the nodes"


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


__all__ = ["SECRET", "ClientConnection", "Recorder", "Start", "client"]
