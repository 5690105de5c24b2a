"""The search for guess-free boards, in a process of its own, so that no race waits for it.

Law of this module: the node asks over the child's standard input, one JSON line a search, and
reads one line back. The child ends with the node, however that ends. A child that dies or says
nonsense, and one whose asker has gone, costs its search, which ends as not found.
"""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import orjson
import structlog

from demineur.searcher import SEARCH_SECONDS
from demineur.store import tether

_COMMAND = (sys.executable, "-m", "demineur.searcher")

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
            except asyncio.CancelledError:
                # Its answer would be taken for that to the next question.
                self._kill()
                raise
            except (OSError, ValueError, TimeoutError) as error:
                _log.warning("board search failed", error=type(error).__name__)
                await self.close()
                return None
        attempt = reply.get("attempt") if isinstance(reply, dict) else None
        return attempt if isinstance(attempt, int) else None

    async def _running(self) -> asyncio.subprocess.Process:
        if self._child is None or self._child.returncode is not None:
            tied = (sys.executable, "-I", "-S", str(Path(tether.__file__)), str(os.getpid()))
            self._child = await asyncio.create_subprocess_exec(
                *tied,
                *_COMMAND,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # Ctrl-C goes to all of a terminal's group, and it is the node that stops us.
                start_new_session=True,
            )
        return self._child

    def _kill(self) -> asyncio.subprocess.Process | None:
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
        return child

    async def close(self) -> None:
        """End the child."""
        child = self._kill()
        if child is not None:
            await child.wait()
