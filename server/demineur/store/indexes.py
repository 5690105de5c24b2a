"""What spans rooms: the lobby's list, and the watch list of rooms that have something due.

Both lie in other slots than the rooms, so nothing ties them to a log. They are hints that mend
themselves: a node puts its rooms again and again, and what nobody puts any more falls off.
"""

import asyncio
import contextlib
import logging

from demineur.store.calls import Caller
from demineur.store.clock import RedisClock
from demineur.store.errors import StoreError
from demineur.store.keys import LOBBY_ROOMS, LOBBY_SEEN, WATCH
from demineur.store.scripts import LOBBY_LIST, LOBBY_PUT, Command
from demineur.store.settings import DAY_MS
from demineur.store.tasks import end

logger = logging.getLogger(__name__)

STALE_ENTRY_MS = 90_000
"""An entry of the lobby not put again for so long is of a node that is gone."""

LOBBY_TTL_MS = 3_600_000
WATCH_TTL_MS = 8 * DAY_MS
WATCH_MEMORY_MS = 7 * DAY_MS
"""A room overdue for longer than that has no log any more."""

FLUSH_S = 0.25
REPEAT_S = 60.0
"""How often all of this node's watched rooms are written again."""


class Lobby:
    """The rooms that anybody may join, each with an opaque entry."""

    def __init__(self, caller: Caller, clock: RedisClock) -> None:
        self._caller = caller
        self._clock = clock

    async def put(self, code: str, entry: bytes) -> None:
        """List a room, or renew it: to be repeated at least every 30 s."""
        now_ms = self._clock.now_ms()
        await self._caller.run(
            LOBBY_PUT,
            [LOBBY_ROOMS, LOBBY_SEEN],
            [code, entry, now_ms, now_ms - STALE_ENTRY_MS, LOBBY_TTL_MS],
        )

    async def remove(self, code: str) -> None:
        """Take a room off the list."""
        await self._caller.write(
            LOBBY_ROOMS, [("HDEL", LOBBY_ROOMS, code), ("ZREM", LOBBY_SEEN, code)]
        )

    async def entries(self, limit: int) -> dict[str, bytes]:
        """Return at most ``limit`` rooms, those put last first."""
        flat = await self._caller.run(
            LOBBY_LIST, [LOBBY_ROOMS, LOBBY_SEEN], [self._clock.now_ms() - STALE_ENTRY_MS, limit]
        )
        return {code.decode(): entry for code, entry in zip(flat[::2], flat[1::2], strict=True)}


class Watch:
    """When each room must be looked after by somebody, so that none is forgotten.

    ``put``, ``remove`` and ``hand_over`` return at once; they reach Redis within ``FLUSH_S``,
    many rooms in one command.
    """

    def __init__(self, caller: Caller, clock: RedisClock) -> None:
        self._caller = caller
        self._clock = clock
        self._due: dict[str, int] = {}
        self._changed: set[str] = set()
        self._removed: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def put(self, code: str, due_ms: int) -> None:
        """Note that a room of this node has something due."""
        if self._due.get(code) != due_ms:
            self._due[code] = due_ms
            self._changed.add(code)
            self._removed.discard(code)

    def remove(self, code: str) -> None:
        """Note that nothing is due in a room any more."""
        self.hand_over(code)
        self._removed.add(code)

    def hand_over(self, code: str) -> None:
        """Stop writing a room that another node looks after now."""
        self._due.pop(code, None)
        self._changed.discard(code)

    async def overdue(self, grace_ms: int, limit: int) -> list[str]:
        """Return rooms whose time came ``grace_ms`` ago or earlier, the longest overdue first."""
        now_ms = self._clock.now_ms()
        await self._caller.write(
            WATCH, [("ZREMRANGEBYSCORE", WATCH, "-inf", now_ms - WATCH_MEMORY_MS)]
        )
        codes = await self._caller.read(
            WATCH, "ZRANGEBYSCORE", WATCH, "-inf", now_ms - grace_ms, "LIMIT", 0, limit
        )
        return [code.decode() for code in codes]

    def start(self) -> None:
        """Begin to write changes."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Write what is left, if Redis takes it, and stop."""
        if self._task is not None:
            await end(self._task)
            with contextlib.suppress(StoreError):
                await self.flush()

    async def flush(self) -> None:
        """Write all changes now. What can't be written stays for the next time."""
        changed = {code: self._due[code] for code in self._changed}
        removed = tuple(self._removed)
        commands: list[Command] = []
        if changed:
            scores = [word for code, due_ms in changed.items() for word in (due_ms, code)]
            commands.append(("ZADD", WATCH, *scores))
            commands.append(("PEXPIRE", WATCH, WATCH_TTL_MS))
        if removed:
            commands.append(("ZREM", WATCH, *removed))
        if commands:
            await self._caller.write(WATCH, commands)
        self._removed.difference_update(removed)
        self._changed = {c for c in self._changed if self._due[c] != changed.get(c)}

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        repeat_at = loop.time() + REPEAT_S
        while True:
            await asyncio.sleep(FLUSH_S)
            if loop.time() > repeat_at:
                repeat_at = loop.time() + REPEAT_S
                self._changed = set(self._due)
            try:
                await self.flush()
            except StoreError as error:
                logger.debug("the watch list could not be written: %s", error)
