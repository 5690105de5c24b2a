"""Echoes per second of this project's transport beside ``websockets``' own asyncio server.

Both run in this one process' children, one after the other, on the same loop kind (uvloop),
over loopback, with the same client: raw sockets that keep ``--depth`` messages under way on
each of ``--connections`` connections. The client is lean (it builds its frames once and counts
bytes), so that the server is the limit; each has a core of its own where there are two.

    python loadtest/bench_net.py --seconds 5 --json
"""

import argparse
import asyncio
import json
import logging
import multiprocessing
import os
import resource
import struct
import sys
import time
from functools import partial
from multiprocessing.connection import Connection as Pipe
from typing import Any

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from demineur.net import Connection, Limits, listen

_PAYLOAD = b'{"t":"tap","n":1234,"c":417}'
_KEY = "dGhlIHNhbXBsZSBub25jZQ=="


class _Echo:
    """The endpoint of the transport under test."""

    def opened(self, connection: Connection) -> None:
        """Nothing to do."""

    def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
        """Send it back."""
        connection.send(text)

    def closed(self, connection: Connection, code: int) -> None:
        """Nothing to do."""


def _resident_bytes() -> int:
    with open("/proc/self/statm") as statm:  # noqa: PTH123 - not a file of ours
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _serve_ours(ready: Pipe) -> None:
    many = 1_000_000
    limits = Limits(
        max_connections_per_address=many,
        handshakes_per_s=many,
        handshake_burst=many,
        frames_per_s=many,
        frame_burst=many,
        first_frame_s=600,
    )
    echo = _Echo()
    listener = await listen(lambda path: echo, limits=limits)
    ready.send(listener.port)
    await _measure(ready)
    await listener.close(timeout_s=0.1)


async def _serve_plain(ready: Pipe) -> None:
    # The client ends by a reset, which this server would report for each connection.
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)

    async def echo(connection: ServerConnection) -> None:
        async for text in connection:
            await connection.send(text)

    async with serve(
        echo, "127.0.0.1", 0, compression=None, subprotocols=[Subprotocol("demineur.v1")]
    ) as server:
        ready.send(next(iter(server.sockets)).getsockname()[1])
        await _measure(ready)


async def _measure(ready: Pipe) -> None:
    """Answer each request for figures until told to stop (an empty message)."""
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, ready.recv):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        ready.send((_resident_bytes(), usage.ru_utime + usage.ru_stime))


class _Client(asyncio.Protocol):
    """Keeps ``depth`` messages under way; counts what comes back."""

    def __init__(self, depth: int, shaken: asyncio.Future[None]) -> None:
        mask = b"\x01\x02\x03\x04"
        body = bytes(byte ^ mask[i % 4] for i, byte in enumerate(_PAYLOAD))
        self._frame = struct.pack("!BB", 0x81, 0x80 | len(_PAYLOAD)) + mask + body
        self._answer_bytes = len(_PAYLOAD) + 2
        self._depth = depth
        self._shaken = shaken
        self._is_open = False
        self._bytes = 0
        self.echoes = 0
        self.is_sending = False
        self.transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        head = (
            "GET /ws/K7MP3QXZ HTTP/1.1",
            "Host: localhost",
            "Connection: Upgrade",
            "Upgrade: websocket",
            f"Sec-WebSocket-Key: {_KEY}",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: demineur.v1",
        )
        if self.transport is not None:
            self.transport.write("\r\n".join((*head, "", "")).encode())

    def data_received(self, data: bytes) -> None:
        if not self._is_open:
            self._is_open = True
            self._shaken.set_result(None)
            return
        self._bytes += len(data)
        whole, self._bytes = divmod(self._bytes, self._answer_bytes)
        self.echoes += whole
        if self.is_sending and whole and self.transport is not None:
            self.transport.write(self._frame * whole)

    def go(self) -> None:
        """Send the first messages."""
        self.is_sending = True
        if self.transport is not None:
            self.transport.write(self._frame * self._depth)


async def _drive(port: int, pipe: Pipe, options: argparse.Namespace) -> dict[str, float]:
    loop = asyncio.get_running_loop()

    async def figures() -> tuple[int, float]:
        pipe.send("figures")
        answer: tuple[int, float] = await loop.run_in_executor(None, pipe.recv)
        return answer

    before, _ = await figures()
    clients: list[_Client] = []
    for _ in range(options.connections):
        shaken: asyncio.Future[None] = loop.create_future()
        _, client = await loop.create_connection(
            partial(_Client, options.depth, shaken), "127.0.0.1", port
        )
        await asyncio.wait_for(shaken, 5)
        clients.append(client)
    idle, cpu_before = await figures()
    for client in clients:
        client.go()
    await asyncio.sleep(0.5)
    _, cpu_before = await figures()
    echoes, began = sum(client.echoes for client in clients), time.perf_counter()
    await asyncio.sleep(options.seconds)
    echoes = sum(client.echoes for client in clients) - echoes
    seconds = time.perf_counter() - began
    _, cpu_after = await figures()
    for client in clients:
        client.is_sending = False
        if client.transport is not None:
            client.transport.abort()
    return {
        "echoes_per_s": round(echoes / seconds),
        "server_cpu": round((cpu_after - cpu_before) / seconds, 2),
        "us_of_server_cpu_per_echo": round((cpu_after - cpu_before) / max(1, echoes) * 1e6, 2),
        "idle_bytes_per_connection": round((idle - before) / options.connections),
    }


def _child(pipe: Pipe, is_ours: bool) -> None:
    uvloop.run(_serve_ours(pipe) if is_ours else _serve_plain(pipe))


def _run(is_ours: bool, options: argparse.Namespace) -> dict[str, float]:
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=_child, args=(theirs, is_ours))
    server.start()
    try:
        result = uvloop.run(_drive(ours.recv(), ours, options))
        ours.send("")
    finally:
        server.join(10)
        if server.is_alive():
            server.kill()
    return result


def main() -> None:
    """Run both sides and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--depth", type=int, default=1, help="messages under way a connection")
    parser.add_argument("--seconds", type=float, default=5.0, help="at most 10 a side")
    parser.add_argument("--rounds", type=int, default=1, help="alternating; the best is shown")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.seconds = min(options.seconds, 10.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for name in ("plain", "ours"):
            result = _run(name == "ours", options)
            if name not in best or result["echoes_per_s"] > best[name]["echoes_per_s"]:
                best[name] = result
    ratio = best["ours"]["echoes_per_s"] / best["plain"]["echoes_per_s"]
    report: dict[str, Any] = {
        "connections": options.connections,
        "depth": options.depth,
        "payload_bytes": len(_PAYLOAD),
        **best,
        "ratio": round(ratio, 2),
    }
    sys.stdout.write(json.dumps(report) + "\n" if options.json else _table(report))


def _table(report: dict[str, Any]) -> str:
    lines = [f"{report['connections']} connections, {report['depth']} message(s) under way on each"]
    for name in ("plain", "ours"):
        side = report[name]
        lines.append(
            f"{name:6} {side['echoes_per_s']:>8} echoes/s  "
            f"{side['us_of_server_cpu_per_echo']:>6} us of CPU each  "
            f"{side['idle_bytes_per_connection']:>6} bytes an idle connection"
        )
    return "\n".join((*lines, f"ratio  {report['ratio']:>8}", ""))


if __name__ == "__main__":
    main()
