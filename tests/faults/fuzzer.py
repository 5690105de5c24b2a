"""A program that sends hostile frames: mutated, random, and valid ones out of order.

    python -m tests.faults.fuzzer ws://127.0.0.1:8080 SEED COUNT

It runs in a process of its own and gives way to others, so that what a witness measures
meanwhile is the server and not the fuzzer. The same seed sends the same frames.
"""

import asyncio
import contextlib
import os
import random
import secrets
import sys
from collections.abc import Callable
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from demineur.protocol import ALPHABET, CODE_LENGTH, SUBPROTOCOL

LINES = 4
"""Connections at a time."""
PAUSE_S = 0.02
"""After every 25 frames of a connection."""

VALID: list[dict[str, Any]] = [
    {"t": "hello", "name": "Fuzz"},
    {"t": "create", "settings": {"level": "beginner"}},
    {
        "t": "create",
        "settings": {"level": "hard", "start": "shared", "guess_free": True, "mine": "penalty"},
    },
    {"t": "join"},
    {"t": "join", "role": "spectator", "since": 3, "n": 5},
    {"t": "rename", "name": "Other"},
    {"t": "ready", "ready": True},
    {"t": "settings", "settings": {"level": "expert", "players": 2}},
    {"t": "start"},
    {"t": "tap", "n": 1, "c": 40},
    {"t": "flag", "n": 2, "c": 3},
    {"t": "leave"},
    {"t": "rematch"},
    {"t": "ping", "at": 1.5},
]
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**63, 1e308, -0.0),
    *("", "\x00", "\u202e", "😀", "x" * 500, "tap", "NaN"),
    *([], {}, [[]], {"t": "tap"}),
]


def frame(source: random.Random) -> str | bytes:
    """Return a frame that is valid, a little wrong, or nonsense."""
    message = source.choice(VALID)
    text = orjson.dumps(message)
    how = source.randrange(10)
    if how < 3:
        return text.decode()
    if how < 6:
        return orjson.dumps(_mutated(message, source)).decode()
    if how < 8:
        at = source.randrange(len(text))
        garbled = text[:at] + source.randbytes(source.randrange(4)) + text[at + 1 :]
        return garbled.decode("utf-8", "replace")
    if how < 9:
        return source.randbytes(source.randrange(200)).decode("latin-1")
    return source.choice(["[" * 4000, "{" * 4000, '"' * 99, "9" * 4000, "null", " " * 4000])


def _mutated(message: dict[str, Any], source: random.Random) -> Any:
    changed = dict(message)
    key = source.choice([*changed, "t", "n", "c", "settings", "extra"])
    change: Callable[[], object] = source.choice(
        [
            lambda: changed.pop(key, None),
            lambda: changed.update({key: source.choice(ODD)}),
            lambda: changed.update({secrets.token_hex(2): source.choice(ODD)}),
            lambda: changed.update(n=source.randrange(1, 2**31), c=source.randrange(70_000)),
        ]
    )
    change()
    return changed


async def fuzz(base: str, seed: int, count: int) -> None:
    """Send that many frames over as many connections as it takes."""
    source = random.Random(seed)
    while count > 0:
        code = "".join(source.choice(ALPHABET) for _ in range(CODE_LENGTH))
        with contextlib.suppress(WebSocketException, OSError, TimeoutError):
            async with connect(
                f"{base}/ws/{code}",
                subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
                compression=None,
                close_timeout=0.2,
                max_queue=None,
            ) as ws:
                count = await _fuzz_line(ws, source, count)
        count -= 1


async def _fuzz_line(ws: ClientConnection, source: random.Random, count: int) -> int:
    if source.random() < 0.9:
        await ws.send('{"t":"hello"}')
    if source.random() < 0.7:
        await ws.send('{"t":"create","settings":{"level":"beginner"}}')
        await ws.send('{"t":"start"}')
    for _ in range(source.randrange(50, 400)):
        if count <= 0 or ws.close_code is not None:
            break
        await ws.send(frame(source))
        count -= 1
        if not count % 25:
            await asyncio.sleep(PAUSE_S)
    return count


async def main(base: str, seed: int, count: int) -> None:
    """Share the frames out over the connections."""
    share = count // LINES
    await asyncio.gather(*(fuzz(base, seed * LINES + line, share) for line in range(LINES)))


if __name__ == "__main__":
    os.nice(10)
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
