"""A program that loads a node to its limit, then twice as much, and says what came of it.

    python -m tests.faults.overloader 127.0.0.1 8080 LINES SECONDS

Every line is a player alone in a room who sets and lifts flags. First each waits for its answer
before the next move (the best the node can do); then they send at twice that rate whatever comes
back; then they wait for their answers again. It prints one JSON object: rates in moves a second,
latencies in seconds, and for each room the counters of the moves that were answered as made.
"""

import asyncio
import json
import re
import secrets
import sys
import time
from collections import deque
from typing import cast

from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.uri import parse_uri

from demineur.protocol import ALPHABET, CODE_LENGTH, SUBPROTOCOL

CELLS = [cell for cell in range(800) if not (7 <= cell // 40 <= 13 and 5 <= cell % 40 <= 35)]
"""Far from the first tap in the middle; what that opened all the same is ignored as a move."""
_ANSWER = re.compile(rb'\{"t":"(moved|error)",[^{}]*?"n":(\d+)[^{}]*?("flag"|\})')
TICK_S = 0.02
UNSENT_BYTES = 65_536
"""What may wait in this program for a line; more is not sent, as a browser would block."""


class Line(asyncio.Protocol):
    """One player; moves are written and read by hand, so that the node is the slower side."""

    def __init__(self, host: str) -> None:
        self.code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._wire = ClientProtocol(
            parse_uri(f"ws://{host}/ws/{self.code}"),
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
        )
        self._transport: asyncio.Transport | None = None
        self.texts: asyncio.Queue[bytes] = asyncio.Queue()
        self.is_measuring = False
        self.is_closed_loop = False
        self.n = 1
        self.sent: deque[tuple[int, float]] = deque()
        self.answered: list[int] = []
        self.answers = self.refusals = 0
        self.latencies: list[float] = []
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._wire.send_request(self._wire.connect())
        self._flush()

    def data_received(self, data: bytes) -> None:
        if self.is_measuring:
            self._measure(data)
            return
        self._wire.receive_data(data)
        for event in self._wire.events_received():
            is_text = getattr(event, "opcode", None) is Opcode.TEXT
            self.texts.put_nowait(bytes(event.data) if is_text else b"")  # type: ignore[union-attr]
        self._flush()

    def say(self, text: str) -> None:
        """Send one frame."""
        self._wire.send_text(text.encode())
        self._flush()

    def move(self) -> None:
        """Send one move, unless too much waits already."""
        assert self._transport is not None
        if self._transport.get_write_buffer_size() > UNSENT_BYTES:
            return
        self.n += 1
        self.sent.append((self.n, time.perf_counter()))
        text = b'{"t":"flag","n":%d,"c":%d}' % (self.n, CELLS[self.n % len(CELLS)])
        # A whole text frame of less than 126 bytes, with a mask of zeros.
        self._transport.write(b"\x81" + bytes([0x80 | len(text)]) + b"\0\0\0\0" + text)

    def _measure(self, data: bytes) -> None:
        """Count answers without taking the frames apart: each ends with a brace."""
        data = self._rest + data
        end = data.rfind(b"}") + 1
        self._rest = data[end:]
        for kind, counter, flag in _ANSWER.findall(data, 0, end):
            self._answered(int(counter), is_moved=kind == b"moved", is_made=flag == b'"flag"')

    def _answered(self, n: int, *, is_moved: bool, is_made: bool) -> None:
        while self.sent and self.sent[0][0] <= n:
            sent_n, at = self.sent.popleft()
            if sent_n == n:
                self.latencies.append(time.perf_counter() - at)
        if is_moved:
            self.answers += 1
            if is_made:
                self.answered.append(n)
        else:
            self.refusals += 1
        if self.is_closed_loop:
            self.move()

    def _flush(self) -> None:
        assert self._transport is not None
        if data := b"".join(self._wire.data_to_send()):
            self._transport.write(data)

    async def begin(self) -> None:
        """Get into a race."""
        await self._until(b"")
        self.say('{"t":"hello","name":"Load"}')
        await self._until(b'"t":"welcome"')
        self.say('{"t":"create","settings":{"level":"extreme"}}')
        await self._until(b'"t":"room"')
        self.say('{"t":"start"}')
        await self._until(b'"e":"go"')
        self.say('{"t":"tap","n":1,"c":420}')
        await self._until(b'"t":"moved"')
        self.is_measuring = True

    async def _until(self, part: bytes) -> None:
        async with asyncio.timeout(60):
            while part not in await self.texts.get():
                pass


async def _closed_loop(lines: list[Line], seconds: float) -> tuple[float, float]:
    """Return the rate of answers and the 99th percentile of the second half."""
    for line in lines:
        line.is_closed_loop = True
        if not line.sent:
            line.move()
    await asyncio.sleep(seconds / 2)
    _take(lines)
    await asyncio.sleep(seconds / 2)
    answers, _, latencies = _take(lines)
    for line in lines:
        line.is_closed_loop = False
    return answers / (seconds / 2), latencies[int(0.99 * len(latencies))] if latencies else 99.0


async def _open_loop(lines: list[Line], rate: float, seconds: float) -> dict[str, float]:
    started = time.perf_counter()
    sent = turn = 0
    while (passed := time.perf_counter() - started) < seconds:
        for _ in range(int(rate * passed) - sent):
            lines[turn % len(lines)].move()
            turn += 1
        sent = int(rate * passed)
        await asyncio.sleep(TICK_S)
    answers, refusals, latencies = _take(lines)
    return {
        "answered": answers / seconds,
        "refused": refusals / seconds,
        "p99_s": latencies[int(0.99 * len(latencies))] if latencies else 99.0,
    }


def _take(lines: list[Line]) -> tuple[int, int, list[float]]:
    answers = sum(line.answers for line in lines)
    refusals = sum(line.refusals for line in lines)
    latencies = sorted(each for line in lines for each in line.latencies)
    for line in lines:
        line.answers = line.refusals = 0
        line.latencies.clear()
    return answers, refusals, latencies


async def main(host: str, port: int, count: int, seconds: float) -> None:
    """Load the node, and print what came of it."""
    loop = asyncio.get_running_loop()
    lines = [
        (await loop.create_connection(lambda: Line(f"{host}:{port}"), host, port))[1]
        for _ in range(count)
    ]
    await asyncio.gather(*(line.begin() for line in lines))
    best, normal_s = await _closed_loop(lines, max(4.0, seconds / 3))
    over = await _open_loop(lines, 2 * best, seconds)
    await asyncio.sleep(1.0)
    after, after_s = await _closed_loop(lines, 4.0)
    print(
        json.dumps(
            {
                "best": best,
                "normal_p99_s": normal_s,
                "over": over,
                "after": after,
                "after_p99_s": after_s,
                "answered": {line.code: line.answered for line in lines},
            }
        )
    )


if __name__ == "__main__":
    import uvloop

    uvloop.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
