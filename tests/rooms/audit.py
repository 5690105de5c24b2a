"""What a player was told, held against what that player had opened (R14).

The audit reads every frame of a player's journal as text. It knows the seeds from outside, from
the room's log, and keeps a ledger of its own: the engine's run of this player, moved on by the
player's own moves alone. What a frame says of a board must be what that run shows, cell for
cell; anything else that could tell of a board must not be there before the race is over.
"""

from dataclasses import dataclass, field
from typing import Any

import orjson

from demineur import protocol as wire
from demineur.engine import Layout, Run, attempt_seed, geometry, segments

Journal = list[tuple[str, str]]


@dataclass(frozen=True)
class Secret:
    """What nobody may know before the race of this round is over."""

    seed: str
    attempt: int

    @property
    def words(self) -> tuple[str, ...]:
        """Texts that would give it away."""
        own = attempt_seed(bytes.fromhex(self.seed), self.attempt).hex()
        return self.seed, own


@dataclass
class _Race:
    """The round under way, as this player can know it."""

    number: int
    run: Run
    racers: set[int]
    ended: set[int] = field(default_factory=set)
    sent: dict[int, tuple[str, int]] = field(default_factory=dict)
    done: int = 0
    """The last move that the ledger holds."""


class Leak(AssertionError):  # noqa: N818 - what a frame is
    """A frame tells more than its receiver may know, or something else than the truth."""


def _must(holds: bool, what: str, text: str) -> None:
    if not holds:
        raise Leak(f"{what}: {text[:600]}")


