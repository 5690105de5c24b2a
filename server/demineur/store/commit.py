"""Group commit: what all rooms wait to append goes to Redis in as few calls as can be.

Law of this file: an append's future resolves only when Redis holds its events; the appends of
a room are sent in the order in which they were made; and an append is stored once or not at
all, however often it had to be sent, because every event has its place in the log (its
version) and the script refuses any other.

All that was appended in one turn of the event loop, or while a call was under way, makes the
next call: one script for each group of keys that may go together (all of them, or one slot of
a Cluster), all groups of a lane in one write, one write at a time for each lane. So the
busier the node, the cheaper a move.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import chain

from demineur.store.calls import FIRST_PAUSE_S, LONGEST_PAUSE_S
from demineur.store.errors import (
    Backlogged,
    Conflict,
    Fenced,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
)
from demineur.store.keys import room_keys
from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.replies import REFUSALS, code_in, code_of
from demineur.store.scripts import APPEND, Argument, Command
from demineur.store.settings import StoreSettings
from demineur.store.tasks import end

logger = logging.getLogger(__name__)

STORED, FENCED, CONFLICT = 1, 0, -1

RENEWALS_PER_TTL = 16
"""An expiry is renewed when a sixteenth of it is gone: four commands less in most appends."""

MAX_REMEMBERED_RENEWALS = 65_536
OVERHEAD_BYTES = 200
"""What an append weighs beside its events: keys, numbers, the protocol's framing."""


