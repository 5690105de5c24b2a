"""``Session``: one connection to the address of a room, from its first frame to its end.

Law of this module: decode, check limits, then the room. Whatever has to be awaited is awaited
with the connection held, so that frames are worked off in the order in which they came.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable

import structlog

from demineur import protocol as wire
from demineur.net import Connection, RelayError, RelayTimeout, TokenBucket, relay
from demineur.race import Refused
from demineur.race import commands as cmd
from demineur.rooms.directory import Elsewhere
from demineur.rooms.metrics import REFUSALS, RELAYS, TAKEOVERS
from demineur.rooms.node import Node
from demineur.rooms.publish import room_settings
from demineur.rooms.pulse import BEHIND_MS
from demineur.rooms.runner import Runner, draw
from demineur.rooms.visitor import Hold, Latch, Visitor, part
from demineur.store import StoreError, StoreUnavailable

_MOVE = re.compile(rb'\{"t":"(?:tap|flag)","n":([1-9][0-9]{0,8}),"c":[0-9]{1,5}\}')
"""A move as nearly every client writes it; any other spelling is decoded, then put off the same."""
_PUT_OFF = REFUSALS.labels(wire.ErrorCode.BUSY.value)
_log = structlog.stdlib.get_logger(__name__)

RELAY_TRIES = 4
_NOWHERE = Elsewhere("", 0, "")
"""Where a connection is that was sent away."""
DEAD_AFTER_MS = 2_000
"""A node that takes a relay but does not answer, and has not beaten for so long, is dead."""


class Session:
    """The endpoint of one client's connection to ``/ws/{CODE}``, or to the lobby (code None)."""

    def __init__(self, node: Node, code: str | None) -> None:
        self._node = node
        self._code = code
        self._visitor: Visitor | None = None
        self._runner: Runner | None = None
        self._relayed = False
        self._moves = TokenBucket(node.limits.moves_per_s, node.limits.move_burst)
        self._messages = TokenBucket(node.limits.messages_per_s, node.limits.message_burst)

    # Endpoint

    def opened(self, connection: Connection) -> None:
        """Nothing: the client speaks first."""

    def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
        """Work off one frame."""
        self._node.pulse.check(arrived_ns)
        visitor = self._visitor
        if visitor is not None and visitor.is_waiting and self._is_behind(arrived_ns):
            move = _MOVE.fullmatch(text)
            if move is not None:
                self._put_off(connection, move[1])
                return
        try:
            message = wire.decode(text)
            if self._visitor is None:
                self._greet(connection, message, text, arrived_ns)
            elif isinstance(message, wire.Tap | wire.Flag):
                self._move(self._visitor, message, arrived_ns)
            else:
                self._other(self._visitor, message, arrived_ns)
        except wire.Fault as fault:
            if self._visitor is None and fault.code is not wire.ErrorCode.BAD_NAME:
                part(connection, wire.CloseCode.BAD_FIRST_FRAME)
            else:
                self._take(fault, connection)

    def closed(self, connection: Connection, code: int) -> None:
        """Tell the room, or the lobby."""
        visitor = self._visitor
        if visitor is None:
            return
        if self._code is None:
            self._node.feed.remove(visitor)
        runner = self._current()
        if runner is not None:
            runner.gone(visitor)

    # Refusals

    def _take(self, fault: wire.Fault, connection: Connection) -> None:
        """Send the refusal, behind whatever the room still has to tell this client."""
        REFUSALS.labels(fault.code.value).inc()
        frame = wire.encode(
            wire.Error(code=fault.code, text=fault.text, n=fault.n, retry_ms=fault.retry_ms)
        )
        runner, visitor = self._current(), self._visitor
        if runner is None or visitor is None:
            connection.send(frame)
        else:
            runner.tell(visitor, frame)

    def _busy(self, text: str) -> wire.Fault:
        return wire.Fault(wire.ErrorCode.BUSY, text, retry_ms=self._node.limits.busy_retry_ms)

    # The first frame

    def _greet(
        self, connection: Connection, message: wire.ClientMessage, text: bytes, arrived_ns: int
    ) -> None:
        if not isinstance(message, wire.Hello):
            raise wire.Fault(wire.ErrorCode.OUT_OF_ORDER, "The first frame is a hello.")
        if not self._messages.take(arrived_ns):
            raise self._too_fast(self._messages, None)
        name = wire.clean_name(message.name) if message.name is not None else None
        latch = Latch(connection)
        self._hold(latch, self._arrive(latch, message.token, name, text, arrived_ns))

    async def _arrive(
        self,
        latch: Latch,
        token: str | None,
        name: str | None,
        text: bytes,
        arrived_ns: int,
    ) -> None:
        runner: Runner | None = None
        connection = latch.connection
        if self._code is not None:
            place = await self._place(connection, self._code, text)
            if isinstance(place, Elsewhere):
                return
            runner = place
        visitor, new_token = await self._identify(latch, token, name, arrived_ns)
        if not connection.is_open:
            return
        self._visitor, self._runner = visitor, runner
        member = runner is not None and runner.room.seat_of(visitor.player) is not None
        welcome = wire.Welcome(
            player=visitor.player,
            token=new_token,
            name=visitor.name,
            now_ms=self._node.store.clock.now_ms(),
            room=runner is not None,
            member=member,
        )
        connection.send(wire.encode(welcome))
        if self._code is None:
            self._node.feed.add(visitor)

    async def _place(
        self, connection: Connection, code: str, text: bytes
    ) -> Runner | Elsewhere | None:
        """Return the room here, or None if there is none, or where it was relayed to.

        A node whose internal address refuses is gone: its room is taken over at once, without
        waiting for its lease to run out.
        """
        over_epoch: int | None = None
        for _ in range(RELAY_TRIES):
            if self._node.rooms.is_draining:
                break
            place = await self._node.rooms.locate(code, over_epoch)
            if not isinstance(place, Elsewhere):
                return place
            if connection.relayed:
                part(connection, wire.CloseCode.ROOM_MOVED, retry_ms=100)
                return place
            over_epoch = await self._relay(connection, place, text)
            if over_epoch is None:
                return place
        if self._node.rooms.is_draining:
            part(connection, wire.CloseCode.RESTART, retry_ms=0)
        else:
            part(connection, wire.CloseCode.TRY_LATER, retry_ms=500)
        return _NOWHERE

    async def _relay(self, connection: Connection, place: Elsewhere, text: bytes) -> int | None:
        """Pass the connection on; return the epoch of a holder that was found dead instead."""
        try:
            await relay(connection, place.address, self._node.secret, first=[text])
        except RelayTimeout:
            state = await self._node.store.node(place.node)
            now_ms = self._node.store.clock.now_ms()
            if state is not None and now_ms - state.beat_ms < DEAD_AFTER_MS:
                part(connection, wire.CloseCode.TRY_LATER, retry_ms=500)
                return None
        except RelayError as refused:
            status = getattr(refused, "status", None)
            if status is not None:
                # It lives and says no: it is full or going away, and will give the room up.
                part(connection, wire.CloseCode.TRY_LATER, retry_ms=250)
                return None
        else:
            RELAYS.inc()
            self._relayed = True
            return None
        TAKEOVERS.labels("unreachable").inc()
        return place.epoch

    async def _identify(
        self, latch: Latch, token: str | None, name: str | None, arrived_ns: int
    ) -> tuple[Visitor, str | None]:
        store = self._node.store
        if token is None:
            if not self._node.identities.admit(latch.connection.address, arrived_ns):
                raise self._busy("Too many new players come from your address.")
            name = name or "Player"
            player, new_token = await store.new_player(name)
            return Visitor(latch, player, name), new_token
        known = await store.player(token)
        if known is None:
            raise wire.Fault(wire.ErrorCode.BAD_TOKEN, "This token is not known here.")
        if name is not None and name != known.name:
            await store.rename(known.id, name)
        return Visitor(latch, known.id, name or known.name), None

    # What has to be awaited

    def _hold(self, holder: Latch | Visitor, work: Awaitable[None]) -> None:
        holder.hold(Hold.AWAITING)
        self._node.rooms.spawn(self._held(holder, work))

    async def _held(self, holder: Latch | Visitor, work: Awaitable[None]) -> None:
        connection = holder.connection
        try:
            await work
        except wire.Fault as fault:
            self._take(fault, connection)
        except StoreError:
            self._take(_unavailable(None), connection)
            if not self._is_in_room():
                part(connection, wire.CloseCode.TRY_LATER, retry_ms=1000)
        except asyncio.CancelledError:
            raise
        except Exception:
            _log.exception("a session failed")
            part(connection, wire.CloseCode.INTERNAL)
        if not self._relayed:
            holder.release(Hold.AWAITING)

    def _is_in_room(self) -> bool:
        """Whether the client has a connection to lose: it plays or watches."""
        runner, visitor = self._current(), self._visitor
        return runner is not None and visitor in runner.visitors

    # Moves

    def _move(self, visitor: Visitor, message: wire.Tap | wire.Flag, arrived_ns: int) -> None:
        if visitor.is_waiting and self._is_behind(arrived_ns):
            self._put_off(visitor.connection, b"%d" % message.n)
            return
        if not self._moves.take(arrived_ns):
            raise self._too_fast(self._moves, message.n)
        runner = self._current()
        if runner is None:
            raise wire.Fault(wire.ErrorCode.NOT_IN_ROOM, "Join the room first.", n=message.n)
        if runner.is_frozen or self._node.pulse.is_full:
            raise _unavailable(message.n)
        visitor.arrived_ns = arrived_ns
        runner.move(visitor, message, self._node.store.clock.at(arrived_ns))

    def _put_off(self, connection: Connection, n: bytes) -> None:
        """Refuse a move of somebody whose move before has no answer yet.

        A node that is behind serves everybody one move at a time. Who waits for answers never
        sees this; who does not is told at once, since a queue that only grows helps nobody. It
        must cost much less than a move (a fifth, measured), or refusing would be the load: hence
        no decoding, and the frame is written here.
        """
        _PUT_OFF.inc()
        retry_ms = self._node.limits.busy_retry_ms
        connection.send(
            b'{"t":"error","code":"busy","text":"The server is busy; wait for your answers.",'
            b'"n":%b,"retry_ms":%d}' % (n, retry_ms)
        )

    def _is_behind(self, now_ns: int) -> bool:
        late = self._node.pulse.is_behind(now_ns)
        return late or self._node.store.append_latency_ms > BEHIND_MS

    def _too_fast(self, bucket: TokenBucket, n: int | None) -> wire.Fault:
        text = "That was too fast; slow down."
        return wire.Fault(wire.ErrorCode.TOO_FAST, text, n=n, retry_ms=max(1, bucket.wait_ms))

    # Everything else

    def _other(self, visitor: Visitor, message: wire.ClientMessage, arrived_ns: int) -> None:
        if not self._messages.take(arrived_ns):
            raise self._too_fast(self._messages, None)
        match message:
            case wire.Ping(at=at):
                now_ms = self._node.store.clock.now_ms()
                visitor.send(wire.encode(wire.Pong(at=at, now_ms=now_ms)))
            case wire.Hello():
                raise wire.Fault(wire.ErrorCode.OUT_OF_ORDER, "You have said hello already.")
            case wire.Rename(name=name):
                self._rename(visitor, wire.clean_name(name), arrived_ns)
            case _ if self._code is None:
                raise wire.Fault(wire.ErrorCode.NO_ROOM, "This is the lobby's address.")
            case wire.Create():
                self._hold(visitor, self._create(visitor, message, arrived_ns))
            case wire.Join():
                self._join(visitor, message, arrived_ns)
            case _:
                self._in_room(visitor, message, arrived_ns)

    def _rename(self, visitor: Visitor, name: str, arrived_ns: int) -> None:
        runner = self._thawed()
        visitor.name = name
        if runner is not None and visitor.seat is not None:
            runner.ask(visitor, cmd.Rename(visitor.seat, name), self._at(arrived_ns))
        self._hold(visitor, self._store_name(visitor.player, name))

    async def _store_name(self, player: str, name: str) -> None:
        await self._node.store.rename(player, name)

    async def _create(self, visitor: Visitor, message: wire.Create, arrived_ns: int) -> None:
        node, code = self._node, self._code
        assert code is not None
        if self._current() is not None:
            raise wire.Fault(wire.ErrorCode.ROOM_EXISTS, "There is such a room already.")
        if node.rooms.is_draining or node.pulse.is_overloaded:
            raise self._busy("The server is busy; try again soon.")
        if node.open_rooms_of(visitor.player) >= node.limits.rooms_per_identity:
            raise wire.Fault(wire.ErrorCode.TOO_MANY_ROOMS, "Close some of your rooms first.")
        if not node.creations.admit(visitor.connection.address, arrived_ns):
            raise wire.Fault(
                wire.ErrorCode.TOO_MANY_ROOMS,
                "Too many rooms were created from your address.",
                retry_ms=node.creations.wait_ms(visitor.connection.address),
            )
        try:
            with node.creating(visitor.player):
                runner = await node.rooms.create(code, room_settings(message.settings), visitor)
        except Refused as refused:
            raise wire.Fault(wire.ErrorCode(refused.reason.value), refused.text) from None
        if runner is None:
            raise wire.Fault(wire.ErrorCode.ROOM_EXISTS, "There is such a room already.")
        node.note_created(visitor.player, code)
        self._enter(runner, visitor, wire.Join(t="join"))
        if not visitor.connection.is_open:
            runner.do(cmd.Drop(0))  # who created it has hung up before it was there

    def _join(self, visitor: Visitor, message: wire.Join, arrived_ns: int) -> None:
        runner = self._current()
        if runner is None or runner.is_frozen:
            self._hold(visitor, self._find(visitor, message))
            return
        self._admit(runner, visitor)
        runner.join(visitor, message, self._at(arrived_ns))

    async def _find(self, visitor: Visitor, message: wire.Join) -> None:
        assert self._code is not None
        place = await self._node.rooms.locate(self._code)
        while isinstance(place, Runner) and place.is_over:  # it was given up on the way to here
            place = await self._node.rooms.locate(self._code)
        if isinstance(place, Runner) and place.is_frozen:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(place.thawed(), self._node.rooms.patience_s)
            place = self._node.rooms.get(self._code)
            if place is None or place.is_frozen:
                raise StoreUnavailable("the room stands still")
        if isinstance(place, Elsewhere):
            part(visitor.connection, wire.CloseCode.ROOM_MOVED, retry_ms=0)
            return
        if place is None:
            raise wire.Fault(wire.ErrorCode.NO_ROOM, "There is no room with this code.")
        self._admit(place, visitor)
        self._enter(place, visitor, message)

    def _admit(self, runner: Runner, visitor: Visitor) -> None:
        """Let in who belongs here; others only while the node has room for them."""
        if self._node.pulse.is_overloaded and runner.room.seat_of(visitor.player) is None:
            raise self._busy("The server is busy; try again soon.")

    def _enter(self, runner: Runner, visitor: Visitor, message: wire.Join) -> None:
        self._runner = runner
        if visitor.connection.is_open:
            runner.join(visitor, message, self._node.store.clock.now_ms())

    def _in_room(self, visitor: Visitor, message: wire.ClientMessage, arrived_ns: int) -> None:
        runner = self._thawed()
        if runner is None:
            raise wire.Fault(wire.ErrorCode.NOT_IN_ROOM, "Join the room first.")
        now_ms = self._at(arrived_ns)
        if isinstance(message, wire.Leave):
            runner.left(visitor, now_ms)
            return
        if visitor.seat is None:
            raise wire.Fault(wire.ErrorCode.NOT_IN_ROOM, "You watch; join as a player first.")
        runner.ask(visitor, _command(visitor.seat, message), now_ms)

    # Inside

    def _at(self, arrived_ns: int) -> int:
        return self._node.store.clock.at(arrived_ns)

    def _current(self) -> Runner | None:
        """Return the room's runner, also when it was made anew since."""
        runner = self._runner
        if runner is not None and runner.is_over:
            runner = self._node.rooms.get(runner.code)
            self._runner = runner
        return runner

    def _thawed(self) -> Runner | None:
        """Return the same, or refuse while it stands still."""
        runner = self._current()
        if runner is not None and runner.is_frozen:
            raise _unavailable(None)
        return runner


def _unavailable(n: int | None) -> wire.Fault:
    text = "The store does not answer; try again soon."
    return wire.Fault(wire.ErrorCode.STORE_UNAVAILABLE, text, n=n, retry_ms=1000)


def _command(seat: int, message: wire.ClientMessage) -> cmd.Command:
    match message:
        case wire.Ready(ready=ready):
            return cmd.Ready(seat, ready, draw())
        case wire.SettingsChange(settings=settings):
            return cmd.ChangeSettings(seat, room_settings(settings))
        case wire.Start():
            return cmd.Start(seat, draw())
        case wire.Rematch():
            return cmd.Rematch(seat, draw())
        case _:
            raise wire.Fault(wire.ErrorCode.OUT_OF_ORDER, "This does not belong here.")