class Auditor:
    """Goes through one player's journal."""

    def __init__(self, secrets: dict[int, Secret]) -> None:
        """``secrets`` by round."""
        self._secrets = secrets
        self._over: set[int] = set()
        self._race: _Race | None = None
        self._board = wire.BoardSize(width=0, height=0, mines=0)
        self._penalty = False
        self._seat: int | None = None
        self.contents = 0
        """Cells whose content was told, and was this player's to know."""
        self.frames = 0

    def read(self, journal: Journal) -> "Auditor":
        """Go through it all; raises ``Leak``."""
        for direction, text in journal:
            if direction == ">":
                self._said(text)
            else:
                self.frames += 1
                self._heard(text)
        return self

    def _said(self, text: str) -> None:
        try:
            frame = orjson.loads(text)
        except ValueError:
            return
        if self._race and isinstance(frame, dict) and frame.get("t") in {"tap", "flag"}:
            self._race.sent[frame["n"]] = (frame["t"], frame["c"])

    def _heard(self, text: str) -> None:
        frame = wire.SERVER_ADAPTER.validate_json(text, strict=True)
        same = orjson.loads(wire.encode(frame)) == orjson.loads(text)
        _must(same, "there is more in it than its model", text)
        self._take(frame, text)
        for number, secret in self._secrets.items():
            if number not in self._over:
                for word in secret.words:
                    _must(word not in text, f"the seed of round {number}", text)

    def _take(self, frame: Any, text: str) -> None:
        match frame:
            case wire.RoomSnapshot():
                self._snapshot(frame, text)
            case wire.Event():
                self._event(frame.event, text)
            case wire.Moved():
                self._moved(frame, text)
            case wire.Missed():
                self._missed(frame, text)
            case wire.Progress():
                self._rows(frame.p, text)
            case wire.Error() if frame.n is not None and self._race is not None:
                if frame.code != wire.ErrorCode.STORE_UNAVAILABLE:  # which may have been made
                    self._race.sent.pop(frame.n, None)

    def _missed(self, frame: wire.Missed, text: str) -> None:
        for event in frame.events:
            self._event(event.event, text)
        for move in frame.moves:
            self._moved(move, text)
        self._rows(frame.progress, text)

    def _rows(self, rows: list[tuple[int, int, int]], text: str) -> None:
        for _, percent, flags in rows:
            _must(0 <= percent <= 100 and 0 <= flags <= 3200, "progress", text)

    def _event(self, event: Any, text: str) -> None:
        match event:
            case wire.events.Countdown(race=told):
                self._begin(told, text)
            case wire.events.SettingsChanged(settings=settings, board=board):
                self._board, self._penalty = board, settings.mine == "penalty"
            case wire.events.RunEnded(seat=seat) if self._race is not None:
                self._race.ended.add(seat)
            case wire.events.Finished(result=result):
                race = self._race
                if race is not None and race.number == result.round:
                    _must(race.racers <= race.ended, "a result before all runs had ended", text)
                self._result(result, text)

    def _begin(self, race: wire.RaceInfo, text: str) -> None:
        secret = self._secrets[race.round]
        seed = bytes.fromhex(secret.seed)
        shape = geometry(self._board.width, self._board.height)
        layout = Layout(shape, self._board.mines, seed, secret.attempt)
        run = Run(layout, penalty=self._penalty)
        self._race = _Race(race.round, run, set(race.seats))

    def _result(self, result: wire.Result, text: str) -> None:
        secret = self._secrets[result.round]
        _must((result.seed, result.attempt) == (secret.seed, secret.attempt), "another seed", text)
        self._over.add(result.round)

    def _snapshot(self, frame: wire.RoomSnapshot, text: str) -> None:
        self._board, self._penalty = frame.board, frame.settings.mine == "penalty"
        self._seat = frame.you.seat
        race = frame.race
        if race is not None and (self._race is None or self._race.number != race.round):
            self._begin(race, text)
        if race is not None and self._race is not None:
            over = {p.seat for p in frame.players if p.status in {"finished", "out"}}
            self._race.ended |= over
        if frame.result is not None:
            is_last = race is not None and race.round == frame.result.round
            _must(not is_last or frame.phase in {"finished", "lobby"}, "an early result", text)
            self._result(frame.result, text)
        run = frame.you.run
        _must(run is None or frame.you.seat is not None, "a spectator's run", text)
        if run is not None:
            self._whole(run, text)

    def _whole(self, told: wire.OwnRun, text: str) -> None:
        race = self._race
        if race is None:
            raise Leak(f"a run without a race: {text[:600]}")
        for n in sorted(n for n in race.sent if race.done < n <= told.n):
            self._make(race, n)
        run, shape = race.run, race.run.geometry
        _must(told.open == segments(run, run.opened | run.exploded), "open cells", text)
        _must(shape.mask(told.flags) == run.flags, "flags", text)
        _must(shape.mask(told.exploded) == run.exploded, "mines hit", text)
        _must(told.status == run.status.value, "status", text)
        self.contents += sum(len(cells) for _, cells in told.open)

    def _moved(self, told: wire.Moved, text: str) -> None:
        race = self._race
        if race is None:
            raise Leak(f"a move without a race: {text[:600]}")
        _must(told.n in race.sent, "an answer to nothing", text)
        if told.open is None and told.flag is None:
            _must(told.status is None, "a status without a move", text)
            if told.n > race.done:
                race.sent.pop(told.n)  # the rules ignored it
            return
        _must(not told.again and told.n > race.done, "content twice", text)
        for n in sorted(n for n in race.sent if race.done < n < told.n):
            race.sent.pop(n)  # answered without an effect, or never arrived
        opened = self._make(race, told.n)
        run = race.run
        _must((told.open or []) == segments(run, opened), "what the move opened", text)
        if told.flag is not None:
            cell, is_on = told.flag
            _must(race.sent[told.n] == ("flag", cell), "a flag that was not set", text)
            _must(is_on == bool(run.flags & run.geometry.bit[cell]), "a flag's state", text)
        _must(told.status in {None, run.status.value}, "status", text)
        self.contents += opened.bit_count()

    @staticmethod
    def _make(race: _Race, n: int) -> int:
        kind, cell = race.sent[n]
        race.done = n
        if kind == "flag":
            race.run.flag(cell)
            return 0
        return race.run.tap(cell)
