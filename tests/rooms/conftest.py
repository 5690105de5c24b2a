"""Nodes over a real Redis, and players around them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tests.redis_servers import RedisServer
from tests.rooms.table import Table

OpenTable = Callable[..., Awaitable[Table]]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests that do not hurt it; room codes are drawn, so none meets another."""
    with RedisServer(tmp_path_factory.mktemp("redis"), fsync="everysec").ready() as server:
        yield server


@pytest.fixture
async def open_table(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[OpenTable]:
    """Open tables that are audited and closed after the test."""
    tables: list[Table] = []

    async def open_one(**settings: Any) -> Table:
        table = await Table.open(monkeypatch, redis_server.url, **settings)
        tables.append(table)
        return table

    yield open_one
    for table in tables:
        await table.close()


@pytest.fixture
async def table(open_table: OpenTable) -> Table:
    return await open_table()
