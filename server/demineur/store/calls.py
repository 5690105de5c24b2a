"""Single calls to Redis, sent again until they are answered or their time is over.

Law of this file: what goes through here may be done twice. Taking a lease twice raises its
epoch twice, a player made twice is the same player; only appends must be told apart, and they
go through ``commit.py``.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from demineur.store.errors import StoreMisconfigured, StoreUnavailable
from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.replicas import Replicas, mark
from demineur.store.replies import REFUSALS, code_of
from demineur.store.scripts import Argument, Command, Script

FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 0.25
"""Pauses between tries double from the first to the longest: a restart is noticed at once,
and a dead Redis is not hammered."""

CONCURRENT_CALLS = 16
"""On each lane. More would need more connections and not be faster: Redis does one at a time."""


class Caller:
    """Runs commands and scripts over a link.

    A refusal (``replies.REFUSALS``), and a link that broke, is tried again until ``timeout_s``
    is over. Errors: ``StoreUnavailable``, ``StoreMisconfigured``.
    """

    def __init__(self, link: Link, timeout_s: float, replicas: Replicas | None = None) -> None:
        self._link = link
        self._replicas = replicas if replicas is not None else Replicas(link, 0)
        self._timeout_s = timeout_s
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(CONCURRENT_CALLS)
        )
        self._closed = False

    def close(self) -> None:
        """Refuse all further calls; those under way go on."""
        self._closed = True

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        """Run a script and return its reply."""
        command = script.command(keys, arguments)
        [reply] = await self._until_answered(keys[0], [command], script)
        return reply

    async def read(self, key: str, *arguments: Argument) -> Any:
        """Run a command on a key and return its reply."""
        [reply] = await self._until_answered(key, [arguments], None)
        return reply

    async def write(
        self, key: str, commands: Sequence[Command], *, held: bool = False
    ) -> list[Any]:
        """Run commands on the slot of a key and return their replies; not atomic.

        With ``held``, not before the replicas hold what they wrote.
        """
        return await self._until_answered(key, commands, None, held=held)

    async def hold(self, lease: str) -> None:
        """Return when the replicas hold all that was written before to the server of a lease."""
        if self._replicas.wanted:
            await self.write(lease, [mark(lease)], held=True)

    async def _until_answered(
        self, key: str, commands: Sequence[Command], script: Script | None, *, held: bool = False
    ) -> list[Any]:
        if self._closed:
            raise StoreUnavailable("The store is closed.")
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        pause_s = FIRST_PAUSE_S
        maybe_done = False
        while True:
            try:
                lane = self._link.lane(key)
                async with self._turns[lane]:
                    send = self._replicas.write if held else self._link.send
                    replies = await send(lane, commands)
                reason, unknown = _judge(replies)
                if reason == "":
                    return replies
                if reason == "NOSCRIPT" and script is not None:
                    commands = [script.whole(command) for command in commands]
                    continue
            except LinkForbidden as error:
                raise StoreMisconfigured(f"Redis does not let us in: {error}") from error
            except LinkBroken as broken:
                reason, unknown = str(broken), broken.sent
            maybe_done = maybe_done or unknown
            if asyncio.get_running_loop().time() + pause_s > deadline:
                raise StoreUnavailable(
                    f"Redis did not do it in time: {reason}", outcome_unknown=maybe_done
                )
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


def _judge(replies: list[Reply]) -> tuple[str, bool]:
    """Return why the replies won't do ("" when they will) and whether it may be done all the same.

    Raises the error that trying again can't mend.
    """
    for reply in replies:
        if isinstance(reply, Exception):
            code = code_of(reply)
            if code == "NOPERM":
                raise StoreMisconfigured(f"Redis does not let this user do that: {reply}")
            if code in REFUSALS or code == "NOSCRIPT":
                return (code if code == "NOSCRIPT" else f"{code} {reply}"), False
            if isinstance(reply, ConnectionError | OSError):
                return str(reply), True
            raise StoreUnavailable(f"Redis answers: {reply}", outcome_unknown=True) from reply
    return "", False
