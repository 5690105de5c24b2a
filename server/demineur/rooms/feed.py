"""``LobbyFeed``: the listed rooms of all nodes, sent to whoever looks at the lobby."""

import asyncio

import structlog
from pydantic import ValidationError

from demineur import protocol as wire
from demineur.rooms.visitor import Visitor
from demineur.store import Store, StoreError

INTERVAL_S = 1.0
ROOMS_SHOWN = 100

_log = structlog.stdlib.get_logger(__name__)


class LobbyFeed:
    """Reads the list once a second while somebody looks, and sends it when it has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._visitors: dict[Visitor, None] = {}
        self._frame: bytes | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, visitor: Visitor) -> None:
        """Send the list from now on; at once if it is known."""
        self._visitors[visitor] = None
        if self._task is None or self._task.done():
            self._frame = None
            self._task = asyncio.get_running_loop().create_task(self._run())
        elif self._frame is not None:
            visitor.send(self._frame)

    def remove(self, visitor: Visitor) -> None:
        """Send nothing any more."""
        self._visitors.pop(visitor, None)

    def close(self, code: wire.CloseCode) -> None:
        """Send everybody away."""
        if self._task is not None:
            self._task.cancel()
        for visitor in [*self._visitors]:
            visitor.end(code, retry_ms=0)
        self._visitors.clear()

    async def _run(self) -> None:
        while self._visitors:
            try:
                frame = await self._read()
            except StoreError as error:
                _log.debug("the lobby could not be read", error=str(error))
            else:
                if frame != self._frame:
                    self._frame = frame
                    for visitor in self._visitors:
                        visitor.send_droppable(frame)
            await asyncio.sleep(INTERVAL_S)

    async def _read(self) -> bytes:
        entries = await self._store.list_rooms(ROOMS_SHOWN)
        rooms = [room for room in map(_listed, entries.values()) if room is not None]
        rooms.sort(key=lambda room: (room.phase != "lobby", room.code))
        return wire.encode(wire.Lobby(rooms=rooms))


def _listed(entry: bytes) -> wire.ListedRoom | None:
    """Return the room of an entry; None for one that another version of us wrote."""
    try:
        return wire.ListedRoom.model_validate_json(entry)
    except ValidationError:
        return None
