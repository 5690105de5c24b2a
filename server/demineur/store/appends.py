"""One append: what it asks of the script, and what became of it."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import chain

from demineur.store.errors import StoreError, StoreUnavailable
from demineur.store.keys import room_keys
from demineur.store.scripts import Argument

RENEWALS_PER_TTL = 16
"""An expiry is renewed when a sixteenth of it is gone: four commands less in most appends."""

MAX_REMEMBERED_ROOMS = 65_536
OVERHEAD_BYTES = 200
"""What an append weighs beside its events: keys, numbers, the protocol's framing."""


class Append:
    """An append that waits, with its share of the script's keys and arguments."""

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

    def __init__(
        self,
        code: str,
        epoch: int,
        first_version: int,
        events: Sequence[bytes],
        timers: Mapping[str, bytes] | None,
        meta: Mapping[str, str] | None,
        ttl_ms: int,
        *,
        renew: bool,
    ) -> None:
        self.code = code
        self.first_version = first_version
        self.events = events
        lease, log, timers_key, meta_key = room_keys(code)
        self.keys = [lease, log]
        self.arguments: list[Argument] = [epoch, first_version, ttl_ms, int(renew), len(events)]
        self.arguments += events
        for key, fields in ((timers_key, timers), (meta_key, meta)):
            if renew or fields:
                self.keys.append(key)
            self.arguments.append(2 * len(fields) if fields else 0)
            if fields:
                self.arguments += chain.from_iterable(fields.items())
        self.size = OVERHEAD_BYTES + sum(map(len, events))
        self.group = 0
        self.deadline = 0.0
        self.maybe_stored = False
        """Whether it was sent and no answer came."""
        self.settled = False
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def resolve(self) -> None:
        """Tell the caller that Redis holds it."""
        if not self.future.done():
            self.future.set_result(None)

    def fail(self, error: StoreError) -> None:
        """Tell the caller why not."""
        if not self.future.done():
            self.future.set_exception(error)

    def unavailable(self, why: str) -> StoreUnavailable:
        """Return the error for an append that was given up."""
        return StoreUnavailable(f"{self.code}: {why}.", outcome_unknown=self.maybe_stored)


class Renewals:
    """When each room's expiry was last renewed, so that few appends have to."""

    def __init__(self) -> None:
        self._renewed: dict[str, tuple[int, float]] = {}

    def is_due(self, code: str, first_version: int, ttl_ms: int, now: float) -> bool:
        """Whether the append that is being made must renew; it is taken to do so."""
        known = self._renewed.get(code)
        if first_version > 1 and known is not None:
            known_ttl_ms, since = known
            if known_ttl_ms == ttl_ms and (now - since) * 1000 * RENEWALS_PER_TTL < ttl_ms:
                return False
        if len(self._renewed) >= MAX_REMEMBERED_ROOMS:
            self._renewed.clear()
        self._renewed[code] = (ttl_ms, now)
        return True

    def forget(self, code: str) -> None:
        """Have the room's next append renew."""
        self._renewed.pop(code, None)
