"""Who runs a room: leases with epochs, and whether a node lives.

A lease holds for as long as its node lives, that is, beats. It costs nothing to keep, however
many rooms a node has. Whoever takes one raises its epoch, and every append names the epoch, so
a wrong judgement about who is dead costs a hand-over and never an event.
"""

from dataclasses import dataclass

from demineur.store.beat import Beat
from demineur.store.calls import Caller
from demineur.store.clock import RedisClock
from demineur.store.errors import StoreUnavailable
from demineur.store.keys import node_key, room_keys
from demineur.store.scripts import ACQUIRE, RELEASE
from demineur.store.settings import StoreSettings

UNBORN_LEASE_MS = 60_000
"""How long the lease of a room lasts to which nothing was ever appended."""

MAX_TRIES = 5
"""Takings that may go wrong because others take the same room at the same moment."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """The last sign of life of a node."""

    node: str
    address: str
    beat_ms: int
    alive: bool
    """Whether its last beat is younger than ``lease_ms`` and was not its farewell."""
    gone: bool
    """Whether it said farewell."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The room is ours at this epoch."""

    code: str
    epoch: int
    length: int
    """Events in the log."""
    previous: str | None
    """The node that held it until now (maybe ourselves); None after a release."""
    previous_beat_ms: int | None
    """The last sign of life of that node, where it is known: what came after was a stall."""


@dataclass(frozen=True, slots=True)
class Held:
    """Another node has the room, and as far as one can see it lives."""

    node: str
    epoch: int
    address: str


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such room."""


@dataclass(frozen=True, slots=True)
class RoomExists:
    """There is such a room already."""


Acquired = Lease | Held | Missing | RoomExists


class Leases:
    """Takes and gives back the leases of rooms for one node."""

    def __init__(
        self, caller: Caller, beat: Beat, clock: RedisClock, settings: StoreSettings
    ) -> None:
        self._caller = caller
        self._beat = beat
        self._clock = clock
        self._settings = settings

    async def node(self, node: str) -> NodeState | None:
        """Return a node's last sign of life; None where it is forgotten, or never was."""
        value = await self._caller.read(node_key(node), "GET", node_key(node))
        if value is None:
            return None
        beat, state, address = value.decode().split(" ", 2)
        is_recent = self._clock.now_ms() - int(beat) < self._settings.lease_ms
        return NodeState(node, address, int(beat), is_recent and state == "up", state == "gone")

    async def acquire(
        self, code: str, *, create: bool = False, over_epoch: int | None = None
    ) -> Acquired:
        """Take the lease of a room; see ``Store.acquire``."""
        for _ in range(MAX_TRIES):
            outcome = await self._take(code, create, over_epoch)
            if not isinstance(outcome, Held):
                return outcome
            holder = await self.node(outcome.node)
            if not self._is_dead(holder, outcome):
                return outcome
            over_epoch = outcome.epoch
        return outcome

    async def release(self, code: str, epoch: int) -> bool:
        """Give a lease back; False where it was no longer held at this epoch."""
        given = await self._caller.run(
            RELEASE, [room_keys(code)[0]], [self._settings.node_id, epoch]
        )
        return bool(given)

    async def _take(self, code: str, create: bool, over_epoch: int | None) -> Acquired:
        lease, log, _, _ = room_keys(code)
        reply = await self._caller.run(
            ACQUIRE,
            [lease, log],
            [
                self._settings.node_id,
                self._settings.address,
                "create" if create else "adopt",
                "" if over_epoch is None else over_epoch,
                UNBORN_LEASE_MS,
            ],
        )
        kind = reply[0]
        if kind == b"missing":
            return Missing()
        if kind == b"exists":
            return RoomExists()
        if kind == b"held":
            return Held(reply[1].decode(), reply[2], (reply[3] or b"").decode())
        # Who loads the log now must not tell players what a failover may still take back.
        await self._caller.hold(lease)
        previous = reply[3].decode() or None
        return Lease(code, reply[1], reply[2], previous, await self._last_sign(previous))

    async def _last_sign(self, node: str | None) -> int | None:
        """Return when a node beat last. That it can't be read must not lose a lease just taken."""
        if node is None:
            return None
        try:
            state = await self.node(node)
        except StoreUnavailable:
            return None
        return state.beat_ms if state is not None else None

    def _is_dead(self, holder: NodeState | None, held: Held) -> bool:
        """Judge the holder of a lease.

        An address belongs to one process at a time: whoever had ours before us is gone.
        Where Redis itself was away, nobody could beat: then silence proves nothing until
        Redis has answered us for long enough that a living node would have been heard.
        """
        if held.address and held.address == self._settings.address:
            return True
        if holder is not None and (holder.alive or holder.gone):
            return holder.gone
        return self._beat.steady_ms >= 2 * self._settings.idle_beat_ms
