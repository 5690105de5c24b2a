"""The beat of a node: others see that it lives, and it sees that Redis does.

Law of this file: the beat goes over a connection of its own, never behind the batches, so it
tells of Redis and not of our queue. One beat is under way at a time. ``alive_ms`` moves only
when Redis has answered; nothing here guesses.
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
from demineur.store.replies import code_of
from demineur.store.scripts import BEAT
from demineur.store.settings import StoreSettings

logger = logging.getLogger(__name__)

FIRST_SAMPLES = 5
"""Beats at the start, one after the other: the fastest sets the clock."""

StallCallback = Callable[[int], None]


class Beat:
    """Sends the beats and keeps the clock.

    ``on_stall(since_ms)`` is called when a beat has been unanswered for ``stall_ms``, and
    ``on_recover(since_ms)`` with the same time when one is answered again.
    """

    def __init__(self, link: Link, settings: StoreSettings, clock: RedisClock) -> None:
        self._link = link
        self._settings = settings
        self._clock = clock
        self._command = BEAT.command(
            [node_key(settings.node_id)], [settings.address or "-", settings.node_memory_ms]
        )
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._racing = False
        self._asked_ns: int | None = None
        self._stall_told: int | None = None
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
        waited_ms = (time.monotonic_ns() - self._asked_ns) / 1e6
        return self.alive_ms if waited_ms > self._settings.stall_ms else None

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
        if racing and not self._racing:
            self._hurry.set()
        self._racing = racing

    async def start(self) -> None:
        """Set the clock and begin to beat, or raise why Redis can't be used."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.call_timeout_s
        beats = 0
        while beats < FIRST_SAMPLES:
            try:
                await self._beat()
                beats += 1
            except LinkForbidden as error:
                raise StoreMisconfigured(f"Redis does not let us in: {error}") from error
            except LinkBroken as broken:
                if loop.time() > deadline:
                    raise StoreUnavailable(f"There is no Redis: {broken}") from broken
                await asyncio.sleep(FIRST_PAUSE_S)
        self._steady_since_ms = self.alive_ms
        self._task = loop.create_task(self._run())

    async def stop(self) -> None:
        """Stop beating."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        pause_s = FIRST_PAUSE_S
        while True:
            watch = loop.call_later(self._settings.stall_ms / 1000 + 0.001, self._tell_stall)
            try:
                await self._beat()
            except (LinkBroken, LinkForbidden) as failure:
                self._tell_stall()
                logger.debug("beat failed: %s", failure)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                continue
            finally:
                watch.cancel()
            pause_s = FIRST_PAUSE_S
            self._tell_recovery()
            await self._rest()

    async def _rest(self) -> None:
        ms = self._settings.racing_beat_ms if self._racing else self._settings.idle_beat_ms
        if self._racing:
            await asyncio.sleep(ms / 1000)
            return
        self._hurry.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), ms / 1000)

    async def _beat(self) -> None:
        asked_ns = time.monotonic_ns()
        if self._asked_ns is None:
            self._asked_ns = asked_ns
        reply = await self._send()
        answered_ns = time.monotonic_ns()
        seconds, microseconds = int(reply[0]), int(reply[1])
        self._clock.sample(asked_ns, answered_ns, seconds * 1_000_000 + microseconds)
        self.alive_ms = self._clock.now_ms()
        self._asked_ns = None

    async def _send(self) -> Reply:
        lane = self._link.lane(node_key(self._settings.node_id))
        [reply] = await self._link.send(lane, [self._command])
        if isinstance(reply, Exception) and code_of(reply) == "NOSCRIPT":
            [reply] = await self._link.send(lane, [BEAT.whole(self._command)])
        if isinstance(reply, Exception):
            if code_of(reply) == "NOPERM":
                raise LinkForbidden(str(reply))
            raise LinkBroken(reply, sent=False)
        return reply

    def _tell_stall(self) -> None:
        if self._stall_told is None and self.stalled_since_ms is not None:
            self._stall_told = self.alive_ms
            logger.warning("Redis has not answered for %d ms", self._settings.stall_ms)
            if self.on_stall is not None:
                self.on_stall(self._stall_told)

    def _tell_recovery(self) -> None:
        since_ms, self._stall_told = self._stall_told, None
        if since_ms is not None:
            self._steady_since_ms = self.alive_ms
            logger.warning("Redis answers again, after %d ms", self.alive_ms - since_ms)
            if self.on_recover is not None:
                self.on_recover(since_ms)
