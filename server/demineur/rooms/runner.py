"""``Runner``: the shell around one room that this node holds.

Law of this module: decide, then store, then tell. The room in memory runs ahead of the store by
what is being appended; nothing of that leaves before it is stored (see ``outbox``). If an append
fails the runner is finished, and whoever holds the log makes a new one from it.
"""

import asyncio
import secrets
from time import monotonic_ns
from typing import Literal

from demineur import protocol as wire
from demineur.race import (
    NEVER_MS,
    Event,
    Phase,
    Refused,
    Room,
    Step,
    encode_event,
    handle,
    next_due_ms,
)
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.rooms.history import History
from demineur.rooms.metrics import ANSWER_SECONDS, MOVES, STALLED_MS
from demineur.rooms.outbox import Answer, Letter, Outbox, Receiver
from demineur.rooms.publish import clock_message, moved, progress_row, settings_message
from demineur.rooms.records import host_name, meta_of, timers_of
from demineur.rooms.services import Services
from demineur.rooms.visitor import Hold, Visitor
from demineur.rooms.welcome import MOVES_LOST, welcome_back
from demineur.store import StoreError

_MOVES = (ev.Tapped, ev.Flagged)


def draw() -> cmd.Draw:
    """Draw a seed, and a number for the marked cell, with the system's randomness."""
    return cmd.Draw(secrets.token_hex(16), secrets.randbits(64))


