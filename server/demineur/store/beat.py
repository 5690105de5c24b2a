"""The beat of a node: others see that it lives, and it sees that Redis does.

Law of this file: the beat goes over a connection of its own, never behind the batches, so it
tells of Redis and not of our queue. One beat is under way at a time. ``alive_ms`` moves only
when Redis has answered; nothing here guesses. Where appends wait for replicas, the beat does:
a replica that holds up the moves is a stall, and clocks stand still.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from demineur.store.calls import FIRST_PAUSE_S, LONGEST_PAUSE_S
from demineur.store.clock import RedisClock
from demineur.store.errors import StoreMisconfigured, StoreUnavailable
from demineur.store.keys import node_key
from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.replicas import Replicas
from demineur.store.replies import code_of
from demineur.store.scripts import BEAT, Command
from demineur.store.settings import StoreSettings
from demineur.store.tasks import end

logger = logging.getLogger(__name__)

FIRST_PROBES = 5
"""Questions for the time at the start, one after the other: the fastest sets the clock."""

PROBE_EVERY_NS = 500_000_000
"""The time is asked for apart from the beat, which writes: where each write waits for the
disk, the answer to a beat comes late by that much and would put the clock wrong by half."""

FAREWELL_S = 0.5

StallCallback = Callable[[int], None]


class Beat:
    """Sends the beats and keeps the clock.

    ``on_stall(since_ms)`` is called when no beat was answered for ``stall_ms``, and
    ``on_recover(since_ms)`` with the same time when one is again. A pause of this process
    itself is found when it is over, and told by both calls at once.
    """

    def __init__(
        self,
        link: Link,
        settings: StoreSettings,
        clock: RedisClock,
        replicas: Replicas | None = None,
    ) -> None:
        self._link = link
        self._replicas = replicas if replicas is not None else Replicas(link, 0)
        self._settings = settings
        self._clock = clock
        self._key = node_key(settings.node_id)
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._racing = False
        self._asked_ns: int | None = None
        self._due_ns = 0
        self._probed_ns = 0
        self._stalled_since_ms: int | None = None
        self._steady_since_ms = 0
        self.alive_ms = 0
        """Time of the last beat that Redis answered."""
        self.on_stall: StallCallback | None = None
        self.on_recover: StallCallback | None = None

    @property
    def stalled_since_ms(self) -> int | None:
        """``alive_ms`` while a beat has been unanswered for longer than ``stall_ms``."""
        if self._asked_ns is None:
            return None
        return self.alive_ms if self._is_late(self._asked_ns) else None

    @property
    def steady_ms(self) -> int:
        """For how long Redis has answered without a stall; 0 in a stall."""
        if self.stalled_since_ms is not None:
            return 0
        return max(0, self._clock.now_ms() - self._steady_since_ms)

    @property
    def racing(self) -> bool:
        """Whether races are under way here, so that a stall must be timed finely."""
        return self._racing

    @racing.setter
    def racing(self, racing: bool) -> None:
        self._racing = racing
        if racing:
            self._hurry.set()

    async def start(self) -> None:
        """Set the clock and begin to beat, or raise why Redis can't be used."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.call_timeout_s
        while True:
            try:
                for _ in range(FIRST_PROBES):
                    await self._probe(step=True)
                await self._beat()
                break
            except LinkForbidden as error:
                raise StoreMisconfigured(f"Redis does not let us in: {error}") from error
            except LinkBroken as broken:
                if loop.time() > deadline:
                    raise StoreUnavailable(f"There is no Redis: {broken}") from broken
                self._asked_ns = None  # what was never well can't stall
                await asyncio.sleep(FIRST_PAUSE_S)
        self._steady_since_ms = self.alive_ms
        self._task = loop.create_task(self._run())

    async def stop(self) -> None:
        """Stop beating, and say so if Redis listens: our leases are free at once then."""
        if self._task is None:
            return
        await end(self._task)
        with contextlib.suppress(LinkBroken, LinkForbidden, TimeoutError):
            await asyncio.wait_for(self._ask(self._command("gone")), FAREWELL_S)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        pause_s = FIRST_PAUSE_S
        while True:
            watch = loop.call_later(self._settings.stall_ms / 1000 + 0.001, self._note_stall)
            try:
                await self._beat()
                self._note_answer()
            except (LinkBroken, LinkForbidden) as failure:
                logger.debug("beat failed: %s", failure)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                self._note_stall()
            else:
                pause_s = FIRST_PAUSE_S
                await self._rest()
            finally:
                watch.cancel()

    async def _rest(self) -> None:
        ms = self._settings.racing_beat_ms if self._racing else self._settings.idle_beat_ms
        self._due_ns = time.monotonic_ns() + ms * 1_000_000
        if self._racing:
            await asyncio.sleep(ms / 1000)
            return
        self._hurry.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), ms / 1000)

    async def _beat(self) -> None:
        if self._asked_ns is None:
            self._asked_ns = time.monotonic_ns()
            if self._due_ns and self._is_late(self._due_ns):
                # This process stood still: the silence began when this beat was due.
                self._asked_ns = self._due_ns
        self._note_stall()
        if time.monotonic_ns() - self._probed_ns > PROBE_EVERY_NS:
            await self._probe()
        await self._sample(self._command("up"), step=False)
        self.alive_ms = self._clock.now_ms()
        self._asked_ns = None

    async def _probe(self, *, step: bool = False) -> None:
        await self._sample(("TIME",), step=step)
        self._probed_ns = time.monotonic_ns()

    async def _sample(self, command: Command, *, step: bool) -> None:
        asked_ns = time.monotonic_ns()
        seconds, microseconds = await self._ask(command)
        redis_us = int(seconds) * 1_000_000 + int(microseconds)
        self._clock.sample(asked_ns, time.monotonic_ns(), redis_us, step=step)

    async def _ask(self, command: Command) -> Reply:
        lane = self._link.lane(self._key)
        send = self._link.send if command[0] == "TIME" else self._replicas.write
        [reply] = await send(lane, [command])
        if isinstance(reply, Exception) and code_of(reply) == "NOSCRIPT":
            [reply] = await send(lane, [BEAT.whole(command)])
        if isinstance(reply, Exception):
            if code_of(reply) == "NOPERM":
                raise LinkForbidden(str(reply))
            raise LinkBroken(reply, sent=False)
        return reply

    def _command(self, state: str) -> Command:
        return BEAT.command(
            [self._key], [state, self._settings.address, self._settings.node_memory_ms]
        )

    def _is_late(self, since_ns: int) -> bool:
        return time.monotonic_ns() - since_ns > self._settings.stall_ms * 1_000_000

    def _note_stall(self) -> None:
        since_ms = self.stalled_since_ms
        if self._stalled_since_ms is None and since_ms is not None:
            self._stalled_since_ms = since_ms
            logger.warning("no answer from Redis since %d", since_ms)
            if self.on_stall is not None:
                self.on_stall(since_ms)

    def _note_answer(self) -> None:
        since_ms, self._stalled_since_ms = self._stalled_since_ms, None
        if since_ms is not None:
            self._steady_since_ms = self.alive_ms
            logger.warning("Redis answers again, after %d ms", self.alive_ms - since_ms)
            if self.on_recover is not None:
                self.on_recover(since_ms)
