"""``Racer``: the state of one simulated player; it knows what it was sent, nothing more.

Law of this module: no sockets, no clock, no locust. Frames go in, and what to say comes out; so
the tests can drive it and any load tool could.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import orjson

from demineur.engine import View, geometry
from demineur.engine.player import Action, Player, Style

_PHASES = {
    "preparing": "preparing",
    "countdown": "countdown",
    "go": "racing",
    "finished": "finished",
    "rematch": "lobby",
    "unprepared": "lobby",
}
"""The phase that an event leads to."""


@dataclass(slots=True)
class Racer:
    """One player in one room."""

    style: Style
    source: random.Random
    view: View | None = None
    player: Player | None = None
    token: str | None = None
    phase: str = "lobby"
    seat: int | None = None
    host: int | None = None
    v: int = 0
    n: int = 0
    marked: int | None = None
    is_over: bool = False
    """Whether one's own run has ended."""
    ready: dict[int, bool] = field(default_factory=dict)
    """Who is in the room, and whether they are ready."""

    def take(self, text: str | bytes) -> dict[str, Any]:
        """Take in a frame of the server and return it."""
        frame: dict[str, Any] = orjson.loads(text)
        match frame["t"]:
            case "welcome":
                self.token = frame.get("token", self.token)
            case "room":
                self._room(frame)
            case "event":
                self.v = frame["v"]
                self._event(frame["event"])
            case "moved":
                self._moved(frame)
        return frame

    def next_move(self) -> tuple[dict[str, Any], int] | None:
        """Return the next move and how long a person would take for it, in ms."""
        if self.view is None or self.player is None or self.is_over or self.phase != "racing":
            return None
        move = self.player.next(self.view)
        if move is None:
            return None
        self.n += 1
        kind = "tap" if move.action is Action.TAP else "flag"
        return {"t": kind, "n": self.n, "c": move.cell}, move.delay_ms

    @property
    def is_host(self) -> bool:
        """Whether this player starts the race."""
        return self.seat is not None and self.seat == self.host

    @property
    def all_ready(self) -> bool:
        """Whether everybody else is ready."""
        return all(ready for seat, ready in self.ready.items() if seat != self.seat)

    def _room(self, frame: dict[str, Any]) -> None:
        self.v, self.phase, self.host = frame["v"], frame["phase"], frame["host"]
        self.seat = frame["you"].get("seat")
        self.ready = {player["seat"]: player["ready"] for player in frame["players"]}
        self._new_run(frame["board"], (frame.get("race") or {}).get("marked"))

    def _new_run(self, board: dict[str, int], marked: int | None) -> None:
        self.view = View.empty(geometry(board["width"], board["height"]), board["mines"])
        self.player = Player(self.style, self.source, start=marked)
        self.n, self.is_over = 0, False

    def _event(self, event: dict[str, Any]) -> None:
        kind = event["e"]
        self.phase = _PHASES.get(kind, self.phase)
        match kind:
            case "joined":
                self.ready[event["player"]["seat"]] = event["player"]["ready"]
            case "left":
                self.ready.pop(event["seat"], None)
            case "ready":
                self.ready[event["seat"]] = event["ready"]
            case "host":
                self.host = event["seat"]
            case "countdown":
                self._countdown(event["race"])
            case "ended" if event["seat"] == self.seat:
                self.is_over = True

    def _countdown(self, race: dict[str, Any]) -> None:
        self.ready = dict.fromkeys(self.ready, False)
        if self.view is not None:
            shape = self.view.geometry
            board = {
                "width": shape.width,
                "height": shape.height,
                "mines": self.view.mine_count,
            }
            self._new_run(board, race.get("marked"))

    def _moved(self, frame: dict[str, Any]) -> None:
        if self.view is None:
            return
        if frame.get("open"):
            self.view.add([(cell, text) for cell, text in frame["open"]])
        if "flag" in frame:
            cell, on = frame["flag"]
            bit = self.view.geometry.bit[cell]
            self.view.flags = self.view.flags | bit if on else self.view.flags & ~bit
        if frame.get("status") in {"won", "lost"}:
            self.is_over = True
