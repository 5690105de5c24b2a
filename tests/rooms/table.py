"""A node in this process with a clock that tests move, and players at real sockets around it."""

import secrets
from typing import Any

import pytest

import demineur.store.store
from demineur.app import App
from demineur.config import Settings
from demineur.engine import Run
from demineur.net import Limits
from demineur.protocol import ALPHABET, CODE_LENGTH
from demineur.race import Room, decode_event
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.rooms import RoomLimits, Runner, SessionLimits
from demineur.store import RedisClock
from tests.player_client import PlayerClient
from tests.rooms.audit import Auditor, Secret

COUNTDOWN_MS = 3_000

UNHURRIED = SessionLimits(
    moves_per_s=5_000,
    move_burst=5_000,
    messages_per_s=5_000,
    message_burst=5_000,
    rooms_per_identity=1_000,
    creations_per_s=1_000,
    busy_lag_ms=10_000,
)
"""Limits that no test comes near but those that are about them."""


class MovedClock(RedisClock):
    """The clock of Redis, and as much ahead of it as a test wants."""

    ahead_ms = 0

    def at(self, monotonic_ns: int) -> int:
        return super().at(monotonic_ns) + self.ahead_ms


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


class Table:
    """One node, and everybody who plays there."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.base = f"ws://127.0.0.1:{app.port}"
        self.clients: list[PlayerClient] = []

    @classmethod
    async def open(
        cls, monkeypatch: pytest.MonkeyPatch, redis_url: str, **settings: Any
    ) -> "Table":
        monkeypatch.setattr(demineur.store.store, "RedisClock", MovedClock)
        given: dict[str, Any] = {
            "host": "127.0.0.1",
            "port": 0,
            "redis_url": redis_url,
            "players": UNHURRIED,
            "net": Limits(frames_per_s=20_000, frame_burst=20_000, handshake_burst=5_000),
            "rooms": RoomLimits(progress_interval_ms=20),
            **settings,
        }
        return cls(await App.start(Settings(**given)))

    async def close(self) -> None:
        """Read all journals for what must not be in them, and end."""
        try:
            await self.audit()
        finally:
            for client in self.clients:
                await client.leave_line()
            await self.app.stop()

    async def audit(self) -> list[Auditor]:
        """Hold every frame that anybody received against R14."""
        known: dict[str, dict[int, Secret]] = {}
        read = []
        for client in self.clients:
            if client.code not in known:
                known[client.code] = await self.secrets(client.code)
            read.append(Auditor(known[client.code]).read(client.journal))
        return read

    async def secrets(self, code: str) -> dict[int, Secret]:
        """Return the seeds of all rounds of a room, from its log."""
        events = [decode_event(entry) for entry in await self.app.store.load(code)]
        starts = [event for event in events if isinstance(event, ev.CountdownStarted)]
        return {n: Secret(event.seed, event.attempt) for n, event in enumerate(starts, 1)}

    # Time.

    def advance(self, ms: int) -> None:
        """Let so much time pass at once; what is due happens."""
        clock = self.app.store.clock
        assert isinstance(clock, MovedClock)
        clock.ahead_ms += ms
        for client in self.clients:
            runner = self.app.node.rooms.get(client.code)
            if runner is not None:
                runner.do(cmd.Tick())

    # People.

    async def client(self, code: str, name: str = "Player", **options: Any) -> PlayerClient:
        """Somebody who has said hello, and no more."""
        client = PlayerClient(self.base, code, name)
        self.clients.append(client)
        await client.connect(**options)
        await client.hello()
        return client

    async def lobby(self, count: int, **settings: Any) -> list[PlayerClient]:
        """A room with so many players, the first its host, the others ready."""
        code = new_code()
        host = await self.client(code, "Host")
        await host.create(**{"players": max(2, count), **settings})
        others = [await self.client(code, f"Guest {i}") for i in range(1, count)]
        for guest in others:
            await guest.join()
            await guest.ask({"t": "ready", "ready": True}, "event")
        return [host, *others]

    async def racing(self, count: int, **settings: Any) -> list[PlayerClient]:
        """The same, right after "go"."""
        everybody = await self.lobby(count, **settings)
        await self.start(everybody)
        return everybody

    async def start(self, players: list[PlayerClient]) -> None:
        """The host, who is first, starts; the countdown is over at once."""
        marks = [len(player.frames) for player in players]
        await players[0].say({"t": "start"})
        await self.count_down(players, marks)

    async def count_down(self, players: list[PlayerClient], marks: list[int]) -> None:
        """Wait for a countdown that began after these frames, and end it."""
        for player, mark in zip(players, marks, strict=True):
            await player.event("countdown", mark)
        self.advance(COUNTDOWN_MS)
        for player, mark in zip(players, marks, strict=True):
            await player.event("go", mark)

    # What a test may look at, and players may not.

    def runner(self, client: PlayerClient) -> Runner:
        runner = self.app.node.rooms.get(client.code)
        assert runner is not None
        return runner

    def room(self, client: PlayerClient) -> Room:
        return self.runner(client).room

    def run(self, client: PlayerClient) -> Run:
        assert client.seat is not None
        run = self.room(client).seats[client.seat].run
        assert run is not None
        return run

    def hidden(self, client: PlayerClient, *, mine: bool) -> list[int]:
        """Cells that are neither open nor flagged, with or without a mine."""
        run = self.run(client)
        assert run.board is not None
        shown = run.opened | run.exploded | run.flags
        mines = run.board.mines
        bits = enumerate(run.geometry.bit)
        return [c for c, bit in bits if not bit & shown and bool(bit & mines) is mine]

    # Play.

    async def begin(self, client: PlayerClient, cell: int | None = None) -> dict[str, Any]:
        """The first tap, by default in the middle or on the marked cell."""
        run = self.run(client)
        current = self.room(client).round
        assert current is not None
        if cell is None:
            cell = run.geometry.cells // 2 if current.marked is None else current.marked
        return await client.tap(cell)

    async def win(self, client: PlayerClient, but: int = 0) -> None:
        """Open all that is safe, but the last ``but`` cells."""
        if self.run(client).first_tap is None:
            await self.begin(client)
        while len(left := self.hidden(client, mine=False)) > but:
            answer = await client.tap(left[0])
            assert answer["t"] == "moved", answer

    async def lose(self, client: PlayerClient) -> dict[str, Any]:
        """Tap a mine."""
        if self.run(client).first_tap is None:
            await self.begin(client)
        return await client.tap(self.hidden(client, mine=True)[0])

    async def finished(self, client: PlayerClient, start: int = 0) -> dict[str, Any]:
        """Wait for the result."""
        result: dict[str, Any] = (await client.event("finished", start))["result"]
        return result
