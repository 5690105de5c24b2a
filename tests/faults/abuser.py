"""A program that abuses a server in one way for a while.

    python -m tests.faults.abuser KIND 127.0.0.1 8080 SECONDS

It gives way to others, so that what a witness measures meanwhile is the server. At the end it
prints how its connections ended, as JSON: close code or status, and how many.
"""

import asyncio
import collections
import contextlib
import json
import os
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from demineur.protocol import ALPHABET, CODE_LENGTH, SUBPROTOCOL

IDLE_LINES = 1_000
ENDS: "collections.Counter[str]" = collections.Counter()


def _path() -> str:
    return "/ws/" + "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


async def _line(host: str, port: int, use: Callable[[object], Awaitable[None]]) -> None:
    try:
        async with connect(
            f"ws://{host}:{port}{_path()}",
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            compression=None,
            close_timeout=0.2,
            open_timeout=20,
            ping_interval=None,
        ) as ws:
            try:
                await use(ws)
            except ConnectionClosed as closed:
                ENDS[str(closed.rcvd.code if closed.rcvd else 1006)] += 1
            else:
                ENDS["still open"] += 1
    except InvalidStatus as refused:
        ENDS[f"HTTP {refused.response.status_code}"] += 1
    except (OSError, TimeoutError, WebSocketException) as error:
        ENDS[type(error).__name__] += 1


async def flood(host: str, port: int, seconds: float) -> None:
    """Send pings and taps as fast as they go, over four connections, again and again."""

    async def use(ws) -> None:  # type: ignore[no-untyped-def]
        await ws.send('{"t":"hello"}')
        for n in range(1, 100_000):
            await ws.send(f'{{"t":"tap","n":{n},"c":1}}')
            await ws.send("nonsense")
            if n % 50 == 0:
                await asyncio.sleep(0)

    async def again() -> None:
        while True:
            await _line(host, port, use)

    await _for(seconds, [again() for _ in range(4)])


async def idle(host: str, port: int, seconds: float) -> None:
    """Open a thousand websockets that say hello and nothing more."""

    async def use(ws) -> None:  # type: ignore[no-untyped-def]
        await ws.send('{"t":"hello"}')
        await asyncio.sleep(seconds)

    lines = []
    for _ in range(IDLE_LINES):
        lines.append(asyncio.ensure_future(_line(host, port, use)))
        await asyncio.sleep(0.002)
    await asyncio.gather(*lines)


async def silent(host: str, port: int, seconds: float) -> None:
    """Open websockets that never say anything."""

    async def use(ws) -> None:  # type: ignore[no-untyped-def]
        async with asyncio.timeout(seconds):
            await ws.recv()
            await ws.recv()

    await asyncio.gather(*(_line(host, port, use) for _ in range(20)))


async def half_open(host: str, port: int, seconds: float) -> None:
    """Open a thousand sockets that begin a handshake and never end it."""

    async def one() -> None:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(b"GET /ws/AAAAAAAA HTTP/1.1\r\nHost: x\r\n")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    answer = await reader.read(64)
                    ENDS[answer[9:12].decode() or "dropped"] += 1
                    return
            ENDS["still open"] += 1
            writer.close()

    await asyncio.gather(*(one() for _ in range(IDLE_LINES)), return_exceptions=True)


async def deaf(host: str, port: int, seconds: float) -> None:
    """Ask for answers without end and never read one."""
    await _unread(host, port, seconds, step=None)


async def slow(host: str, port: int, seconds: float) -> None:
    """The same, and read one byte a second."""
    await _unread(host, port, seconds, step=1)


async def _unread(host: str, port: int, seconds: float, step: int | None) -> None:
    """Speak the websocket protocol by hand, so that nothing is read behind our back."""

    async def one() -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, (host, port))
            reader, writer = await asyncio.open_connection(sock=sock, limit=64)
            head = (
                f"GET {_path()} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n"
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
            )
            writer.write(head.encode() + _text('{"t":"hello"}'))
            # At first all that is not yet a flood, then what may be sent for good: the answers
            # fill what the system keeps, and then what the server keeps.
            writer.write(_text('{"t":"ping","at":1}') * 1_800)
            for _ in range(int(seconds * 20)):
                writer.write(_text('{"t":"ping","at":1}') * 9)
                await writer.drain()
                if step is not None:
                    await reader.read(step)
                await asyncio.sleep(0.05)
            ENDS["still open"] += 1
            return
        ENDS["dropped"] += 1

    await asyncio.gather(*(one() for _ in range(5)))


def _text(message: str) -> bytes:
    """A masked text frame of less than 126 bytes, with a mask of zeros."""
    data = message.encode()
    return bytes([0x81, 0x80 | len(data), 0, 0, 0, 0]) + data


async def _for(seconds: float, works: list[Awaitable[None]]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*works)


KINDS = {
    kind.__name__.replace("_", "-"): kind for kind in (flood, idle, silent, half_open, deaf, slow)
}

if __name__ == "__main__":
    os.nice(10)
    asyncio.run(KINDS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
    print(json.dumps(ENDS))
