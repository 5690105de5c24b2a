"""What the fault tests share: how large they are, and a Redis and two nodes."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.redis_servers import RedisServer
from tests.server_process import ServerProcess

FULL = os.environ.get("DEMINEUR_FULL") == "1"
SECRET = "a secret of the tests, long enough"
MANY = 1_000_000

Node = Callable[..., ServerProcess]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.faults)
            item.add_marker(pytest.mark.timeout(600 if FULL else 240))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path / "redis") as server:
        yield server.ready()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """Make nodes of one site: ``node("a", redis_url)``; they are ended afterwards."""
    with contextlib.ExitStack() as stack:

        def make(name: str, redis_url: str, **settings: object) -> ServerProcess:
            server = ServerProcess(
                tmp_path / name,
                redis_url=redis_url,
                cluster_secret=SECRET,
                # All players of a test have one address.
                net__max_connections_per_address=10_000,
                net__handshake_burst=MANY,
                players__creation_burst=MANY,
                players__identity_burst=MANY,
                **settings,
            )
            return stack.enter_context(server.start()).ready()

        yield make
