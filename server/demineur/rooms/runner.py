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
from demineur.engine import Mask
from demineur.race import (
    NEVER_MS,
    Event,
    Phase,
    Refused,
    Room,
    Seat,
    Step,
    encode_event,
    handle,
    next_due_ms,
    timer,
)
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.rooms.history import History
from demineur.rooms.metrics import ANSWER_SECONDS, MOVES
from demineur.rooms.outbox import Answer, Letter, Outbox, Receiver
from demineur.rooms.publish import (
    clock_message,
    moved,
    progress_row,
    settings_message,
    snapshot,
)
from demineur.rooms.services import Services
from demineur.rooms.visitor import Visitor

_MOVES = (ev.Tapped, ev.Flagged)
_MOVES_LOST = wire.encode(
    wire.Error(
        code=wire.ErrorCode.MOVES_LOST,
        text="The store lost some of your last moves; this is where your run stands.",
    )
)


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
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_ms = NEVER_MS
        self._frozen = False
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
        return self._frozen

    # What visitors ask.

    def join(self, visitor: Visitor, message: wire.Join, now_ms: int) -> None:
        """Seat the visitor, or let it watch, and tell it all or just what it missed."""
        seat = self.room.seat_of(visitor.player)
        if seat is None and message.role == "spectator":
            self._watch(visitor, message, now_ms)
            return
        letters: list[Letter] = []
        steps, refusal = self._decide(cmd.Join(visitor.player, visitor.name), now_ms, letters)
        if refusal is None:
            seat = self.room.seat_of(visitor.player)
            if seat is not None:
                self._take_seat(seat.seat, visitor)
                letters.append(Letter((visitor,), self._welcome_back(visitor, message, now_ms)))
                if self._has_lost_moves(seat, message):
                    letters.append(Letter((visitor,), _MOVES_LOST))
        else:
            letters.append(Letter((visitor,), _refusal(refusal, None)))
        self._store(steps, letters)

    def _take_seat(self, seat: int, visitor: Visitor) -> None:
        before = self._players.get(seat)
        self._players[seat] = visitor
        self._stop_watching(visitor)
        visitor.seat = seat
        if before is not None and before is not visitor:
            before.seat = None
            before.end(wire.CloseCode.SUPERSEDED)

    def _watch(self, visitor: Visitor, message: wire.Join, now_ms: int) -> None:
        if visitor not in self._spectators:
            if len(self._spectators) >= self._services.limits.spectators:
                text = "As many watch as this room takes."
                error = wire.Error(code=wire.ErrorCode.ROOM_FULL, text=text)
                self._outbox.put([Letter((visitor,), wire.encode(error))])
                return
            self._spectators[visitor] = None
            self._tell_spectators()
        frame = self._welcome_back(visitor, message, now_ms)
        self._outbox.put([Letter((visitor,), frame)])

    def _welcome_back(self, visitor: Visitor, message: wire.Join, now_ms: int) -> bytes:
        room = self.room
        seat = room.seats.get(visitor.seat) if visitor.seat is not None else None
        missed = None
        if message.since is not None:
            events = self._history.events_since(message.since, room.public_version)
            moves: list[wire.Moved] | None = []
            if seat is not None:
                moves = self._history.moves_since(seat.seat, message.since, message.n or 0)
                if self._has_lost_moves(seat, message):
                    moves = None
            if events is not None and moves is not None:
                missed = wire.Missed(
                    v=room.public_version,
                    n=seat.n if seat is not None else 0,
                    events=events,
                    moves=moves,
                    progress=[progress_row(each) for each in room.racers()],
                    spectators=len(self._spectators),
                    clock=clock_message(room, seat, now_ms),
                )
        if missed is not None:
            return wire.encode(missed)
        return wire.encode(snapshot(room, seat, len(self._spectators), now_ms))

    def _has_lost_moves(self, seat: Seat, message: wire.Join) -> bool:
        """Whether the client holds the answer to a move of this round that the log has not."""
        since, n = message.since, message.n
        if since is None or n is None:
            return False
        return since > self.room.public_version or (since >= self._history.round and seat.n < n)

    def rejoin(self, visitor: Visitor) -> None:
        """Take back somebody who stayed connected while the room was made anew from its log."""
        role: Literal["player", "spectator"] = "spectator" if visitor.seat is None else "player"
        visitor.seat = None
        seat = self.room.seat_of(visitor.player)
        self.join(visitor, wire.Join(t="join", role=role), self._services.store.clock.now_ms())
        if seat is not None and visitor.answered_n > seat.n:
            self._outbox.put([Letter((visitor,), _MOVES_LOST)])

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
        if self._frozen:
            self._closed_seats.append(seat)
        else:
            self.do(cmd.Drop(seat))

    def _stop_watching(self, visitor: Visitor) -> None:
        if visitor in self._spectators:
            del self._spectators[visitor]
            if not self.is_over:
                self._tell_spectators()

    def _tell_spectators(self) -> None:
        frame = wire.encode(wire.Spectators(count=len(self._spectators)))
        self._outbox.put([Letter(self._audience(), frame)])

    # What the node asks.

    def do(self, command: cmd.Command, now_ms: int | None = None) -> None:
        """Do what nobody in the room asked for: time, outages, dropped connections."""
        if self.is_over:
            return
        letters: list[Letter] = []
        now_ms = self._services.store.clock.now_ms() if now_ms is None else now_ms
        steps, _ = self._decide(command, now_ms, letters)
        self._store(steps, letters)

    def freeze(self) -> None:
        """The store does not answer: time stands still, and moves wait where they came in."""
        if self._frozen or self.is_over:
            return
        self._frozen = True
        self._cancel_timer()
        for visitor in self.visitors:
            visitor.hold()

    def thaw(self, outage_ms: int) -> None:
        """The store answers again: credit the outage, then let the moves in."""
        if not self._frozen or self.is_over:
            return
        self._frozen = False
        self.do(cmd.Stall(outage_ms))
        for seat in self._closed_seats:
            if seat not in self._players:
                self.do(cmd.Drop(seat))
        self._closed_seats.clear()
        for visitor in self.visitors:
            visitor.release()
        self._schedule()

    def retire(self) -> list[Visitor]:
        """Be the room's runner no more; return who was connected."""
        visitors = self.visitors
        self.is_over = True
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
            host=self._host_name(),
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

        return handle(self.room, command, now_ms, observe)

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
        stored = self._services.store.append(
            room.code,
            self.epoch,
            room.version - len(events) + 1,
            [encode_event(event) for event in events],
            timers=self._timers(steps),
            meta=self._meta() if is_told else None,
            ttl_ms=limits.closed_ttl_ms if is_closed else limits.open_ttl_ms,
        )
        after = self._close if is_closed else None
        if any(isinstance(event, ev.CountdownStarted) for event in events):
            after = self._begin_counting
        self._outbox.put(letters, stored=stored, answer=answer, after=after)
        if is_told:
            self._follow_up(events)
        if next_due_ms(room) != self._timer_due_ms:
            self._schedule()

    def _timers(self, steps: list[Step]) -> dict[str, bytes] | None:
        """Return the rows that changed: clocks that started, stopped, or were moved."""
        seats: set[int] = set()
        for event, opened in steps:
            match event:
                case ev.Tapped(_, number, _, _):
                    if self._starts_or_costs(number, opened):
                        seats.add(number)
                case ev.ClockStarted(_, number) | ev.RunEnded(_, number, _):
                    seats.add(number)
                case ev.CountdownStarted() | ev.Stalled():
                    seats.update(seat.seat for seat in self.room.racers())
        known = [self.room.seats[number] for number in seats if number in self.room.seats]
        return {seat.player: timer(self.room, seat) for seat in known} or None

    def _starts_or_costs(self, number: int, opened: Mask) -> bool:
        run = self.room.seats[number].run
        return run is not None and (run.taps == 1 or bool(opened & run.exploded))

    def _meta(self) -> dict[str, str]:
        room = self.room
        return {
            "level": room.settings.level,
            "phase": room.phase.value,
            "host": self._host_name(),
            "players": str(len(room.members())),
            "places": str(room.settings.players),
            "listed": "1" if room.settings.listed else "0",
            "round": str(room.rounds),
        }

    def _host_name(self) -> str:
        host = self.room.seats.get(self.room.host)
        return host.name if host is not None else ""

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
        if self._progress_timer is None and self._dirty:
            delay_s = self._services.limits.progress_interval_ms / 1000
            self._progress_timer = self._loop.call_later(delay_s, self._send_progress)

    def _send_progress(self) -> None:
        self._progress_timer = None
        seats = [self.room.seats[n] for n in sorted(self._dirty) if n in self.room.seats]
        self._dirty.clear()
        if seats:
            frame = wire.encode(wire.Progress(p=[progress_row(seat) for seat in seats]))
            self._outbox.put([Letter(self._audience(), frame, droppable=True)])

    def _schedule(self) -> None:
        self._cancel_timer()
        if self._frozen or self.is_over:
            return
        due_ms = next_due_ms(self.room)
        self._timer_due_ms = due_ms
        if due_ms < NEVER_MS:
            wait_ms = self.room.node_ms(due_ms) - self._services.store.clock.now_ms()
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
