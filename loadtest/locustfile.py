"""Simulated races: players who create rooms, join, get ready, and really play.

    locust -f loadtest/locustfile.py --headless -u 40 -r 10 -t 30s

Entries ``create``, ``join`` and ``tap`` (with ``connect``, ``hello``, ``start`` and ``flag``)
count requests from sending to the answer; what the server pushes is no entry. A move that gets
an error is a failure under its code. Players are gathered into rooms within one locust process.

    DEMINEUR_RACE_LEVEL      beginner … marathon     (expert)
    DEMINEUR_RACE_SIZE       players a room          (4)
    DEMINEUR_RACE_PACE_MS    mean time between moves (300: three moves a second)
    DEMINEUR_RACE_ERRORS     share of slips          (0.0)
"""

from __future__ import annotations

import os
import random
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import orjson
import websocket
from gevent.event import AsyncResult, Event
from locust import User, constant, task

# Locust loads this file by its path, so the folder above is not on Python's.
sys.path.insert(0, str(Path(__file__).parents[1]))

from demineur.engine.player import Style
from demineur.protocol import ALPHABET, CODE_LENGTH, SUBPROTOCOL
from loadtest.racer import Racer

LEVEL = os.environ.get("DEMINEUR_RACE_LEVEL", "expert")
SIZE = int(os.environ.get("DEMINEUR_RACE_SIZE", "4"))
PACE_MS = int(os.environ.get("DEMINEUR_RACE_PACE_MS", "300"))
ERRORS = float(os.environ.get("DEMINEUR_RACE_ERRORS", "0"))
ANSWER_S = 10.0
GATHER_S = 5.0
"""How long a room waits for its players before it starts with those who came."""
RACE_S = 900.0


class Table:
    """A room that is filling up; its first player creates it."""

    def __init__(self) -> None:
        self.code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self.places = SIZE
        self.created = Event()
        self.full = Event()

    def sit(self) -> bool:
        """Take a place; True for the first."""
        self.places -= 1
        if not self.places:
            self.full.set()
        return self.places == SIZE - 1


class Tables:
    """Hands out places, room by room."""

    def __init__(self) -> None:
        self._open: Table | None = None

    def sit(self) -> tuple[Table, bool]:
        """Return a room and whether one has to create it."""
        if self._open is None or not self._open.places:
            self._open = Table()
        table = self._open
        return table, table.sit()


TABLES = Tables()


