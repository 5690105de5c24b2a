"""Stores over every kind of Redis."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest

from demineur.store import Lease, Store, StoreSettings
from demineur.store.own_redis import bundled_server
from tests.redis_servers import (
    AccessServer,
    ClusterSet,
    RedisServer,
    SentinelSet,
    SocketServer,
    TlsServer,
)

FORMS = ["tcp", "unix", "tls", "sentinel", "cluster", "bundled", "memory"]


class Servers:
    """The servers of a test session, each started when first asked for."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._started = contextlib.ExitStack()

    @cached_property
    def tcp(self) -> RedisServer:
        return self._started.enter_context(AccessServer(self._directory / "tcp")).ready()

    @cached_property
    def unix(self) -> RedisServer:
        return self._started.enter_context(SocketServer(self._directory / "unix")).ready()

    @cached_property
    def tls(self) -> RedisServer:
        return self._started.enter_context(TlsServer(self._directory / "tls")).ready()

    @cached_property
    def sentinel(self) -> SentinelSet:
        return self._started.enter_context(SentinelSet(self._directory / "sentinel"))

    @cached_property
    def cluster(self) -> ClusterSet:
        return self._started.enter_context(ClusterSet(self._directory / "cluster"))

    def close(self) -> None:
        self._started.close()


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.close()


def settings_of(form: str, servers: Servers, tmp_path: Path) -> tuple[StoreSettings, str]:
    """Settings for a store over a form of Redis, and the address for a second one."""
    socket = f"unix://{tmp_path}/redis/redis.sock"
    if form == "bundled":
        return StoreSettings(data_dir=tmp_path, server_program=bundled_server()), socket
    url = f"memory://{tmp_path}" if form == "memory" else getattr(servers, form).url
    return StoreSettings(url=url), url


OpenStore = Callable[[StoreSettings], Awaitable[Store]]
OpenAnother = Callable[..., Awaitable[Store]]


@pytest.fixture
async def open_store() -> AsyncIterator[OpenStore]:
    """Open stores that are closed after the test."""
    async with contextlib.AsyncExitStack() as opened:

        async def open_one(settings: StoreSettings) -> Store:
            store = await Store.open(settings)
            opened.push_async_callback(store.close)
            return store

        yield open_one


@pytest.fixture(params=FORMS)
async def stores(
    request: pytest.FixtureRequest, servers: Servers, tmp_path: Path, open_store: OpenStore
) -> OpenAnother:
    """Open stores of different nodes over the same Redis, each form of it in turn."""
    first, shared_url = settings_of(request.param, servers, tmp_path)
    remaining = [first]

    async def open_another(**changes: object) -> Store:
        settings = remaining.pop() if remaining else StoreSettings(url=shared_url)
        return await open_store(replace(settings, **changes))  # type: ignore[arg-type]

    return open_another


@pytest.fixture
async def store(stores: OpenAnother) -> Store:
    """A store over each form of Redis in turn."""
    return await stores()


@pytest.fixture
def code() -> str:
    """A room code that no other test has."""
    return secrets.token_hex(4).upper()


async def begin(store: Store, code: str, *events: bytes) -> Lease:
    """Make a room with these events."""
    lease = await store.acquire(code, create=True)
    assert isinstance(lease, Lease)
    if events:
        await store.append(code, lease.epoch, 1, events, ttl_ms=600_000)
    return lease
