"""The store: all that the floors above may ask of Redis, in one object."""

import asyncio
from collections.abc import Mapping, Sequence

from demineur.store.backend import Backend, open_backend
from demineur.store.beat import Beat, StallCallback
from demineur.store.calls import Caller
from demineur.store.clock import RedisClock
from demineur.store.commit import GroupCommit
from demineur.store.indexes import Lobby, Watch
from demineur.store.keys import room_keys
from demineur.store.leases import Acquired, Leases, NodeState
from demineur.store.players import Player, Players
from demineur.store.replicas import Replicas
from demineur.store.settings import StoreSettings

PAGE_EVENTS = 4096
"""A log is read in pages of so many events, which hold Redis for about 1 ms each."""


class Store:
    """Rooms, players and nodes in Redis.

    Made by ``open``; belongs to one event loop. All methods that reach Redis may raise
    ``StoreUnavailable`` and ``StoreMisconfigured``. Cancelling an awaited call is safe; what
    it asked for may be done all the same.
    """

    def __init__(self, backend: Backend, settings: StoreSettings) -> None:
        self._backend = backend
        self._closed = False
        self.settings = settings
        self.clock = RedisClock()
        """The clock that all nodes share; ``now_ms()`` costs nothing."""
        replicas = Replicas(backend.link, backend.replicas)
        of_beat = Replicas(backend.beat_link, backend.replicas, tells=False)
        self._caller = Caller(backend.link, settings.call_timeout_s, replicas)
        self._beat = Beat(backend.beat_link, settings, self.clock, of_beat)
        self._commit = GroupCommit(backend.link, settings, replicas)
        self._leases = Leases(self._caller, self._beat, self.clock, settings)
        self._players = Players(self._caller, self.clock, settings)
        self._lobby = Lobby(self._caller, self.clock)
        self._watch = Watch(self._caller, self.clock)

    @classmethod
    async def open(cls, settings: StoreSettings) -> "Store":
        """Connect (or start an own Redis), set the clock, and begin to beat.

        Raises ``StoreMisconfigured`` or ``StoreUnavailable``, each with a line that tells an
        operator what to do.
        """
        backend = await open_backend(settings)
        store = cls(backend, settings)
        try:
            await store._beat.start()
        except BaseException:
            await backend.close()
            raise
        store._watch.start()
        return store

    async def close(self) -> None:
        """Let what is under way end, and close. An own Redis is stopped with its data safe.

        What is called afterwards fails with ``StoreUnavailable``; closing again does nothing.
        """
        if self._closed:
            return
        self._closed = True
        await self._commit.close()
        await self._watch.stop()
        self._caller.close()
        await self._beat.stop()
        await self._backend.close()

    @property
    def description(self) -> str:
        """What the store stands on, for the log and people; without secrets."""
        return self._backend.description

    @property
    def durable(self) -> bool:
        """False where everything is gone when this process ends."""
        return self._backend.durable

    # Node and clock

    @property
    def node_id(self) -> str:
        """This node's id, new for each process."""
        return self.settings.node_id

    @property
    def alive_ms(self) -> int:
        """Time of Redis's last answer to this node's beat."""
        return self._beat.alive_ms

    @property
    def stalled_since_ms(self) -> int | None:
        """``alive_ms`` while Redis leaves a beat unanswered for more than 250 ms, else None."""
        return self._beat.stalled_since_ms

    @property
    def racing(self) -> bool:
        """Whether to beat every 10 ms, so that a stall is timed finely, or every 500 ms."""
        return self._beat.racing

    @racing.setter
    def racing(self, racing: bool) -> None:
        self._beat.racing = racing

    def on_stall(self, callback: StallCallback | None) -> None:
        """Have ``callback(since_ms)`` called, on the loop, when a stall begins."""
        self._beat.on_stall = callback

    def on_recover(self, callback: StallCallback | None) -> None:
        """Have ``callback(since_ms)`` called when a stall is over: ``alive_ms`` is its end."""
        self._beat.on_recover = callback

    async def node(self, node_id: str) -> NodeState | None:
        """Return a node's address and last beat; None where it is forgotten (after a day)."""
        return await self._leases.node(node_id)

    # Rooms

    async def acquire(
        self, code: str, *, create: bool = False, over_epoch: int | None = None
    ) -> Acquired:
        """Take the lease of a room.

        Returns a ``Lease`` (with a new epoch, also where this node had it already) if the room
        is free, ours, or of a node that is dead; ``Held`` if another living node has it. With
        ``create`` the room must not exist (``RoomExists``), without it must (``Missing``).
        ``over_epoch`` says that the caller found the holder at that epoch dead (its address
        refuses connections): the lease is taken though the holder beat a moment ago.
        """
        return await self._leases.acquire(code, create=create, over_epoch=over_epoch)

    async def release(self, code: str, epoch: int) -> bool:
        """Give a room back, so that any node may take it; False if it was no longer ours.

        Await the room's appends first: one that is still waiting will be ``Fenced``.
        """
        self.forget(code)
        return await self._leases.release(code, epoch)

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
    ) -> "asyncio.Future[None]":
        """Append events to a room's log; the future resolves when Redis holds them.

        Where ``StoreSettings.replicas`` says so, that means: the master and so many replicas.
        ``events[i]`` gets version ``first_version + i``; the first of a room is 1. ``timers``
        and ``meta`` set fields of the room's hashes in the same step. The room's keys expire
        ``ttl_ms`` after the last append (up to a sixteenth less). Appends of a room are stored
        in the order of the calls; one need not await the one before.

        Raises ``Backlogged`` at once when too much is waiting. The future fails with
        ``Fenced``, ``Conflict`` or ``StoreUnavailable``, and the later appends of the room
        with it. Costs about 10 µs here and 4 µs in Redis when many rooms append at a time.
        """
        return self._commit.append(
            code, epoch, first_version, events, timers=timers, meta=meta, ttl_ms=ttl_ms
        )

    @property
    def waiting_appends(self) -> int:
        """Appends that Redis has not answered yet: the queue that ``Backlogged`` bounds."""
        return self._commit.waiting_appends

    @property
    def append_latency_ms(self) -> float:
        """How long the append stored last had waited: what a move costs its player now."""
        return self._commit.latency_s * 1000

    @property
    def stored_appends(self) -> int:
        """Appends stored so far, for the metrics."""
        return self._commit.appends

    @property
    def append_calls(self) -> int:
        """Calls that it took: appends a call tell how well group commit gathers."""
        return self._commit.calls

    def forget(self, code: str) -> None:
        """Drop what this node remembers of a room that is another's now (after ``Fenced``)."""
        self._watch.hand_over(code)
        self._commit.forget(code)

    async def load(self, code: str, *, after: int = 0) -> list[bytes]:
        """Return the events of a room above version ``after``; [] where there are none."""
        log = room_keys(code)[1]
        events: list[bytes] = []
        while True:
            start = f"({after + len(events)}-0"
            page = await self._caller.read(log, "XRANGE", log, start, "+", "COUNT", PAGE_EVENTS)
            events += [fields[1] for _, fields in page]
            if len(page) < PAGE_EVENTS:
                return events

    async def timers(self, code: str) -> dict[str, bytes]:
        """Return the timers of a room as last appended."""
        flat = await self._hash(room_keys(code)[2])
        return {field.decode(): value for field, value in flat.items()}

    async def meta(self, code: str) -> dict[str, str]:
        """Return the meta of a room as last appended."""
        flat = await self._hash(room_keys(code)[3])
        return {field.decode(): value.decode() for field, value in flat.items()}

    async def _hash(self, key: str) -> dict[bytes, bytes]:
        flat = await self._caller.read(key, "HGETALL", key)
        return dict(zip(flat[::2], flat[1::2], strict=True))

    # Rooms that somebody must look after

    def watch(self, code: str, due_ms: int) -> None:
        """Say when a room of ours must next be run, so that it is not forgotten if we die.

        Returns at once; Redis has it within 0.25 s. Each call replaces the one before.
        """
        self._watch.put(code, due_ms)

    def unwatch(self, code: str) -> None:
        """Say that nothing is due in a room."""
        self._watch.remove(code)

    async def overdue(self, *, grace_ms: int = 2000, limit: int = 100) -> list[str]:
        """Return rooms of whatever node whose time came ``grace_ms`` ago: try to acquire them.

        A room that is ``Missing`` then should be unwatched.
        """
        return await self._watch.overdue(grace_ms, limit)

    # Players

    async def new_player(self, name: str) -> tuple[str, str]:
        """Make a player; return the id and the token. The token is stored only as a hash."""
        return await self._players.create(name)

    async def player(self, token: str) -> Player | None:
        """Return whose token it is; None for any that is not right. Renews 400 days."""
        return await self._players.by_token(token)

    async def rename(self, player_id: str, name: str) -> bool:
        """Change a player's name; False where there is no such player."""
        return await self._players.rename(player_id, name)

    # Lobby

    async def list_room(self, code: str, entry: bytes) -> None:
        """Put a room into the lobby with an opaque entry. Repeat every 30 s: it lasts 90 s."""
        await self._lobby.put(code, entry)

    async def unlist_room(self, code: str) -> None:
        """Take a room out of the lobby."""
        await self._lobby.remove(code)

    async def list_rooms(self, limit: int = 100) -> dict[str, bytes]:
        """Return the lobby: code and entry, the rooms put last first."""
        return await self._lobby.entries(limit)
