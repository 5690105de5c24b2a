"""What the store stands on: a Redis by its address, one of our own, or one in this process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from demineur.store.address import Form, RedisAddress, parse_address, safe_url
from demineur.store.connect import open_link
from demineur.store.errors import StoreMisconfigured
from demineur.store.link import Link, LinkBroken, PoolLink
from demineur.store.own_redis import POLL_S, OwnRedis, find_server
from demineur.store.settings import StoreSettings

logger = logging.getLogger(__name__)

MEMORY = "memory://"

_named: "WeakValueDictionary[str, Any]" = WeakValueDictionary()

LOAD_S = 120.0
"""How long an own Redis may take to load its file."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Two links (the beat has its own), and how to close them and what is behind them."""

    link: Link
    beat_link: Link
    description: str
    durable: bool
    replicas: int = 0
    """Replicas that a write waits for, where so many are connected."""
    stop: Callable[[], Awaitable[None]] | None = None

    async def close(self) -> None:
        """Close the links and stop an own Redis."""
        await self.beat_link.close()
        await self.link.close()
        if self.stop is not None:
            await self.stop()


async def open_backend(settings: StoreSettings) -> Backend:
    """Return what the settings ask for. A Redis by address is not asked anything yet."""
    if settings.url is not None and settings.url.startswith(MEMORY):
        return open_memory(settings, settings.url.removeprefix(MEMORY))
    if settings.url is not None:
        address = parse_address(settings.url)
        return Backend(
            open_link(address, settings),
            open_link(address, settings),
            f"Redis at {safe_url(settings.url)}",
            durable=True,
            replicas=_replicas(address, settings),
        )
    program = settings.server_program or find_server()
    if program is not None:
        return await _open_own(program, settings)
    if not settings.allow_memory:
        raise StoreMisconfigured("There is no redis-server or valkey-server on the PATH.")
    logger.warning(
        "No Redis address is set, and neither redis-server nor valkey-server is on the PATH: "
        "rooms and players are kept in this process and are gone when it ends."
    )
    return open_memory(settings, "")


def _replicas(address: RedisAddress, settings: StoreSettings) -> int:
    if settings.replicas is not None:
        return settings.replicas
    return 0 if address.form is Form.STANDALONE else 1


async def _open_own(program: Path, settings: StoreSettings) -> Backend:
    directory = settings.data_dir / "redis"
    own = await OwnRedis.start(program, directory, settings.fsync)
    address = RedisAddress(Form.STANDALONE, socket_path=str(own.socket))
    link = open_link(address, settings)
    try:
        await _until_loaded(own, link)
    except BaseException:
        await link.close()
        await own.stop()
        raise
    own.supervise()
    return Backend(
        link,
        open_link(address, settings),
        f"own {program.name} with its data in {directory}",
        durable=True,
        stop=own.stop,
    )


async def _until_loaded(own: OwnRedis, link: Link) -> None:
    deadline = asyncio.get_running_loop().time() + LOAD_S
    while True:
        own.check()
        try:
            await link.send("", [("PING",)])
        except LinkBroken as broken:
            if asyncio.get_running_loop().time() > deadline:
                raise StoreMisconfigured(f"The own Redis does not answer: {broken}") from broken
            await asyncio.sleep(POLL_S)
        else:
            return


def open_memory(settings: StoreSettings, name: str) -> Backend:
    """Return a Redis inside this process, from which nothing survives.

    Stores that give the same name share it for as long as one of them is open.
    """
    from fakeredis import FakeAsyncRedis, FakeServer  # noqa: PLC0415 (slow to import, seldom used)

    server = _named.setdefault(name, FakeServer()) if name else FakeServer()
    options = {"protocol": 2, "socket_timeout": settings.call_timeout_s}
    link, beat_link = (
        PoolLink(FakeAsyncRedis(server=server, **options).connection_pool) for _ in range(2)
    )
    return Backend(link, beat_link, "Redis inside this process", durable=False)