class _Append:
    """One append that waits, with its share of the script's arguments."""

    __slots__ = (
        "arguments",
        "code",
        "deadline",
        "events",
        "first_version",
        "future",
        "group",
        "keys",
        "maybe_stored",
        "settled",
        "size",
    )

    future: asyncio.Future[None]
    deadline: float

    def __init__(
        self,
        group: int,
        code: str,
        first_version: int,
        events: Sequence[bytes],
        keys: list[str],
        arguments: list[Argument],
    ) -> None:
        self.group = group
        self.code = code
        self.first_version = first_version
        self.events = events
        self.keys = keys
        self.arguments = arguments
        self.maybe_stored = False
        self.settled = False
        self.size = OVERHEAD_BYTES + sum(map(len, events))

    def fail(self, error: StoreError) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class GroupCommit:
    """The queue of appends of one node, and the calls that empty it."""

    def __init__(self, link: Link, settings: StoreSettings) -> None:
        self._link = link
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, deque[_Append]] = {}
        self._busy: set[int] = set()
        self._flights: dict[str, asyncio.Task[None]] = {}
        self._pauses: dict[str, float] = {}
        self._renewed: dict[str, tuple[int, float]] = {}
        self._gathering = False
        self._closed = False
        self.waiting_appends = 0
        """Appends that have no answer yet, those under way included."""
        self.waiting_bytes = 0
        self.calls = 0
        """Script calls made so far."""
        self.appends = 0
        """Appends stored so far."""

    def append(
        self,
        code: str,
        epoch: int,
        first_version: int,
        events: Sequence[bytes],
        *,
        timers: Mapping[str, bytes] | None = None,
        meta: Mapping[str, str] | None = None,
        ttl_ms: int,
    ) -> asyncio.Future[None]:
        """Put an append in the queue; see ``Store.append``."""
        if self._closed:
            raise StoreUnavailable("The store is closed.")
        now = self._loop.time()
        renew = self._must_renew(code, first_version, ttl_ms, now)
        lease, log, timers_key, meta_key = room_keys(code)
        keys = [lease, log]
        arguments: list[Argument] = [epoch, first_version, ttl_ms, int(renew), len(events)]
        arguments += events
        for key, fields in ((timers_key, timers), (meta_key, meta)):
            if renew or fields:
                keys.append(key)
            arguments.append(2 * len(fields) if fields else 0)
            if fields:
                arguments += chain.from_iterable(fields.items())
        append = _Append(self._link.group(lease), code, first_version, events, keys, arguments)
        append.future = self._loop.create_future()
        append.deadline = now + self._settings.call_timeout_s
        self._admit(append)
        self._waiting.setdefault(append.group, deque()).append(append)
        self._gather_soon()
        return append.future

    def forget(self, code: str) -> None:
        """Drop what is remembered of a room's expiry."""
        self._renewed.pop(code, None)

    async def close(self) -> None:
        """Store what waits, for as long as a call may take; fail what is left."""
        self._closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.call_timeout_s):
                while self._waiting or self._flights:
                    self._gather()
                    await asyncio.wait(list(self._flights.values()))
        for flight in list(self._flights.values()):
            await end(flight)
        for append in list(chain.from_iterable(self._waiting.values())):
            self._drop(append, _unavailable(append, "The store was closed"))
        self._waiting.clear()

    def _must_renew(self, code: str, first_version: int, ttl_ms: int, now: float) -> bool:
        known = self._renewed.get(code)
        if first_version > 1 and known is not None:
            known_ttl_ms, since = known
            if known_ttl_ms == ttl_ms and (now - since) * 1000 * RENEWALS_PER_TTL < ttl_ms:
                return False
        if len(self._renewed) >= MAX_REMEMBERED_RENEWALS:
            self._renewed.clear()
        self._renewed[code] = (ttl_ms, now)
        return True

    def _admit(self, append: _Append) -> None:
        settings = self._settings
        if (
            self.waiting_appends >= settings.max_waiting_appends
            or self.waiting_bytes + append.size > settings.max_waiting_bytes
        ):
            self._renewed.pop(append.code, None)
            raise Backlogged(f"{self.waiting_appends} appends are waiting for Redis.")
        self.waiting_appends += 1
        self.waiting_bytes += append.size

    def _gather_soon(self) -> None:
        if not self._gathering:
            self._gathering = True
            self._loop.call_soon(self._gather)

    def _gather(self) -> None:
        """Start a flight on each lane that is free and has something waiting."""
        self._gathering = False
        lanes: dict[str, list[list[_Append]]] = {}
        for group in [group for group in self._waiting if group not in self._busy]:
            lane = self._link.lane(room_keys(self._waiting[group][0].code)[0])
            if lane not in self._flights:
                lanes.setdefault(lane, []).append(self._take(group))
        for lane, batches in lanes.items():
            self._flights[lane] = self._loop.create_task(self._fly(lane, batches))

    def _take(self, group: int) -> list[_Append]:
        """Take from a group's queue what fits into one call."""
        queue = self._waiting[group]
        batch = [queue.popleft()]
        size = batch[0].size
        while queue and len(batch) < self._settings.max_batch_appends:
            size += queue[0].size
            if size > self._settings.max_batch_bytes:
                break
            batch.append(queue.popleft())
        if not queue:
            del self._waiting[group]
        self._busy.add(group)
        return batch

    async def _fly(self, lane: str, batches: list[list[_Append]]) -> None:
        """Send batches, settle what is answered, put back what is not, rest after a failure."""
        unsettled = batches
        try:
            unsettled = await self._send(lane, batches)
        except Exception:
            logger.exception("a call of group commit failed in a way nobody thought of")
            unsettled = []
            for append in chain.from_iterable(batches):
                self._drop(append, StoreUnavailable("The store failed.", outcome_unknown=True))
        finally:
            for batch in batches:
                self._busy.discard(batch[0].group)
            for batch in unsettled:
                self._put_back(batch)
        if unsettled:
            pause_s = self._pauses.get(lane, FIRST_PAUSE_S)
            self._pauses[lane] = min(2 * pause_s, LONGEST_PAUSE_S)
            await asyncio.sleep(pause_s)
            self._fail_late()
        else:
            self._pauses.pop(lane, None)
        del self._flights[lane]
        self._gather()

    async def _send(self, lane: str, batches: list[list[_Append]]) -> list[list[_Append]]:
        """Send one script for each batch and return those appends that are not settled."""
        commands = [self._command(batch) for batch in batches]
        try:
            replies = await self._link.send(lane, commands)
            self.calls += len(commands)
            unknown = [i for i, reply in enumerate(replies) if _is_unknown_script(reply)]
            if unknown:
                again = await self._link.send(lane, [APPEND.whole(commands[i]) for i in unknown])
                for i, reply in zip(unknown, again, strict=True):
                    replies[i] = reply
        except LinkForbidden as error:
            for append in chain.from_iterable(batches):
                self._drop(append, StoreMisconfigured(f"Redis does not let us in: {error}"))
            return []
        except LinkBroken as broken:
            for append in chain.from_iterable(batches):
                append.maybe_stored = append.maybe_stored or broken.sent
            return batches
        unsettled = []
        for batch, reply in zip(batches, replies, strict=True):
            left = await self._settle(lane, batch, reply)
            if left:
                unsettled.append(left)
        return unsettled

    def _command(self, batch: list[_Append]) -> Command:
        keys: list[str] = []
        arguments: list[Argument] = [self._settings.node_id]
        for append in batch:
            keys += append.keys
            arguments += append.arguments
        return APPEND.command(keys, arguments)

    async def _settle(self, lane: str, batch: list[_Append], reply: Reply) -> list[_Append]:
        """Resolve the futures of a batch by its reply and return what must be sent again."""
        if isinstance(reply, Exception):
            return self._settle_refused(batch, reply)
        left: list[_Append] = []
        for append, outcome in zip(batch, reply, strict=True):
            if outcome == STORED:
                self._resolve(append)
            elif outcome == FENCED:
                self._drop(append, Fenced(f"{append.code}: the lease is another's."))
            elif outcome == CONFLICT:
                await self._settle_conflict(lane, append, left)
            elif code_in(outcome.decode()) in REFUSALS:
                left.append(append)
            else:
                self._drop(append, StoreUnavailable(outcome.decode(), outcome_unknown=True))
        return left

    def _settle_refused(self, batch: list[_Append], reply: Exception) -> list[_Append]:
        code = code_of(reply)
        if code in REFUSALS:
            return batch
        if isinstance(reply, ConnectionError | OSError):
            for append in batch:
                append.maybe_stored = True
            return batch
        error = (
            StoreMisconfigured(f"Redis does not let this user append: {reply}")
            if code == "NOPERM"
            else StoreUnavailable(f"Redis answers: {reply}", outcome_unknown=True)
        )
        for append in batch:
            self._drop(append, error)
        return []

    async def _settle_conflict(self, lane: str, append: _Append, left: list[_Append]) -> None:
        """Tell one's own append, stored by an earlier sending, from another's."""
        if not append.maybe_stored:
            self._drop(append, Conflict(f"{append.code}: the log does not end here."))
            return
        last = append.first_version + len(append.events) - 1
        log = room_keys(append.code)[1]
        try:
            [reply] = await self._link.send(
                lane, [("XRANGE", log, f"{append.first_version}-0", f"{last}-0")]
            )
        except LinkBroken:
            left.append(append)
            return
        if isinstance(reply, Exception):
            left.append(append)
        elif [fields[1] for _, fields in reply] == list(append.events):
            self._resolve(append)
        else:
            self._drop(append, Conflict(f"{append.code}: the log holds other events."))

    def _put_back(self, batch: list[_Append]) -> None:
        self._waiting.setdefault(batch[0].group, deque()).extendleft(reversed(batch))

    def _fail_late(self) -> None:
        """Fail appends whose time is over, and with each the later ones of its room."""
        now = self._loop.time()
        for group, queue in list(self._waiting.items()):
            if queue[0].deadline > now or group in self._busy:
                continue
            rooms = {append.code for append in queue if append.deadline <= now}
            self._waiting[group] = deque(a for a in queue if a.code not in rooms)
            for append in queue:
                if append.code in rooms:
                    self._drop(append, _unavailable(append, "Redis did not store it in time"))
            if not self._waiting[group]:
                del self._waiting[group]

    def _resolve(self, append: _Append) -> None:
        self.appends += 1
        self._settled(append)
        if not append.future.done():
            append.future.set_result(None)

    def _drop(self, append: _Append, error: StoreError) -> None:
        self._renewed.pop(append.code, None)
        self._settled(append)
        append.fail(error)

    def _settled(self, append: _Append) -> None:
        if not append.settled:
            append.settled = True
            self.waiting_appends -= 1
            self.waiting_bytes -= append.size


def _unavailable(append: _Append, why: str) -> StoreUnavailable:
    return StoreUnavailable(f"{append.code}: {why}.", outcome_unknown=append.maybe_stored)


def _is_unknown_script(reply: Reply) -> bool:
    return isinstance(reply, Exception) and code_of(reply) == "NOSCRIPT"
