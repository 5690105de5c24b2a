"""A player made of a real websocket, for tests: says, hears, and remembers every frame."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any, Self

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from demineur.engine import Geometry, View, geometry
from demineur.protocol import SUBPROTOCOL

PATIENCE_S = 10.0


class PlayerClient:
    """One connection at a time, one identity for good."""

    def __init__(self, base: str, code: str, name: str = "Player") -> None:
        """``base`` is ``ws://host:port``."""
        self.base = base
        self.code = code
        self.name = name
        self.token: str | None = None
        self.player: str | None = None
        self.frames: list[dict[str, Any]] = []
        """Every frame received, over all connections."""
        self.journal: list[tuple[str, str]] = []
        """Every frame of both directions, as text, in order: ``>`` was said, ``<`` was heard."""
        self.seat: int | None = None
        self.v = 0
        self.n = 0
        self.round = 0
        self.view: View | None = None
        self.close_code: int | None = None
        self._counter = itertools.count(1)
        self._ws: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def connect(self, path: str | None = None, **options: Any) -> Self:
        """Open the websocket and listen."""
        url = f"{self.base}{path or '/ws/' + self.code}"
        options.setdefault("proxy", None)
        self._ws = await connect(url, subprotocols=[SUBPROTOCOL], **options)  # type: ignore[list-item]
        self.close_code = None
        self._reader = asyncio.create_task(self._read(self._ws))
        return self

    async def hello(self) -> dict[str, Any]:
        """Say hello and return the welcome."""
        message: dict[str, Any] = {"t": "hello", "name": self.name}
        if self.token is not None:
            message = {"t": "hello", "token": self.token}
        welcome = await self.ask(message, "welcome")
        self.player = welcome["player"]
        self.token = welcome.get("token", self.token)
        return welcome

    async def create(self, **settings: Any) -> dict[str, Any]:
        """Create the room and return its snapshot."""
        settings = {"level": "beginner", **settings}
        return await self.ask({"t": "create", "settings": settings}, "room")

    async def join(self, **fields: Any) -> dict[str, Any]:
        """Join, and return the snapshot, or what was missed."""
        return await self.ask({"t": "join", **fields}, "room", "missed")

    async def say(self, message: dict[str, Any] | str | bytes) -> None:
        """Send one frame."""
        assert self._ws is not None
        text = orjson.dumps(message).decode() if isinstance(message, dict) else message
        if isinstance(text, str):
            self.journal.append((">", text))
        await self._ws.send(text)

    async def ask(self, message: dict[str, Any], *kinds: str) -> dict[str, Any]:
        """Send one frame and return the next one of these kinds."""
        start = len(self.frames)
        await self.say(message)
        return await self.wait(lambda f: f["t"] in kinds, start, f"{kinds} after {message}")

    async def tap(self, cell: int) -> dict[str, Any]:
        """Tap and return the answer: ``moved``, or an ``error``."""
        return await self._move("tap", cell)

    async def flag(self, cell: int) -> dict[str, Any]:
        """Flag and return the answer: ``moved``, or an ``error``."""
        return await self._move("flag", cell)

    async def _move(self, kind: str, cell: int) -> dict[str, Any]:
        start = len(self.frames)
        return await self.answer(await self.send_move(kind, cell), start)

    async def send_move(self, kind: str, cell: int) -> int:
        """Make a move without waiting for its answer; return its ``n``."""
        n = next(self._counter)
        await self.say({"t": kind, "n": n, "c": cell})
        return n

    async def answer(self, n: int, start: int = 0) -> dict[str, Any]:
        """Return the answer to move ``n``: ``moved``, or an ``error``."""
        kinds = {"moved", "error"}
        return await self.wait(
            lambda f: f["t"] in kinds and f.get("n") == n, start, f"the answer to move {n}"
        )

    def new_round(self) -> None:
        """Count moves from 1 again."""
        self._counter = itertools.count(1)

    async def event(self, kind: str, start: int = 0) -> dict[str, Any]:
        """Return the next room event of this kind, from frame ``start`` on."""

        def fits(frame: dict[str, Any]) -> bool:
            return bool(frame["t"] == "event" and frame["event"]["e"] == kind)

        found = await self.wait(fits, start, f"event {kind}")
        event: dict[str, Any] = found["event"]
        return event

    async def wait(
        self, fits: Callable[[dict[str, Any]], bool], start: int = 0, what: str = "a frame"
    ) -> dict[str, Any]:
        """Return the first frame from ``start`` on that fits."""
        at = start
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    while at < len(self.frames):
                        if fits(self.frames[at]):
                            return self.frames[at]
                        at += 1
                    if self.close_code is not None:
                        raise ConnectionError(f"closed with {self.close_code}, not {what}")
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no {what}; heard {self.frames[start:][-5:]}") from None

    async def closed(self) -> int:
        """Return the close code once the connection has ended."""
        assert self._reader is not None
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(self._reader)
        assert self.close_code is not None
        return self.close_code

    @property
    def headers(self) -> dict[str, str]:
        """Those of the answer to the handshake."""
        assert self._ws is not None
        assert self._ws.response is not None
        return dict(self._ws.response.headers)

    async def leave_line(self) -> None:
        """End the connection."""
        if self._ws is not None:
            await self._ws.close()
        if self._reader is not None:
            await self._reader

    async def cut_line(self) -> None:
        """End the connection without a word."""
        assert self._ws is not None
        self._ws.transport.abort()
        if self._reader is not None:
            await self._reader

    async def _read(self, ws: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in ws:
                assert isinstance(text, str)
                self.journal.append(("<", text))
                frame = orjson.loads(text)
                self._take(frame)
                self.frames.append(frame)
                self._news.set()
        self.close_code = ws.close_code or 1006
        self._news.set()

    def _take(self, frame: dict[str, Any]) -> None:
        kind = frame["t"]
        if kind == "room":
            self.v, self.seat = frame["v"], frame["you"].get("seat")
            board, run = frame["board"], frame["you"].get("run")
            self.round = frame.get("race", {}).get("round", 0)
            self.view = View.empty(self._geometry(board), board["mines"])
            if run is not None:
                self._restore(run)
        elif kind == "event":
            self.v = frame["v"]
            self._take_event(frame["event"])
        elif kind == "missed":
            self.v = frame["v"]
            for event in frame["events"]:
                self._take_event(event["event"])
            for move in frame["moves"]:
                self._take_move(move)
        elif kind == "moved":
            self._take_move(frame)

    def _take_event(self, event: dict[str, Any]) -> None:
        if event["e"] == "countdown" and self.view is not None:
            self.view = View.empty(self.view.geometry, self.view.mine_count)
            self.n = 0
            self.round = event["race"]["round"]
            self.new_round()
        elif event["e"] == "settings":
            board = event["board"]
            self.view = View.empty(self._geometry(board), board["mines"])

    def _take_move(self, move: dict[str, Any]) -> None:
        assert self.view is not None
        if move.get("open"):
            self.view.add([(cell, text) for cell, text in move["open"]])
        if "flag" in move:
            cell, on = move["flag"]
            bit = self.view.geometry.bit[cell]
            self.view.flags = self.view.flags | bit if on else self.view.flags & ~bit
        if move.get("open") or "flag" in move:
            self.n = move["n"]

    def _restore(self, run: dict[str, Any]) -> None:
        assert self.view is not None
        self.view.add([(cell, text) for cell, text in run["open"]])
        self.view.flags = self.view.geometry.mask(run["flags"])
        self.n = run["n"]
        self._counter = itertools.count(run["n"] + 1)

    @staticmethod
    def _geometry(board: dict[str, Any]) -> Geometry:
        return geometry(board["width"], board["height"])