class Runner:
    """One room, whoever is connected to it, and its timers."""

    def __init__(self, room: Room, epoch: int, history: History, services: Services) -> None:
        self.room = room
        self.epoch = epoch
        self.is_over = False
        """No longer the room's runner: lost, given up, or closed."""
        self._history = history
        self._services = services
        self._loop = asyncio.get_running_loop()
        self._outbox = Outbox(self._fail)
        self._players: dict[int, Visitor] = {}
        self._spectators: dict[Visitor, None] = {}
        self._dirty: set[int] = set()
        self._progress_timer: asyncio.TimerHandle | None = None
        self._has_new_count = False
        """Whether how many watch has changed since everybody was told."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms = NEVER_MS
        self._credited_ms = room.created_ms
        """Node's clock up to which every failure has been credited: none is credited twice."""
        self._thawed = asyncio.Event()
        """Cleared while time stands still."""
        self._thawed.set()
        self._closed_seats: list[int] = []
        """Seats whose connection ended while the store did not answer."""

    @property
    def code(self) -> str:
        """The room's code."""
        return self.room.code

    @property
    def visitors(self) -> list[Visitor]:
        """Everybody connected, players first."""
        return [*self._players.values(), *self._spectators]

    @property
    def is_frozen(self) -> bool:
        """Whether time stands still because the store does not answer."""
        return not self._thawed.is_set()

    async def thawed(self) -> None:
        """Return when time does not stand still, or the room is no longer run here."""
        await self._thawed.wait()

    # What visitors ask.

    def join(self, visitor: Visitor, message: wire.Join, now_ms: int) -> None:
        """Seat the visitor, or let it watch, and tell it all or just what it missed."""
        if self.room.phase is Phase.CLOSED:  # it ends once that is stored
            self.refuse(visitor, wire.ErrorCode.NO_ROOM, "The room has closed.")
            return
        if self.room.seat_of(visitor.player) is None and message.role == "spectator":
            self._watch(visitor, message, now_ms)
            return
        letters: list[Letter] = []
        steps, refusal = self._decide(cmd.Join(visitor.player, visitor.name), now_ms, letters)
        seat = self.room.seat_of(visitor.player)
        if refusal is not None or seat is None:
            letters += [Letter((visitor,), _refusal(refusal, None))] if refusal is not None else []
        else:
            self._take_seat(seat.seat, visitor)
            # Who has a new seat must be told which it is, whatever else it holds.
            if any(isinstance(step.event, ev.Joined) for step in steps):
                message = wire.Join(t="join")
            letters += self._welcome_back(visitor, message, now_ms)
        self._store(steps, letters)

    def _take_seat(self, seat: int, visitor: Visitor) -> None:
        before = len(self._spectators)
        self._supersede(visitor)
        self._spectators.pop(visitor, None)
        if len(self._spectators) != before:
            self._tell_spectators()
        self._players[seat] = visitor
        visitor.seat = seat

    def _supersede(self, visitor: Visitor) -> None:
        """End every other connection of this identity: the newer one wins."""
        for other in self.visitors:
            if other.player == visitor.player and other is not visitor:
                self._spectators.pop(other, None)
                if other.seat is not None:
                    self._players.pop(other.seat, None)
                    other.seat = None
                other.end(wire.CloseCode.SUPERSEDED)

    def _watch(self, visitor: Visitor, message: wire.Join, now_ms: int) -> None:
        before = len(self._spectators)
        self._supersede(visitor)
        if visitor not in self._spectators:
            if len(self._spectators) >= self._services.limits.spectators:
                self.refuse(visitor, wire.ErrorCode.ROOM_FULL, "As many watch as this room takes.")
                return
            self._spectators[visitor] = None
        if len(self._spectators) != before:
            self._tell_spectators()
        self._outbox.put(self._welcome_back(visitor, message, now_ms))

    def _welcome_back(self, visitor: Visitor, message: wire.Join, now_ms: int) -> list[Letter]:
        room = self.room
        seat = room.seats.get(visitor.seat) if visitor.seat is not None else None
        spectators = len(self._spectators)
        frames = welcome_back(room, self._history, seat, message, spectators, now_ms)
        return [Letter((visitor,), frame) for frame in frames]

    def rejoin(self, visitor: Visitor) -> None:
        """Take back somebody who stayed connected while the room was made anew from its log."""
        role: Literal["player", "spectator"] = "spectator" if visitor.seat is None else "player"
        visitor.seat = None
        seat = self.room.seat_of(visitor.player)
        if seat is not None and visitor.answered_n > seat.n:
            self.tell(visitor, MOVES_LOST)
        self.join(visitor, wire.Join(t="join", role=role), self._services.store.clock.now_ms())

    def is_connected(self, seat: int) -> bool:
        """Whether the seat's player is connected here."""
        return seat in self._players

    def settled(self) -> asyncio.Future[None]:
        """Return a future that is done once all that was decided is stored and told.

        If an append fails it never is: wait with a time limit.
        """
        future: asyncio.Future[None] = self._loop.create_future()
        self._outbox.put([], after=lambda: None if future.done() else future.set_result(None))
        return future

    def move(self, visitor: Visitor, message: wire.Tap | wire.Flag, now_ms: int) -> None:
        """Make a move and answer it with its ``n``."""
        number = visitor.seat
        seat = self.room.seats.get(number) if number is not None else None
        if number is None or seat is None:
            self.refuse(visitor, wire.ErrorCode.NOT_IN_ROOM, "You have no place here.", message.n)
            return
        is_tap = isinstance(message, wire.Tap)
        command = (cmd.Tap if is_tap else cmd.Flag)(number, message.n, message.c)
        again = message.n <= seat.n
        letters: list[Letter] = []
        steps, refusal = self._decide(command, now_ms, letters)
        if refusal is not None:
            letters.append(Letter((visitor,), _refusal(refusal, message.n)))
            self._store(steps, letters)
            return
        made = next(
            (s for s in steps if isinstance(s.event, _MOVES) and s.event.seat == number), None
        )
        if made is None:
            at_ms = self.room.room_ms(now_ms)
            answer = wire.Moved(n=message.n, ms=seat.elapsed_ms(at_ms), again=again or None)
            if seat.frozen_until_ms > at_ms and seat.ended_ms is None:
                answer.frozen_ms = seat.frozen_until_ms - at_ms
        else:
            flag = None if is_tap else message.c
            answer = moved(seat, message.n, made.event.at_ms, made.opened, flag)
            self._history.answered(number, answer)
            self._dirty.add(number)
        letters.insert(0, Letter((visitor,), wire.encode(answer)))
        visitor.asked_n = message.n
        self._store(steps, letters, Answer(visitor, message.n, made is not None))
        self._progress_soon()
        MOVES.inc()
        ANSWER_SECONDS.observe((monotonic_ns() - visitor.arrived_ns) / 1e9)

    def ask(self, visitor: Visitor, command: cmd.Command, now_ms: int) -> None:
        """Do what a seated visitor asks, other than moves; refuse it with the reason."""
        letters: list[Letter] = []
        steps, refusal = self._decide(command, now_ms, letters)
        if refusal is not None:
            letters.append(Letter((visitor,), _refusal(refusal, None)))
        self._store(steps, letters)

    def tell(self, visitor: Visitor, frame: bytes) -> None:
        """Send a frame to one visitor, in order behind what is being stored."""
        self._outbox.put([Letter((visitor,), frame)])

    def refuse(
        self, visitor: Visitor, code: wire.ErrorCode, text: str, n: int | None = None
    ) -> None:
        """Refuse a message, in order behind what is being stored."""
        frame = wire.encode(wire.Error(code=code, text=text, n=n))
        self._outbox.put([Letter((visitor,), frame)])

    def left(self, visitor: Visitor, now_ms: int) -> None:
        """The visitor gives up its seat, or stops watching."""
        if visitor.seat is None:
            self._stop_watching(visitor)
            return
        seat, visitor.seat = visitor.seat, None
        self.ask(visitor, cmd.Leave(seat), now_ms)
        self._players.pop(seat, None)

    def gone(self, visitor: Visitor) -> None:
        """The visitor's connection has ended."""
        self._stop_watching(visitor)
        seat = visitor.seat
        if seat is None or self._players.get(seat) is not visitor or self.is_over:
            return
        del self._players[seat]
        if self.is_frozen:
            self._closed_seats.append(seat)
        else:
            self.do(cmd.Drop(seat))

    def _stop_watching(self, visitor: Visitor) -> None:
        if visitor in self._spectators:
            del self._spectators[visitor]
            if not self.is_over:
                self._tell_spectators()

    def _tell_spectators(self) -> None:
        """Tell everybody how many watch, with the next progress: coming and going is cheap."""
        self._has_new_count = True
        self._progress_soon()

    # What the node asks.

    def do(self, command: cmd.Command, now_ms: int | None = None) -> None:
        """Do what nobody in the room asked for: time, outages, dropped connections."""
        if self.is_over:
            return
        letters: list[Letter] = []
        now_ms = self._services.store.clock.now_ms() if now_ms is None else now_ms
        steps, _ = self._decide(command, now_ms, letters)
        self._store(steps, letters)

    def credit(self, since_ms: int) -> None:
        """Take the time since then off everybody's clock: a failure of ours took it (R19)."""
        now_ms = self._services.store.clock.now_ms()
        outage_ms = now_ms - max(since_ms, self._credited_ms)
        self._credited_ms = now_ms
        if outage_ms > 0:
            STALLED_MS.inc(outage_ms)
            self.do(cmd.Stall(outage_ms), now_ms)

    def freeze(self) -> None:
        """The store does not answer: time stands still, and moves wait where they came in."""
        if self.is_frozen or self.is_over:
            return
        self._thawed.clear()
        self._cancel_timer()
        for visitor in self.visitors:
            visitor.hold(Hold.FROZEN)

    def thaw(self, since_ms: int) -> None:
        """The store answers again: credit the outage since then, and let the moves in."""
        if not self.is_frozen or self.is_over:
            return
        self._thawed.set()
        self.credit(since_ms)
        closed, self._closed_seats = self._closed_seats, []
        for seat in closed:
            if seat not in self._players:
                self.do(cmd.Drop(seat))
        self._schedule()
        for visitor in self.visitors:
            visitor.release(Hold.FROZEN)

    def retire(self) -> list[Visitor]:
        """Be the room's runner no more; return who was connected."""
        visitors = self.visitors
        self.is_over = True
        self._thawed.set()
        self._cancel_timer()
        if self._progress_timer is not None:
            self._progress_timer.cancel()
            self._progress_timer = None
        self._players.clear()
        self._spectators.clear()
        return visitors

    def unanswered(self) -> list[Answer]:
        """Drop what was never stored; return whose moves stay without an answer."""
        return self._outbox.discard()

    def start_timers(self) -> None:
        """Begin to watch the room's deadlines, and pick up a search that was under way."""
        self._schedule()
        search = self.room.preparing
        if self.room.phase is Phase.PREPARING and search is not None:
            self._services.search(self, self.room.settings, search.seed, search.marked)

    def listing(self) -> wire.ListedRoom:
        """Return what the lobby shows of this room."""
        room = self.room
        return wire.ListedRoom(
            code=room.code,
            host=host_name(room),
            settings=settings_message(room.settings),
            players=len(room.members()),
            phase=room.phase.value,
        )

    # Inside.

    def _audience(self) -> tuple[Receiver, ...]:
        return (*self._players.values(), *self._spectators)

    def _decide(
        self, command: cmd.Command, now_ms: int, letters: list[Letter]
    ) -> tuple[list[Step], Refused | None]:
        def observe(room: Room, step: Step) -> None:
            message = self._history.observe(room, step)
            if message is not None:
                letters.append(Letter(self._audience(), wire.encode(message)))
            elif isinstance(step.event, ev.ClockStarted):
                letters.extend(self._clock_started(step.event.seat, now_ms))

        return handle(self.room, command, now_ms, observe)

    def _clock_started(self, number: int, now_ms: int) -> list[Letter]:
        """Return what the player is told whose clock started by itself, if it is connected."""
        visitor = self._players.get(number)
        if visitor is None:
            return []
        clock = clock_message(self.room, self.room.seats[number], now_ms)
        return [Letter((visitor,), wire.encode(wire.ClockStarted(clock=clock)))]

    def _store(
        self, steps: list[Step], letters: list[Letter], answer: Answer | None = None
    ) -> None:
        if not steps:
            self._outbox.put(letters, answer=answer)
            return
        room, limits = self.room, self._services.limits
        events = [step.event for step in steps]
        is_closed = room.phase is Phase.CLOSED
        is_told = any(not isinstance(event, _MOVES) for event in events)
        try:
            stored = self._services.store.append(
                room.code,
                self.epoch,
                room.version - len(events) + 1,
                [encode_event(event) for event in events],
                timers=timers_of(room, steps),
                meta=meta_of(room) if is_told else None,
                ttl_ms=limits.closed_ttl_ms if is_closed else limits.open_ttl_ms,
            )
        except StoreError as error:
            # The room in memory is ahead of its log for good: as if the append had failed.
            stored = self._loop.create_future()
            stored.set_exception(error)
        after = self._close if is_closed else None
        if any(isinstance(event, ev.CountdownStarted) for event in events):
            after = self._begin_counting
        self._outbox.put(letters, stored=stored, answer=answer, after=after)
        if is_told:
            self._follow_up(events)
        if room.node_ms(next_due_ms(room)) != self._timer_due_ms:
            self._schedule()

    def _follow_up(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, ev.Preparing):
                self._services.search(self, self.room.settings, event.seed, event.marked)
            elif isinstance(event, ev.Left):
                gone = self._players.get(event.seat)
                if gone is not None and self.room.seat_of(gone.player) is None:
                    gone.seat = None
                    del self._players[event.seat]
        self._services.changed(self)

    def _begin_counting(self) -> None:
        for visitor in self._players.values():
            visitor.answered_n = 0

    def _close(self) -> None:
        for visitor in self.retire():
            visitor.end(wire.CloseCode.ROOM_CLOSED)
        self._services.closed(self)

    def _fail(self, error: BaseException) -> None:
        if not self.is_over:
            self._services.failed(self, error)

    def _progress_soon(self) -> None:
        if self._progress_timer is None and (self._dirty or self._has_new_count):
            delay_s = self._services.limits.progress_interval_ms / 1000
            self._progress_timer = self._loop.call_later(delay_s, self._send_progress)

    def _send_progress(self) -> None:
        self._progress_timer = None
        if self._has_new_count:
            self._has_new_count = False
            frame = wire.encode(wire.Spectators(count=len(self._spectators)))
            self._outbox.put([Letter(self._audience(), frame)])
        seats = [self.room.seats[n] for n in sorted(self._dirty) if n in self.room.seats]
        self._dirty.clear()
        if seats:
            frame = wire.encode(wire.Progress(p=[progress_row(seat) for seat in seats]))
            self._outbox.put([Letter(self._audience(), frame, droppable=True)])

    def _schedule(self) -> None:
        self._cancel_timer()
        if self.is_frozen or self.is_over:
            return
        store, due_ms = self._services.store, self.room.node_ms(next_due_ms(self.room))
        self._timer_due_ms = due_ms
        if due_ms < NEVER_MS:
            store.watch(self.code, due_ms)
            wait_ms = due_ms - store.clock.now_ms()
            self._timer = self._loop.call_later(max(0, wait_ms) / 1000, self._tick)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timer_due_ms = NEVER_MS

    def _tick(self) -> None:
        self._timer = None
        self.do(cmd.Tick())
        if self._timer is None:
            self._schedule()


def _refusal(refused: Refused, n: int | None) -> bytes:
    return wire.encode(wire.Error(code=refused.reason.value, text=refused.text, n=n))
