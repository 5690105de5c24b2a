"""A race that somebody else must not disturb, and how quickly it is answered."""

import asyncio
import itertools
import secrets
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from demineur.protocol import ALPHABET, CODE_LENGTH
from tests.player_client import PlayerClient

INTERVAL_S = 0.05
"""Twenty moves a second: below the limit, and enough for a 99th percentile in seconds."""


class Witness:
    """A player alone in a room, who sets and lifts flags without end."""

    def __init__(self, base: str) -> None:
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._client = PlayerClient(base, code, "Witness")
        self._task: asyncio.Task[None] | None = None
        self.latencies_s: list[float] = []

    async def __aenter__(self) -> Self:
        client = self._client
        await client.connect()
        await client.hello()
        await client.create(level="extreme")
        await client.say({"t": "start"})
        await client.event("go")
        assert (await client.tap(410))["t"] == "moved"
        self._task = asyncio.create_task(self._play())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        result = (await asyncio.gather(self._task, return_exceptions=True))[0]
        await self._client.leave_line()
        assert isinstance(result, asyncio.CancelledError), f"the witness was disturbed: {result}"

    def take(self) -> list[float]:
        """Return the latencies since the last call, in seconds."""
        taken, self.latencies_s = self.latencies_s, []
        return taken

    async def _play(self) -> None:
        view = self._client.view
        assert view is not None
        hidden = view.geometry.cells_in(view.hidden)
        for cell in itertools.cycle(hidden):
            started = time.perf_counter()
            answer = await self._client.flag(cell)
            self.latencies_s.append(time.perf_counter() - started)
            assert answer["t"] == "moved", answer
            await asyncio.sleep(INTERVAL_S)


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has, as the system counts it."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
