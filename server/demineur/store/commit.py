"""Group commit: what all rooms wait to append goes to Redis in as few calls as can be.

Law of this file: an append's future resolves only when Redis holds its events, and so do the
replicas that are waited for (``replicas.py``); the appends of a room are sent in the order in
which they were made; and an append is stored once or not at all, however often it had to be
sent, because every event has its place in the log (its version) and the script refuses any
other.

All that was appended in one turn of the event loop, or while a call was under way, makes the
next call: one script for each group of keys that may go together (all of them, or one slot of
a Cluster), all groups of a lane in one write, one write at a time for each lane. So the
busier the node, the cheaper a move.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from demineur.store.appends import Append, Renewals
from demineur.store.calls import FIRST_PAUSE_S, LONGEST_PAUSE_S
from demineur.store.errors import (
    Backlogged,
    Conflict,
    Fenced,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
)
from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.replicas import Replicas, mark
from demineur.store.replies import REFUSALS, code_in, code_of
from demineur.store.scripts import APPEND, Argument, Command
from demineur.store.settings import StoreSettings
from demineur.store.tasks import end

logger = logging.getLogger(__name__)

STORED, FENCED, CONFLICT = 1, 0, -1

Batch = list[Append]
"""Appends of one group, in their order: one call of the script."""

Found = dict[Append, list[bytes]]
"""What the log holds, for sure, in the places of appends that may have been stored before."""


class GroupCommit:
    """The queue of appends of one node, and the calls that empty it."""

    def __init__(
        self, link: Link, settings: StoreSettings, replicas: Replicas | None = None
    ) -> None:
        self._link = link
        self._replicas = replicas if replicas is not None else Replicas(link, 0)
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[int, deque[Append]] = {}
        self._busy: set[int] = set()
        self._flights: dict[str, asyncio.Task[None]] = {}
        self._pauses: dict[str, float] = {}
        self._renewals = Renewals()
        self._gathering = False
        self._closed = False
        self.waiting_appends = 0
        """Appends that have no answer yet, those under way included."""
        self.waiting_bytes = 0
        self.calls = 0
        """Script calls answered so far."""
        self.appends = 0
        """Appends stored so far."""
        self.latency_s = 0.0
        """How long the append stored last had waited."""

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
        renew = self._renewals.is_due(code, first_version, ttl_ms, now)
        append = Append(code, epoch, first_version, events, timers, meta, ttl_ms, renew=renew)
        append.group = self._link.group(append.keys[0])
        append.deadline = now + self._settings.call_timeout_s
        self._admit(append)
        self._waiting.setdefault(append.group, deque()).append(append)
        if not self._gathering:
            self._gathering = True
            self._loop.call_soon(self._gather)
        return append.future

    def forget(self, code: str) -> None:
        """Drop what is remembered of a room."""
        self._renewals.forget(code)

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
            self._drop(append, append.unavailable("the store was closed"))
        self._waiting.clear()

    def _admit(self, append: Append) -> None:
        settings = self._settings
        if (
            self.waiting_appends >= settings.max_waiting_appends
            or self.waiting_bytes + append.size > settings.max_waiting_bytes
        ):
            self._renewals.forget(append.code)
            raise Backlogged(f"{self.waiting_appends} appends are waiting for Redis.")
        self.waiting_appends += 1
        self.waiting_bytes += append.size

    # Flights

    def _gather(self) -> None:
        """Start a flight on each lane that is free and has something waiting."""
        self._gathering = False
        lanes: dict[str, list[Batch]] = {}
        for group in [group for group in self._waiting if group not in self._busy]:
            lane = self._link.lane(self._waiting[group][0].keys[0])
            if lane not in self._flights:
                lanes.setdefault(lane, []).append(self._take(group))
        for lane, batches in lanes.items():
            self._flights[lane] = self._loop.create_task(self._fly(lane, batches))

    def _take(self, group: int) -> Batch:
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

    async def _fly(self, lane: str, batches: list[Batch]) -> None:
        """Send batches, settle what is answered, put back what is not, rest after a failure."""
        left = batches
        try:
            left = await self._send(lane, batches)
        except Exception:
            logger.exception("a call of group commit failed in a way nobody thought of")
            left = []
            self._drop_all(batches, StoreUnavailable("The store failed.", outcome_unknown=True))
        finally:
            self._busy.difference_update(batch[0].group for batch in batches)
            for batch in left:
                self._waiting.setdefault(batch[0].group, deque()).extendleft(reversed(batch))
        if left:
            pause_s = self._pauses.get(lane, FIRST_PAUSE_S)
            self._pauses[lane] = min(2 * pause_s, LONGEST_PAUSE_S)
            await asyncio.sleep(pause_s)
            self._fail_late()
        else:
            self._pauses.pop(lane, None)
        del self._flights[lane]
        self._gather()

    def _fail_late(self) -> None:
        """Fail appends whose time is over, and with each the later ones of its room."""
        now = self._loop.time()
        for group, queue in list(self._waiting.items()):
            if queue[0].deadline > now or group in self._busy:
                continue
            rooms = {append.code for append in queue if append.deadline <= now}
            for append in queue:
                if append.code in rooms:
                    self._drop(append, append.unavailable("Redis did not store it in time"))
            rest = deque(append for append in queue if not append.settled)
            if rest:
                self._waiting[group] = rest
            else:
                del self._waiting[group]

    # Sending and settling; each returns what must be sent again

    async def _send(self, lane: str, batches: list[Batch]) -> list[Batch]:
        try:
            replies = await self._exchange(lane, batches)
        except LinkForbidden as error:
            # It may be ROLE or WAIT that is not allowed, after the appends.
            why = f"Redis does not let us in: {error}"
            self._drop_all(batches, StoreMisconfigured(why, outcome_unknown=True))
            return []
        except LinkBroken as broken:
            if broken.sent:
                _mark_maybe_stored(batches)
            return batches
        found = await self._look(lane, batches, replies)
        settled = [
            self._settle(batch, reply, found) for batch, reply in zip(batches, replies, strict=True)
        ]
        return [left for left in settled if left]

    async def _exchange(self, lane: str, batches: list[Batch]) -> list[Reply]:
        commands = [self._command(batch) for batch in batches]
        replies = await self._replicas.write(lane, commands)
        self.calls += len(commands)
        unknown = [i for i, reply in enumerate(replies) if _is_unknown_script(reply)]
        if unknown:
            # The others are stored, and their replies are lost if the link breaks now.
            _mark_maybe_stored(batches[i] for i in range(len(batches)) if i not in unknown)
            again = await self._replicas.write(lane, [APPEND.whole(commands[i]) for i in unknown])
            for i, reply in zip(unknown, again, strict=True):
                replies[i] = reply
        return replies

    def _command(self, batch: Batch) -> Command:
        keys: list[str] = []
        arguments: list[Argument] = [self._settings.node_id]
        for append in batch:
            keys += append.keys
            arguments += append.arguments
        return APPEND.command(keys, arguments)

    async def _look(self, lane: str, batches: list[Batch], replies: list[Reply]) -> Found:
        """Read what the logs hold where appends in doubt conflict; without a reply, nothing."""
        doubtful = [
            append
            for batch, reply in zip(batches, replies, strict=True)
            if not isinstance(reply, Exception)
            for append, outcome in zip(batch, reply, strict=True)
            if outcome == CONFLICT and append.maybe_stored
        ]
        if not doubtful:
            return {}
        commands = [_look_of(append) for append in doubtful]
        if self._replicas.wanted:
            # An earlier sending's WAIT went with its connection: this one must write to wait.
            commands += [mark(append.keys[0]) for append in doubtful]
        try:
            found = await self._replicas.write(lane, commands)
        except (LinkBroken, LinkForbidden):
            return {}
        entries, marked = found[: len(doubtful)], found[len(doubtful) :] or [1] * len(doubtful)
        return {
            append: [fields[1] for _, fields in entry]
            for append, entry, is_marked in zip(doubtful, entries, marked, strict=True)
            if is_marked == 1 and not isinstance(entry, Exception)
        }

    def _settle(self, batch: Batch, reply: Reply, found: Found) -> Batch:
        if isinstance(reply, Exception):
            return self._settle_refused(batch, reply)
        left: Batch = []
        rooms_left: set[str] = set()
        for append, outcome in zip(batch, reply, strict=True):
            # After an append that waits, a conflict of its room may mean no more than that.
            waits = outcome == CONFLICT and append.code in rooms_left
            if waits or self._is_left(append, outcome, found):
                left.append(append)
                rooms_left.add(append.code)
        return left

    def _is_left(self, append: Append, outcome: int | bytes, found: Found) -> bool:
        if outcome == STORED:
            self._resolve(append)
        elif outcome == FENCED:
            self._drop(append, Fenced(f"{append.code}: the lease is another's."))
        elif outcome == CONFLICT:
            return self._is_conflict_left(append, found)
        else:
            message = outcome.decode() if isinstance(outcome, bytes) else str(outcome)
            if code_in(message) in REFUSALS:
                return True
            self._drop(append, StoreUnavailable(message, outcome_unknown=True))
        return False

    def _is_conflict_left(self, append: Append, found: Found) -> bool:
        """Tell one's own append, stored by an earlier sending, from another's."""
        if not append.maybe_stored:
            self._drop(append, Conflict(f"{append.code}: the log does not end here."))
            return False
        if append not in found:
            return True
        if found[append] == list(append.events):
            self._resolve(append)
        else:
            self._drop(append, Conflict(f"{append.code}: the log holds other events."))
        return False

    def _settle_refused(self, batch: Batch, reply: Exception) -> Batch:
        code = code_of(reply)
        if code in REFUSALS or code == "NOSCRIPT":
            return batch
        if isinstance(reply, ConnectionError | OSError):
            _mark_maybe_stored([batch])
            return batch
        error: StoreError = StoreUnavailable(f"Redis answers: {reply}", outcome_unknown=True)
        if code == "NOPERM":
            error = StoreMisconfigured(f"Redis does not let this user append: {reply}")
        self._drop_all([batch], error)
        return []

    def _resolve(self, append: Append) -> None:
        self.appends += 1
        self.latency_s = self._loop.time() + self._settings.call_timeout_s - append.deadline
        self._settled(append)
        append.resolve()

    def _drop(self, append: Append, error: StoreError) -> None:
        self._renewals.forget(append.code)
        self._settled(append)
        append.fail(error)

    def _drop_all(self, batches: Iterable[Batch], error: StoreError) -> None:
        for append in chain.from_iterable(batches):
            self._drop(append, error)

    def _settled(self, append: Append) -> None:
        if not append.settled:
            append.settled = True
            self.waiting_appends -= 1
            self.waiting_bytes -= append.size


def _look_of(append: Append) -> Command:
    last = append.first_version + len(append.events) - 1
    return ("XRANGE", append.keys[1], f"{append.first_version}-0", f"{last}-0")


def _mark_maybe_stored(batches: Iterable[Batch]) -> None:
    for append in chain.from_iterable(batches):
        append.maybe_stored = True


def _is_unknown_script(reply: Reply) -> bool:
    return isinstance(reply, Exception) and code_of(reply) == "NOSCRIPT"
