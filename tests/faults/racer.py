"""A player who comes back by itself, and keeps a ledger of what the server answered.

It knows what it was sent and nothing else, plays by deduction, sends again what was not
answered, and moves on to the next address when one does not serve it.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from demineur.engine import View, geometry
from demineur.engine.player import Action, Player, Style
from demineur.protocol import SUBPROTOCOL, CloseCode

ANSWER_S = 30.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 0.5


@dataclass(frozen=True)
class Answered:
    """A move that the server answered as made."""

    round: int
    n: int
    kind: str
    cell: int
    ms: int


@dataclass
class Racer:
    """One player in one room."""

    addresses: list[str]
    """``ws://host:port``, tried in turn."""
    code: str
    source: random.Random
    pace_ms: int = 300
    settings: dict[str, Any] | None = None
    """Those of the room, for the player who creates it."""
    is_created: asyncio.Event = field(default_factory=asyncio.Event)
    players: int = 2
    token: str | None = None
    seat: int | None = None
    v: int = 0
    n: int = 0
    last_made: int = 0
    phase: str = "lobby"
    round: int = 0
    is_over: bool = False
    marked: int | None = None
    ready: dict[int, bool] = field(default_factory=dict)
    host: int = 0
    view: View | None = None
    player: Player | None = None
    unanswered: list[dict[str, Any]] = field(default_factory=list)
    sent_at: float = 0.0
    answered: list[Answered] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    stalled_ms: int = 0
    closes: list[int] = field(default_factory=list)
    back_after_s: list[float] = field(default_factory=list)
    """From each loss of the line in a race until a move was answered again."""
    latencies_s: list[float] = field(default_factory=list)
    moves_lost: int = 0
    _lost_at: float | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    async def race(self, until_round: int = 1) -> None:
        """Play until that many rounds are over."""
        pause_s = FIRST_PAUSE_S
        turn = 0
        while len(self.results) < until_round:
            try:
                await self._visit(self.addresses[turn % len(self.addresses)], until_round)
                pause_s = FIRST_PAUSE_S
            except (OSError, TimeoutError, WebSocketException, EOFError) as error:
                # "Come back at once": this address knows by now where the room is.
                turn += 0 if _code(error) == CloseCode.ROOM_MOVED else 1
                if self.phase == "racing" and not self.is_over and self._lost_at is None:
                    self._lost_at = time.monotonic()
                await asyncio.sleep(pause_s * (0.5 + self.source.random()))
                pause_s = min(LONGEST_PAUSE_S, 1.5 * pause_s)

    async def _visit(self, address: str, until_round: int) -> None:
        async with connect(
            f"{address}/ws/{self.code}",
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            open_timeout=2.0,
            close_timeout=0.5,
            compression=None,
            ping_interval=None,
        ) as ws:
            await self._enter(ws)
            mover = asyncio.create_task(self._play(ws))
            try:
                await self._listen(ws, until_round)
            finally:
                mover.cancel()
                await asyncio.gather(mover, return_exceptions=True)
                if ws.close_code is not None:
                    self.closes.append(ws.close_code)

    async def _enter(self, ws: ClientConnection) -> None:
        hello: dict[str, Any] = {"t": "hello"}
        hello |= {"token": self.token} if self.token else {"name": "Racer"}
        welcome = await self._ask(ws, hello, "welcome")
        self.token = welcome.get("token", self.token)
        if self.settings is not None and not self.is_created.is_set():
            if not welcome["room"]:
                message = {"t": "create", "settings": self.settings}
                await self._ask(ws, message, "room")
                self.is_created.set()
                return
            self.is_created.set()
        await asyncio.wait_for(self.is_created.wait(), ANSWER_S)
        join: dict[str, Any] = {"t": "join"}
        if self.seat is not None:
            join |= {"since": self.v, "n": self.last_made}
        await self._ask(ws, join, "room", "missed")
        for message in [*self.unanswered]:
            await ws.send(orjson.dumps(message).decode())
        if self.phase == "lobby" and not self.ready.get(self.seat or 0):
            await ws.send('{"t":"ready","ready":true}')

    async def _ask(
        self, ws: ClientConnection, message: dict[str, Any], *kinds: str
    ) -> dict[str, Any]:
        await ws.send(orjson.dumps(message).decode())
        async with asyncio.timeout(ANSWER_S):
            while True:
                frame = self._take(await ws.recv())
                if frame["t"] in kinds:
                    return frame
                if frame["t"] == "error" and "n" not in frame:
                    raise ConnectionError(frame["code"])

    async def _listen(self, ws: ClientConnection, until_round: int) -> None:
        while len(self.results) < until_round:
            frame = self._take(await ws.recv())
            self._news.set()
            kind = frame.get("event", {}).get("e", frame["t"])
            if kind in {"stalled", "room"}:
                # What was refused meanwhile, or lost with the room that was made anew.
                for message in [*self.unanswered]:
                    await ws.send(orjson.dumps(message).decode())
            if self.phase == "lobby" and self.seat == self.host and self._all_ready():
                await ws.send('{"t":"start"}')
            if self.phase == "finished" and len(self.results) < until_round:
                await ws.send('{"t":"rematch"}')

    def _all_ready(self) -> bool:
        others = [ready for seat, ready in self.ready.items() if seat != self.seat]
        return len(others) == self.players - 1 and all(others)

    async def _play(self, ws: ClientConnection) -> None:
        while True:
            if self.phase != "racing" or self.is_over or self.unanswered:
                self._news.clear()
                await self._news.wait()
                continue
            assert self.view is not None
            assert self.player is not None
            move = self.player.next(self.view)
            if move is None:
                self._news.clear()
                await self._news.wait()
                continue
            await asyncio.sleep(move.delay_ms / 1000)
            if self.phase != "racing" or self.is_over:
                continue
            self.n += 1
            kind = "tap" if move.action is Action.TAP else "flag"
            message = {"t": kind, "n": self.n, "c": move.cell}
            self.unanswered.append(message)
            self.sent_at = time.monotonic()
            await ws.send(orjson.dumps(message).decode())

    def _take(self, text: str | bytes) -> dict[str, Any]:
        frame: dict[str, Any] = orjson.loads(text)
        match frame["t"]:
            case "room":
                self._snapshot(frame)
            case "event":
                self._event(frame)
            case "missed":
                for event in frame["events"]:
                    self._event(event)
                for moved in frame["moves"]:
                    self._moved(moved)
                self._drop_answered(frame["n"])
            case "moved":
                self._moved(frame)
            case "error":
                self._refused(frame)
        return frame

    def _snapshot(self, frame: dict[str, Any]) -> None:
        self.v, self.phase, self.host = frame["v"], frame["phase"], frame["host"]
        self.seat = frame["you"].get("seat")
        self.ready = {each["seat"]: each["ready"] for each in frame["players"]}
        race, run = frame.get("race") or {}, frame["you"].get("run")
        self.round = race.get("round", 0)
        self._new_run(frame["board"], race.get("marked"))
        if run is not None and self.view is not None:
            self.view.add([(cell, text) for cell, text in run["open"]])
            self.view.flags = self.view.geometry.mask(run["flags"])
            self.n = max(self.n, run["n"])
            self.is_over = run["status"] in {"won", "lost"}
            self._drop_answered(run["n"])
        result = frame.get("result")
        if result is not None and self.phase == "finished":
            self._result(result)

    def _new_run(self, board: dict[str, int], marked: int | None) -> None:
        self.view = View.empty(geometry(board["width"], board["height"]), board["mines"])
        self.player = Player(Style(self.pace_ms), self.source, start=marked)
        self.is_over = False

    def _event(self, frame: dict[str, Any]) -> None:
        self.v = frame["v"]
        event = frame["event"]
        match event["e"]:
            case "joined":
                self.ready[event["player"]["seat"]] = event["player"]["ready"]
            case "ready":
                self.ready[event["seat"]] = event["ready"]
            case "host":
                self.host = event["seat"]
            case "countdown":
                self._countdown(event["race"])
            case "go":
                self.phase = "racing"
            case "stalled":
                self.stalled_ms += event["ms"]
            case "ended" if event["seat"] == self.seat:
                self.is_over = True
            case "finished":
                self.phase = "finished"
                self._result(event["result"])
            case "rematch":
                self.phase = "lobby"

    def _countdown(self, race: dict[str, Any]) -> None:
        self.phase, self.round = "countdown", race["round"]
        self.ready = dict.fromkeys(self.ready, False)
        self.n = self.last_made = 0
        self.unanswered.clear()
        assert self.view is not None
        shape = self.view.geometry
        board = {"width": shape.width, "height": shape.height, "mines": self.view.mine_count}
        self._new_run(board, race.get("marked"))

    def _moved(self, frame: dict[str, Any]) -> None:
        assert self.view is not None
        made = "open" in frame or "flag" in frame
        if frame.get("open"):
            self.view.add([(cell, text) for cell, text in frame["open"]])
        if "flag" in frame:
            cell, on = frame["flag"]
            bit = self.view.geometry.bit[cell]
            self.view.flags = self.view.flags | bit if on else self.view.flags & ~bit
        if frame.get("status") in {"won", "lost"}:
            self.is_over = True
        for message in self.unanswered:
            if message["n"] == frame["n"] and made:
                self.answered.append(
                    Answered(self.round, frame["n"], message["t"], message["c"], frame["ms"])
                )
                self.last_made = frame["n"]
        self._back_at_play(frame["n"])

    def _refused(self, frame: dict[str, Any]) -> None:
        if frame["code"] == "moves_lost":
            self.moves_lost += 1
        if "n" not in frame:
            return
        self.refusals.append(frame["code"])
        if frame["code"] == "store_unavailable":
            return  # sent again after the snapshot that follows, or on the next connection
        self._back_at_play(frame["n"])

    def _back_at_play(self, n: int) -> None:
        if any(message["n"] == n for message in self.unanswered):
            now = time.monotonic()
            self.latencies_s.append(now - self.sent_at)
            if self._lost_at is not None:
                self.back_after_s.append(now - self._lost_at)
                self._lost_at = None
        self._drop_answered(n)
        self._news.set()

    def _drop_answered(self, n: int) -> None:
        self.unanswered = [message for message in self.unanswered if message["n"] > n]

    def _result(self, result: dict[str, Any]) -> None:
        if all(known["round"] != result["round"] for known in self.results):
            self.results.append(result)


def _code(error: BaseException) -> int | None:
    """The close code that the server sent, if it sent one."""
    if isinstance(error, ConnectionClosed) and error.rcvd is not None:
        return error.rcvd.code
    return None
