"""What only the log knows, for tests that play at a server in another process."""

import asyncio
from typing import Any

import redis

from demineur.engine import Layout, Run
from demineur.race import Event, Room, decode_event, fold
from demineur.race import events as ev
from tests.player_client import PlayerClient
from tests.rooms.audit import Secret


def hidden(run: Run, *, mine: bool) -> list[int]:
    """Cells that are neither open nor flagged, with or without a mine."""
    assert run.board is not None
    shown = run.opened | run.exploded | run.flags
    mines = run.board.mines
    bits = enumerate(run.geometry.bit)
    return [cell for cell, bit in bits if not bit & shown and bool(bit & mines) is mine]


class Oracle:
    """Reads a room's log in Redis, past the server."""

    def __init__(self, client: redis.Redis, code: str) -> None:
        self._client = client
        self._log = f"room:{{{code}}}:log"

    def events(self) -> list[Event]:
        entries: Any = self._client.xrange(self._log)
        return [decode_event(fields[b"e"]) for _, fields in entries]

    def room(self) -> Room:
        return fold(self.events())

    def secrets(self) -> dict[int, Secret]:
        """The seeds of all rounds, by number."""
        starts = [event for event in self.events() if isinstance(event, ev.CountdownStarted)]
        return {n: Secret(event.seed, event.attempt) for n, event in enumerate(starts, 1)}

    def layout(self) -> Layout:
        """The boards of the round under way."""
        current = self.room().round
        assert current is not None
        return current.layout

    def moves(self, seat: int) -> list[int]:
        """The counters of a player's moves in the log, as they stand there."""
        events = self.events()
        starts = [i for i, event in enumerate(events) if isinstance(event, ev.CountdownStarted)]
        moves = [e for e in events[starts[-1] :] if isinstance(e, ev.Tapped | ev.Flagged)]
        return [move.n for move in moves if move.seat == seat]


class Racer:
    """A player who knows the board."""

    def __init__(self, client: PlayerClient, layout: Layout) -> None:
        self.client = client
        self.run = Run(layout)

    async def tap(self, cell: int | None = None) -> dict[str, Any]:
        """Tap a cell, by default the first hidden one that is safe."""
        if cell is None:
            begun = self.run.first_tap is not None
            cell = hidden(self.run, mine=False)[0] if begun else self.run.geometry.cells // 2
        answer = await self.client.tap(cell)
        assert answer["t"] == "moved", answer
        self.run.tap(cell)
        return answer

    async def win(self, pause_s: float = 0.0) -> None:
        """Open all that is safe."""
        while self.run.status.value in {"ready", "playing"}:
            await self.tap()
            await asyncio.sleep(pause_s)

    async def lose(self) -> dict[str, Any]:
        """Tap a mine."""
        if self.run.first_tap is None:
            await self.tap()
        return await self.tap(hidden(self.run, mine=True)[0])


async def lobby(base: str, code: str, count: int, **settings: Any) -> list[PlayerClient]:
    """A room with so many players, the first its host, the others ready."""
    players = [PlayerClient(base, code, f"Player {i}") for i in range(count)]
    for i, player in enumerate(players):
        await player.connect()
        await player.hello()
        if i == 0:
            await player.create(**{"players": max(2, count), **settings})
        else:
            await player.join()
            await player.ask({"t": "ready", "ready": True}, "event")
    return players


async def racing(base: str, code: str, count: int, **settings: Any) -> list[PlayerClient]:
    """The same right after "go", which takes its three seconds."""
    players = await lobby(base, code, count, **settings)
    await players[0].say({"t": "start"})
    for player in players:
        await player.event("go")
    return players


async def leave(players: list[PlayerClient]) -> None:
    """End all their connections."""
    for player in players:
        await player.leave_line()
