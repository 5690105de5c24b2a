"""The search for guess-free boards, in a process of its own, so that no race waits for it.

Law of this module: the node asks over the child's standard input, one JSON line a search, and
reads one line back. The child ends when its input does, so it never outlives the node, however
that ends. A child that dies or says nonsense costs its search, which ends as not found.
"""

import asyncio
import contextlib
import sys

import orjson
import structlog

from demineur.searcher import SEARCH_SECONDS

_log = structlog.stdlib.get_logger(__name__)


class BoardSearch:
    """The child process, started when it is first needed, and its one search at a time."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def find(self, level: str, seed: str, marked: int) -> int | None:
        """Return the smallest attempt whose board is guess-free, or None if none was found."""
        request = orjson.dumps({"level": level, "seed": seed, "marked": marked}) + b"\n"
        async with self._turn:
            try:
                async with asyncio.timeout(SEARCH_SECONDS + 3):
                    child = await self._running()
                    assert child.stdin is not None
                    assert child.stdout is not None
                    child.stdin.write(request)
                    await child.stdin.drain()
                    reply = orjson.loads(await child.stdout.readline())
            except (OSError, ValueError, TimeoutError) as error:
                _log.warning("board search failed", error=type(error).__name__)
                await self.close()
                return None
        attempt = reply.get("attempt") if isinstance(reply, dict) else None
        return attempt if isinstance(attempt, int) else None

    async def _running(self) -> asyncio.subprocess.Process:
        if self._child is None or self._child.returncode is not None:
            self._child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "demineur.searcher",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        return self._child

    async def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None or child.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