class Line:
    """One websocket, with a greenlet that reads it."""

    def __init__(self, user: RacingUser, code: str) -> None:
        self._user = user
        self.racer = Racer(Style(PACE_MS, ERRORS), random.Random())
        self.news = Event()
        self.is_closed = False
        self._waiting: dict[str | int, AsyncResult] = {}
        base = user.environment.host.replace("http", "ws", 1).rstrip("/")
        self._ws = user.timed(
            "connect",
            lambda: websocket.create_connection(
                f"{base}/ws/{code}", subprotocols=[SUBPROTOCOL], timeout=ANSWER_S
            ),
        )
        self._ws.settimeout(60.0)
        self._reader = gevent.spawn(self._read)

    def ask(self, name: str, message: dict[str, Any], *kinds: str) -> dict[str, Any]:
        """Send a frame and wait for its answer: by its ``n``, or the first of these kinds."""
        answer: AsyncResult = AsyncResult()
        keys: list[str | int] = [message["n"]] if "n" in message else [*kinds, "error"]
        for key in keys:
            self._waiting[key] = answer

        def exchange() -> dict[str, Any]:
            self._ws.send(orjson.dumps(message).decode())
            frame: dict[str, Any] = answer.get(timeout=ANSWER_S)
            if frame["t"] == "error":
                raise RefusedError(frame["code"])
            return frame

        try:
            frame: dict[str, Any] = self._user.timed(name, exchange)
        finally:
            for key in keys:
                self._waiting.pop(key, None)
        return frame

    def say(self, message: dict[str, Any]) -> None:
        """Send a frame that has no answer of its own."""
        self._ws.send(orjson.dumps(message).decode())

    def until(self, is_so: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until something has become so by what was heard."""
        deadline = time.monotonic() + timeout_s
        while not is_so():
            left_s = deadline - time.monotonic()
            if left_s <= 0 or self.is_closed:
                return False
            self.news.clear()
            self.news.wait(left_s)
        return True

    def close(self) -> None:
        """End the connection."""
        self.is_closed = True
        self._reader.kill()
        self._ws.close(timeout=1)

    def _read(self) -> None:
        try:
            while text := self._ws.recv():
                frame = self.racer.take(text)
                kind = frame.get("event", {}).get("e", frame["t"])
                answer = self._waiting.pop(frame.get("n", kind), None)
                if answer is not None:
                    answer.set(frame)
                self.news.set()
        except (websocket.WebSocketException, OSError) as error:
            self._fail(error)
        else:
            self._fail(ConnectionError("the server closed the connection"))

    def _fail(self, error: Exception) -> None:
        self.is_closed = True
        for answer in [*self._waiting.values()]:
            answer.set_exception(error)
        self.news.set()


class RefusedError(Exception):
    """The server answered with an error; its code is the text."""


class RacingUser(User):
    """One simulated player: race after race."""

    host = "http://127.0.0.1:8080"
    wait_time = constant(0)

    def timed(self, name: str, call: Callable[[], Any]) -> Any:
        """Do something and report how long it took."""
        started = time.perf_counter()
        error: BaseException | None = None
        try:
            return call()
        except gevent.Timeout:
            error = TimeoutError("no answer in time")
            raise error from None
        except Exception as failure:
            error = failure
            raise
        finally:
            self.environment.events.request.fire(
                request_type="WS",
                name=name,
                response_time=(time.perf_counter() - started) * 1000,
                response_length=0,
                exception=error,
                context={},
            )

    @task
    def races(self) -> None:
        """Take a place in a room and race there until something ends it."""
        table, is_first = TABLES.sit()
        line: Line | None = None
        try:
            line = Line(self, table.code)
            self._enter(line, table, is_first=is_first)
            while self._race(line, table):
                pass
        except (RefusedError, OSError, TimeoutError, websocket.WebSocketException):
            gevent.sleep(1)  # reported above; come back like a person would
        finally:
            if line is not None:
                line.close()

    def _enter(self, line: Line, table: Table, *, is_first: bool) -> None:
        line.ask("hello", {"t": "hello", "name": "Racer"}, "welcome")
        if is_first:
            settings = {"level": LEVEL, "players": max(2, min(32, SIZE))}
            try:
                line.ask("create", {"t": "create", "settings": settings}, "room")
            finally:
                table.created.set()
        else:
            table.created.wait(ANSWER_S)
            line.ask("join", {"t": "join"}, "room")
            line.say({"t": "ready", "ready": True})

    def _race(self, line: Line, table: Table) -> bool:
        """Race once, then ask for a rematch; False when there will be none."""
        racer = line.racer
        if racer.is_host and racer.phase == "lobby" and table.full is not None:
            table.full.wait(GATHER_S)
            line.until(lambda: len(racer.ready) >= SIZE and racer.all_ready, GATHER_S)
            line.ask("start", {"t": "start"}, "countdown")
        if not line.until(lambda: racer.phase == "racing", 60.0):
            return False
        self._play(line)
        if not line.until(lambda: racer.phase == "finished", RACE_S):
            return False
        line.say({"t": "rematch"})
        return line.until(lambda: racer.phase in {"countdown", "racing"}, 30.0)

    def _play(self, line: Line) -> None:
        racer = line.racer
        while (planned := racer.next_move()) is not None:
            move, delay_ms = planned
            gevent.sleep(delay_ms / 1000)
            if racer.is_over or racer.phase != "racing":
                return
            line.ask(move["t"], move, "moved")
