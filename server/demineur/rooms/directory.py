"""``Rooms``: which rooms this node runs, and how it comes to run one or gives it up.

Law of this module: a room runs here only while this node holds its lease, and a room is never
run from anything but its log. Whoever asks for the same room at the same time shares one
taking. What can't be known (is the other node dead, or slow?) is decided by the store's epochs:
a wrong guess costs a hand-over and never a move.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import structlog

from demineur import protocol as wire
from demineur.race import (
    BadLog,
    Phase,
    Room,
    RoomSettings,
    apply,
    create,
    creation,
    decode_event,
    encode_event,
)
from demineur.race import commands as cmd
from demineur.race.settings import PREPARE_MS
from demineur.rooms.history import History
from demineur.rooms.listing import Listing
from demineur.rooms.metrics import ROOMS, ROOMS_CREATED, TAKEOVERS
from demineur.rooms.outbox import Answer
from demineur.rooms.pulse import INTERVAL_MS
from demineur.rooms.runner import Runner
from demineur.rooms.search import BoardSearch
from demineur.rooms.services import RoomLimits, Services
from demineur.rooms.visitor import Hold, Visitor
from demineur.store import (
    Fenced,
    Held,
    Lease,
    RoomExists,
    Store,
    StoreError,
    StoreUnavailable,
)

_log = structlog.stdlib.get_logger(__name__)

SWEEP_S = 1.0
REVIVE_S = 60.0
"""How long a room whose append failed waits for its store before its players are sent away."""
LONG_GAP_MS = 1_000
"""A node that stood still for this long may have lost its rooms: it writes into each, and those
that are another's by now fence it before it answers anybody."""
FOLD_EVENTS = 500
"""Events of a log that are folded in one turn of the event loop: a few milliseconds."""
SETTLE_S = 4.0
"""How long a room that is handed over waits for its last appends."""


_RACING = {Phase.COUNTDOWN, Phase.RACING}


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another node runs the room."""

    node: str
    epoch: int
    address: str


class _Lost(Exception):  # noqa: N818 - where a room went, not an error
    """A room can't be taken back; ``code`` tells its players why."""

    def __init__(self, code: wire.CloseCode) -> None:
        super().__init__(code.name)
        self.code = code


