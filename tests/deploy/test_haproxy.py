"""The shipped balancer configuration in a real HAProxy, before stand-ins for two nodes.

What it does with real nodes and races is in tests/faults; here is what it decides by itself.
"""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.deploy.balancer import CONFIG, Balancer, environment, program

CODES = [f"/ws/R{number:07}" for number in range(60)]


@dataclass
class Node:
    """Answers every request with its name and what it was told about the client."""

    name: str
    port: int = 0
    draining: bool = False
    asked: list[str] = field(default_factory=list)
    checked: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None
    talks: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self.server is not None:
            self.server.close()
        for talk in self.talks:
            talk.cancel()
        await asyncio.gather(*self.talks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.talks.add(task)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._talk(reader, writer)
        finally:
            self.talks.discard(task)
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split()[1]
            self.asked.append(path)
            if path == "/healthz":
                self.checked.set()
            refused = self.draining and path != "/healthz"
            told = [line for line in head.splitlines() if "forwarded-for" in line.lower()]
            body = " ".join([self.name, *told])
            status = "503 Service Unavailable" if refused else "200 OK"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


@dataclass
class Site:
    a: Node
    b: Node
    port: int

    async def get(self, path: str, header: str = "") -> tuple[int, str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n".encode()
        )
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
        writer.close()
        await writer.wait_closed()
        return int(head.split()[1]), body

    async def who(self, path: str) -> str:
        status, body = await self.get(path)
        assert status == 200, body
        return body.split()[0]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    a, b = Node("a"), Node("b")
    await a.start()
    await b.start()
    try:
        with Balancer(tmp_path / "haproxy.log", a.port, b.port) as balancer:
            async with asyncio.timeout(20):
                await a.checked.wait()
                await b.checked.wait()
            yield Site(a, b, balancer.port)
    finally:
        await a.stop()
        await b.stop()


async def test_a_room_always_goes_to_the_same_node_and_rooms_are_spread(site: Site) -> None:
    first = {path: await site.who(path) for path in CODES}
    again = {path: await site.who(f"{path}?again") for path in reversed(CODES)}
    assert first == again
    assert 15 <= list(first.values()).count("a") <= 45


async def test_a_node_that_drains_loses_no_handshake(site: Site) -> None:
    before = [await site.who(path) for path in CODES]
    site.a.draining = True
    assert {await site.who(path) for path in CODES} == {"b"}
    site.a.draining = False
    assert [await site.who(path) for path in CODES] == before


async def test_a_dead_node_loses_no_handshake_even_before_it_is_found_dead(site: Site) -> None:
    await site.a.stop()
    assert {await site.who(path) for path in CODES} == {"b"}


async def test_while_no_node_is_ready_the_answer_is_their_own(site: Site) -> None:
    site.a.draining = site.b.draining = True
    status, body = await site.get(CODES[0])
    assert status == 503
    assert body.split()[0] in {"a", "b"}


async def test_what_a_client_claims_about_its_address_is_thrown_away(site: Site) -> None:
    _, body = await site.get(CODES[0], "X-Forwarded-For: 192.0.2.66\r\n")
    assert body.lower().split()[1:] == ["x-forwarded-for:", "127.0.0.1"]


@pytest.mark.parametrize("path", ["/metrics", "/relay/K7MP3QXZ"])
async def test_what_is_for_operators_and_nodes_stays_inside(site: Site, path: str) -> None:
    status, _ = await site.get(path)
    assert status == 404
    assert path not in site.a.asked + site.b.asked


def check(config: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), "-c", "-f", str(config)],
        capture_output=True,
        text=True,
        env=environment(18080, 18081, 18082),
        check=False,
        timeout=30,
    )


def test_haproxy_takes_the_configuration_without_a_warning() -> None:
    checked = check(CONFIG)
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr


def test_a_fault_in_the_configuration_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "haproxy.cfg"
    broken.write_text(CONFIG.read_text().replace("balance uri", "balance url"))
    assert check(broken).returncode != 0
