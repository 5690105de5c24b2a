"""``Listing``: this node's part of the lobby's list.

Law of this module: what the list says of a room is written by one task, in order, so an older
state never replaces a newer one; a room that is given to another node is that node's to list.
"""

import asyncio

import structlog

from demineur import protocol as wire
from demineur.race import Phase
from demineur.rooms.runner import Runner
from demineur.store import Store, StoreError

WRITE_S = 0.25
"""Changes are gathered for so long."""
RELIST_S = 30.0
"""An entry that is not written again falls off the list after three times as long."""

_log = structlog.stdlib.get_logger(__name__)


class Listing:
    """The listed rooms that this node runs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rooms: dict[str, Runner] = {}
        self._written: dict[str, bytes] = {}
        """What the list says now."""
        self._changed: dict[str, None] = {}

    def note(self, runner: Runner) -> None:
        """Something about this room may have changed."""
        room = runner.room
        if room.settings.listed and room.phase is not Phase.CLOSED:
            self._rooms[room.code] = runner
            self._changed[room.code] = None
        elif self._rooms.pop(room.code, None) is not None:
            self._changed[room.code] = None

    def forget(self, code: str) -> None:
        """This node does not run the room any more; another may list it."""
        if self._rooms.pop(code, None) is not None:
            self._changed.pop(code, None)
            self._written.pop(code, None)

    async def run(self) -> None:
        """Write changes for as long as the node runs."""
        loop = asyncio.get_running_loop()
        relist_at = loop.time() + RELIST_S
        while True:
            await asyncio.sleep(WRITE_S)
            if loop.time() > relist_at:
                relist_at = loop.time() + RELIST_S
                self._written.clear()
                self._changed.update(dict.fromkeys(self._rooms))
            try:
                await self._write()
            except StoreError as error:
                _log.debug("the lobby could not be written", error=str(error))

    async def _write(self) -> None:
        while self._changed:
            code = next(iter(self._changed))
            del self._changed[code]
            try:
                await self._put(code)
            except StoreError:
                self._changed[code] = None
                raise

    async def _put(self, code: str) -> None:
        runner = self._rooms.get(code)
        if runner is None:
            self._written.pop(code, None)
            await self._store.unlist_room(code)
            return
        entry = wire.encode(runner.listing())
        if self._written.get(code) != entry:
            await self._store.list_room(code, entry)
            self._written[code] = entry