class Rooms:
    """The rooms of one node."""

    def __init__(self, store: Store, limits: RoomLimits) -> None:
        self._store = store
        self._search = BoardSearch()
        self._runners: dict[str, Runner] = {}
        self._taking: dict[str, asyncio.Task[Runner | Elsewhere | None]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """A room is created, taken or made anew by one task at a time."""
        self._listing = Listing(store)
        self._racing: set[str] = set()
        self._failures: dict[str, int] = {}
        """Rooms whose append failed, and the node's clock when the store was last known well."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._frozen_since_ms: int | None = None
        self._patience: asyncio.TimerHandle | None = None
        self.is_draining = False
        self._services = Services(
            store, limits, self._start_search, self._changed, self._closed, self._failed
        )

    def start(self) -> None:
        """Begin to look after rooms of nodes that are gone."""
        self._store.on_stall(self._stalled)
        self._store.on_recover(self._recovered)
        self._spawn(self._sweep())
        self._spawn(self._listing.run())

    def __len__(self) -> int:
        return len(self._runners)

    @property
    def patience_s(self) -> float:
        """How long somebody waits for a room that stands still."""
        return self._services.limits.stall_patience_ms / 1000

    def get(self, code: str) -> Runner | None:
        """Return the room if this node runs it now."""
        return self._runners.get(code)

    async def locate(self, code: str, over_epoch: int | None = None) -> Runner | Elsewhere | None:
        """Return the room, taking it over where nobody runs it; None if there is no such room.

        ``over_epoch``: the caller found the holder at that epoch dead. Raises ``StoreError``.
        """
        runner = self._runners.get(code)
        if runner is not None:
            return runner
        taking = self._taking.get(code)
        if taking is None:
            taking = self._spawn(self._take(code, over_epoch))
            self._taking[code] = taking
            taking.add_done_callback(lambda _: self._taking.pop(code, None))
        return await asyncio.shield(taking)

    async def create(self, code: str, settings: RoomSettings, visitor: Visitor) -> Runner | None:
        """Create a room with the visitor in seat 0; None if the code is taken.

        Raises ``Refused`` for settings that can't be, and ``StoreError``.
        """
        command = cmd.Create(code, settings, visitor.player, visitor.name)
        async with self._turn(code):
            self._refuse_if_draining()
            event = creation(command, self._store.clock.now_ms())
            lease = await self._store.acquire(code, create=True)
            if not isinstance(lease, Lease):
                return None
            await self._store.append(
                code,
                lease.epoch,
                1,
                [encode_event(event)],
                ttl_ms=self._services.limits.open_ttl_ms,
            )
            ROOMS_CREATED.inc()
            return self._adopt(create(event), lease.epoch, History())

    async def drain(self) -> None:
        """Hand every room over, and tell its players to come back at once."""
        self.is_draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S / 2):
                for code in [*self._turns]:
                    async with self._turn(code):
                        pass  # what was on its way to run here does so by now
        await asyncio.gather(*(self._hand_over(runner) for runner in [*self._runners.values()]))

    async def close(self) -> None:
        """Stop looking after rooms; those that still run here are taken over by others."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for runner in self._runners.values():
            runner.retire()
        self._runners.clear()
        await self._search.close()

    def gap(self, gap_ms: int) -> None:
        """Credit a time in which this node itself stood still."""
        if self._frozen_since_ms is not None:
            return
        # It began some time between two beats of the pulse; those of the store are denser.
        late_ms = self._store.clock.now_ms() - gap_ms
        since_ms = max(late_ms - INTERVAL_MS, min(late_ms, self._store.alive_ms))
        for runner in [*self._runners.values()]:
            if gap_ms >= LONG_GAP_MS or runner.room.phase in _RACING:
                runner.credit(since_ms)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something beside; a fault in it is logged."""
        self._spawn(work)

    # Taking and giving.

    def _turn(self, code: str) -> asyncio.Lock:
        turn = self._turns.get(code)
        if turn is None:
            turn = self._turns[code] = asyncio.Lock()
        return turn

    def _refuse_if_draining(self) -> None:
        if self.is_draining:
            raise StoreUnavailable("this node goes away and takes no rooms")

    async def _take(self, code: str, over_epoch: int | None) -> Runner | Elsewhere | None:
        async with self._turn(code):
            runner = self._runners.get(code)
            if runner is not None:
                return runner
            self._refuse_if_draining()
            outcome = await self._store.acquire(code, over_epoch=over_epoch)
            if isinstance(outcome, Held):
                return Elsewhere(outcome.node, outcome.epoch, outcome.address)
            if not isinstance(outcome, Lease):
                return None
            TAKEOVERS.labels("returned" if outcome.previous is None else "dead").inc()
            return await self._load(outcome, frozenset())

    async def _load(self, lease: Lease, staying: frozenset[str]) -> Runner | None:
        """Fold the log of a room whose lease was taken, and go on with it; None: it had closed.

        ``staying`` are the players whose connections are here already.
        """
        history = History()
        try:
            room = await _fold(await self._store.load(lease.code), history)
        except (BadLog, IndexError):
            _log.exception("a room's log can't be read", room=lease.code)
            return None
        if room.phase is Phase.CLOSED:
            return None
        runner = self._adopt(room, lease.epoch, history)
        # What came after the last sign of life of whoever ran the room was a failure (R19).
        alive_ms = self._failures.pop(lease.code, lease.previous_beat_ms or 0)
        runner.credit(max(room.node_ms(room.last_ms), alive_ms))
        for seat in room.members():
            if seat.present and seat.player not in staying:
                runner.do(cmd.Drop(seat.seat))
        return runner

    def _adopt(self, room: Room, epoch: int, history: History) -> Runner:
        runner = Runner(room, epoch, history, self._services)
        self._runners[room.code] = runner
        ROOMS.set(len(self._runners))
        runner.start_timers()
        self._changed(runner)
        return runner

    async def _hand_over(self, runner: Runner) -> None:
        held = runner.visitors
        for visitor in held:
            visitor.hold(Hold.MOVING)
        runner.do(cmd.HandOver())
        try:
            async with asyncio.timeout(SETTLE_S):
                await runner.settled()
                visitors = self._forget(runner)
                await self._store.release(runner.code, runner.epoch)
        except (TimeoutError, StoreError):
            visitors = self._forget(runner)
        for visitor in {*held, *visitors}:
            visitor.end(wire.CloseCode.RESTART, retry_ms=0)

    def _forget(self, runner: Runner) -> list[Visitor]:
        if self._runners.get(runner.code) is runner:
            del self._runners[runner.code]
            self._listing.forget(runner.code)
            self._racing.discard(runner.code)
            self._store.racing = bool(self._racing)
        ROOMS.set(len(self._runners))
        return runner.retire()

    # What rooms report.

    def _changed(self, runner: Runner) -> None:
        self._listing.note(runner)
        if runner.room.phase in _RACING:
            self._racing.add(runner.code)
        else:
            self._racing.discard(runner.code)
        self._store.racing = bool(self._racing)

    def _closed(self, runner: Runner) -> None:
        self._forget(runner)
        self._store.unwatch(runner.code)

    def _failed(self, runner: Runner, error: BaseException) -> None:
        visitors = self._forget(runner)
        for answer in runner.unanswered():
            _tell_unavailable(answer)
        if isinstance(error, Fenced):
            for visitor in visitors:
                visitor.end(wire.CloseCode.ROOM_MOVED, retry_ms=0)
            return
        _log.warning("an append failed", room=runner.code, error=type(error).__name__)
        since_ms = self._frozen_since_ms
        self._failures[runner.code] = self._store.clock.now_ms() if since_ms is None else since_ms
        for visitor in visitors:
            visitor.hold(Hold.MOVING)
            visitor.release(Hold.FROZEN)
        self._spawn(self._revive(runner.code, visitors))

    async def _revive(self, code: str, visitors: list[Visitor]) -> None:
        """Make a room anew from its log, for those who are still connected."""
        runner, code_if_lost = None, wire.CloseCode.TRY_LATER
        try:
            runner = await self._retake(code, frozenset(v.player for v in visitors))
        except _Lost as lost:
            code_if_lost = lost.code
        self._failures.pop(code, None)
        for visitor in visitors:
            if runner is None:
                visitor.end(code_if_lost)
            elif visitor.connection.is_open:
                runner.rejoin(visitor)
            visitor.release(Hold.MOVING)
        if runner is not None:
            for seat in runner.room.members():
                if seat.present and not runner.is_connected(seat.seat):
                    runner.do(cmd.Drop(seat.seat))

    async def _retake(self, code: str, staying: frozenset[str]) -> Runner | None:
        deadline = asyncio.get_running_loop().time() + REVIVE_S
        pause_s = 0.05
        while asyncio.get_running_loop().time() < deadline:
            if self.is_draining:
                raise _Lost(wire.CloseCode.RESTART)
            try:
                return await self._take_again(code, staying)
            except StoreUnavailable:
                await asyncio.sleep(pause_s)
                pause_s = min(1.0, 2 * pause_s)
        return None

    async def _take_again(self, code: str, staying: frozenset[str]) -> Runner | None:
        async with self._turn(code):
            runner = self._runners.get(code)
            if runner is not None:
                return runner
            outcome = await self._store.acquire(code)
            if isinstance(outcome, Lease):
                return await self._load(outcome, staying)
        is_elsewhere = isinstance(outcome, Held | RoomExists)
        raise _Lost(wire.CloseCode.ROOM_MOVED if is_elsewhere else wire.CloseCode.ROOM_CLOSED)

    def _start_search(self, runner: Runner, settings: RoomSettings, seed: str, marked: int) -> None:
        self._spawn(self._find_board(runner, settings.level, seed, marked))

    async def _find_board(self, runner: Runner, level: str, seed: str, marked: int) -> None:
        attempt: int | None = None
        try:
            async with asyncio.timeout(PREPARE_MS / 1000):
                attempt = await self._search.find(level, seed, marked)
        except TimeoutError:
            _log.warning("no board in time", room=runner.code)
        if attempt is None:
            runner.do(cmd.PrepareFailed(seed))
        else:
            runner.do(cmd.Prepared(seed, attempt))

    # When the store does not answer.

    def _stalled(self, since_ms: int) -> None:
        self._frozen_since_ms = since_ms
        for runner in self._runners.values():
            runner.freeze()
        patience_s = self._services.limits.stall_patience_ms / 1000
        self._patience = asyncio.get_running_loop().call_later(patience_s, self._lose_patience)

    def _lose_patience(self) -> None:
        for runner in [*self._runners.values()]:
            for visitor in runner.visitors:
                visitor.release(Hold.FROZEN)

    def _recovered(self, since_ms: int) -> None:
        self._frozen_since_ms = None
        if self._patience is not None:
            self._patience.cancel()
        for runner in [*self._runners.values()]:
            runner.thaw(since_ms)

    # Beside.

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            try:
                for code in await self._store.overdue():
                    if code not in self._runners:
                        await self._look_after(code)
            except StoreError as error:
                _log.debug("the sweep failed", error=str(error))

    async def _look_after(self, code: str) -> None:
        """Take an overdue room over. One that can't be taken must not keep others from it."""
        try:
            place = await self.locate(code)
        except StoreError:
            raise
        except Exception:
            _log.exception("an overdue room can't be taken over", room=code)
            place = None
        if place is None:
            self._store.unwatch(code)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._reap)
        return task

    def _reap(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            error = task.exception()
            if error is not None and not isinstance(error, StoreError):
                _log.error("a task failed", exc_info=error)


async def _fold(entries: list[bytes], history: History) -> Room:
    """Return the room that a log makes. Others have their turn while a long one is folded."""
    room = create(decode_event(entries[0]))
    for number, entry in enumerate(entries[1:], 1):
        event = decode_event(entry)
        history.replayed(room, event, apply(room, event))
        if number % FOLD_EVENTS == 0:
            await asyncio.sleep(0)
    return room


def _tell_unavailable(answer: Answer) -> None:
    text = "The store did not answer; the move may not have been made."
    error = wire.Error(code=wire.ErrorCode.STORE_UNAVAILABLE, text=text, n=answer.n)
    answer.receiver.send(wire.encode(error))
