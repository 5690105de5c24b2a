"""A client's state, folded from frames by the protocol's page alone.

What a returning client was told that it missed must leave it with the very state that a fresh
snapshot shows; ``state_of`` makes the two comparable.
"""

import copy
from typing import Any

Frame = dict[str, Any]

CLOCK = ("go_at_ms", "ends_at_ms")


def state_of(snapshot: Frame) -> Frame:
    """Return of a snapshot what does not change by waiting."""
    state = copy.deepcopy(snapshot)
    state.pop("t")
    clock = state.pop("clock")
    state["clock"] = {name: clock.get(name) for name in CLOCK}
    state["own"] = {"running": clock.get("own", {}).get("running")}
    run = state["you"].get("run")
    if run is not None:
        run["open"] = _cells(run["open"])
        run["flags"] = sorted(run["flags"])
        run["exploded"] = sorted(run["exploded"])
    state["players"] = {player["seat"]: _player(player) for player in state["players"]}
    return state


def _player(player: Frame) -> Frame:
    return {"percent": 0, "flags": 0, "ms": None, "left": False, **player}


def _cells(opened: list[tuple[int, str]]) -> dict[int, str]:
    return {start + i: mark for start, text in opened for i, mark in enumerate(text)}


class Mirror:
    """The state of one client; ``None`` before its first snapshot."""

    def __init__(self) -> None:
        self.state: Frame = {}

    def hear(self, frame: Frame) -> None:
        """Fold a frame in."""
        if frame["t"] == "room":
            self.state = state_of(frame)
        elif self.state:
            handler = getattr(self, f"_hear_{frame['t']}", None)
            if handler is not None:
                handler(frame)

    def _hear_event(self, frame: Frame) -> None:
        assert frame["v"] == self.state["v"] + 1, "a version is missing"
        self.state["v"] = frame["v"]
        event = frame["event"]
        getattr(self, f"_on_{event['e']}")(event)

    def _hear_missed(self, frame: Frame) -> None:
        for event in frame["events"]:
            self._hear_event(event)
        for move in frame["moves"]:
            self._hear_moved(move)
        self._hear_progress({"p": frame["progress"]})
        assert frame["v"] == self.state["v"]
        self.state["spectators"] = frame["spectators"]
        self._clock(frame["clock"])

    def _hear_moved(self, frame: Frame) -> None:
        run = self.state["you"]["run"]
        cells = _cells(frame.get("open") or [])
        run["open"].update(cells)
        run["exploded"] = sorted({*run["exploded"], *(c for c, m in cells.items() if m == "*")})
        flags = {cell for cell in run["flags"] if cell not in cells}
        if frame.get("flag"):
            cell, is_on = frame["flag"]
            flags = flags | {cell} if is_on else flags - {cell}
        run["flags"] = sorted(flags)
        if frame.get("open") or frame.get("flag"):
            run["n"] = frame["n"]
        if frame.get("status"):
            run["status"] = frame["status"]
            self.state["own"]["running"] = frame["status"] == "playing"

    def _hear_progress(self, frame: Frame) -> None:
        for seat, percent, flags in frame["p"]:
            if seat in self.state["players"]:
                self.state["players"][seat].update(percent=percent, flags=flags)

    def _hear_spectators(self, frame: Frame) -> None:
        self.state["spectators"] = frame["count"]

    def _hear_clock(self, frame: Frame) -> None:
        self._clock(frame["clock"])

    def _clock(self, clock: Frame) -> None:
        for name in CLOCK:
            self.state["clock"][name] = clock.get(name)
        self.state["own"]["running"] = clock.get("own", {}).get("running")

    # What events say.

    def _on_joined(self, event: Frame) -> None:
        self.state["players"][event["player"]["seat"]] = _player(event["player"])

    def _on_left(self, event: Frame) -> None:
        during = self.state["phase"] in {"racing", "finished"}
        if during and event["seat"] in self.state["race"]["seats"]:
            self.state["players"][event["seat"]].update(present=False, ready=False, left=True)
        else:
            del self.state["players"][event["seat"]]
            self._tidy()

    def _on_renamed(self, event: Frame) -> None:
        self.state["players"][event["seat"]]["name"] = event["name"]

    def _on_ready(self, event: Frame) -> None:
        self.state["players"][event["seat"]]["ready"] = event["ready"]

    def _on_presence(self, event: Frame) -> None:
        self.state["players"][event["seat"]]["present"] = event["present"]

    def _on_host(self, event: Frame) -> None:
        self.state["host"] = event["seat"]

    def _on_settings(self, event: Frame) -> None:
        self.state.update(settings=event["settings"], board=event["board"])
        for player in self.state["players"].values():
            player["ready"] = False

    def _on_preparing(self, event: Frame) -> None:
        self.state["phase"] = "preparing"

    def _on_unprepared(self, event: Frame) -> None:
        if self.state["phase"] == "countdown":
            self.state.pop("race", None)
        self.state["phase"] = "lobby"
        self.state["clock"] = dict.fromkeys(CLOCK)

    def _on_countdown(self, event: Frame) -> None:
        race = event["race"]
        self.state.update(phase="countdown", race=race)
        self.state["clock"] = {"go_at_ms": event["go_at_ms"], "ends_at_ms": None}
        for seat, player in self.state["players"].items():
            status = "playing" if seat in race["seats"] else "waiting"
            player.update(ready=False, status=status, percent=0, flags=0, ms=None)
        you = self.state["you"]
        you.pop("run", None)
        self.state["own"]["running"] = None
        if you.get("seat") in race["seats"]:
            you["run"] = {"n": 0, "status": "ready", "open": {}, "flags": [], "exploded": []}
            self.state["own"]["running"] = False

    def _on_go(self, event: Frame) -> None:
        self.state["phase"] = "racing"
        self.state["clock"]["ends_at_ms"] = event["ends_at_ms"]

    def _on_ended(self, event: Frame) -> None:
        self.state["players"][event["seat"]].update(status=event["status"], ms=event["ms"])
        if self.state["you"].get("seat") == event["seat"]:
            self.state["own"]["running"] = False

    def _on_stalled(self, event: Frame) -> None:
        for name, at_ms in self.state["clock"].items():
            if at_ms is not None:
                self.state["clock"][name] = at_ms + event["ms"]

    def _on_finished(self, event: Frame) -> None:
        self.state.update(phase="finished", result=event["result"])
        self.state["clock"] = dict.fromkeys(CLOCK)

    def _on_rematch(self, event: Frame) -> None:
        self.state["phase"] = "lobby"
        players = self.state["players"].items()
        self.state["players"] = {seat: player for seat, player in players if not player["left"]}
        for player in self.state["players"].values():
            player["ready"] = False
        self._tidy()

    def _tidy(self) -> None:
        """Forget of a race who has gone since: a snapshot does not name them either."""
        race = self.state.get("race")
        if race is not None:
            race["seats"] = [seat for seat in race["seats"] if seat in self.state["players"]]
