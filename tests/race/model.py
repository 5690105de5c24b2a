"""A room by the letter of the rules, slowly: every rule is tried at every moment.

It shares with the race only its commands, phases and reasons.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from demineur.engine import LEVELS, Layout
from demineur.race import Phase, Reason, RoomSettings
from demineur.race import commands as cmd
from tests.race.grid import Grid

MINUTE_MS = 60_000


class No(Exception):  # noqa: N818
    """The model refuses."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Player:
    """One seat."""

    seat: int
    who: str
    name: str
    since: int
    gone: int | None = None
    ready: bool = False
    left: bool = False
    racing: bool = False
    grid: Grid | None = None
    n: int = 0
    start: int | None = None
    end: int | None = None
    how: str | None = None
    frozen: int = 0
    cost: int = 0

    @property
    def here(self) -> bool:
        return self.gone is None and not self.left

    @property
    def plays(self) -> bool:
        return self.racing and self.how is None

    @property
    def ms(self) -> int:
        return 0 if self.start is None or self.end is None else max(0, self.end - self.start)


class Model:
    """A room."""

    def __init__(self, settings: RoomSettings, now_ms: int) -> None:
        self.settings = settings
        self.phase = Phase.LOBBY
        self.players = {0: Player(0, "p0", "Player 0", now_ms)}
        self.host = 0
        self.given = 1
        self.again = False
        self.last = self.active = now_ms
        self.stalled = 0
        self.search: tuple[int, str, int, set[int]] | None = None
        self.round = 0
        self.go = 0
        self.ends: int | None = None
        self.marked: int | None = None
        self.result: list[tuple[int, int, str, int]] = []

    # Time.

    def handle(self, command: cmd.Command, now_ms: int) -> Reason | None:
        """Let time pass, then do it; return why it was refused."""
        outage = command.ms if isinstance(command, cmd.Stall) else 0
        at = max(self.last, now_ms - self.stalled - outage)
        self.pass_until(at)
        try:
            done = _DO[type(command)](self, command, at)
        except No as no:
            return no.reason
        if done:
            self.last = at
        self.settle(self.last)
        return None

    def pass_until(self, at: int) -> None:
        self.settle(self.last)
        t = self.last
        while later := [moment for moment in self.moments() if t < moment <= at]:
            t = min(later)
            self.settle(t)

    def settle(self, t: int) -> None:
        """Try every rule at ``t`` until none changes anything."""
        while any(rule(self, t) for rule in _RULES):
            self.last = t

    def moments(self) -> set[int]:
        """Return all moments at which a rule might begin to hold."""
        gone = {p.gone + MINUTE_MS for p in self.players.values() if p.gone is not None}
        fixed = {self.go, self.go + 10_000, self.active + 120 * MINUTE_MS, *gone}
        if self.ends is not None:
            fixed.add(self.ends)
        if self.search is not None:
            fixed.add(self.search[0] + 20_000)
        return fixed

    # People.

    def members(self) -> list[Player]:
        return [player for player in self.players.values() if not player.left]

    def racers(self) -> list[Player]:
        return [player for player in self.players.values() if player.racing]

    def member(self, seat: int) -> Player:
        self.need(self.phase is not Phase.CLOSED, Reason.WRONG_PHASE)
        player = self.players.get(seat)
        if player is None or player.left:
            raise No(Reason.NOT_IN_ROOM)
        return player

    def need(self, holds: bool, reason: Reason) -> None:
        if not holds:
            raise No(reason)

    def remove(self, player: Player) -> None:
        if self.phase in {Phase.RACING, Phase.FINISHED} and player.racing:
            player.left, player.ready = True, False
        else:
            del self.players[player.seat]

    # From phase to phase.

    def to_lobby(self, *, again: bool) -> bool:
        if again:
            self.players = {seat: p for seat, p in self.players.items() if not p.left}
            for player in self.players.values():
                player.ready = False
        self.phase, self.again, self.search = Phase.LOBBY, again, None
        return True

    def begin(self, at: int, seats: Iterable[int], draw: cmd.Draw) -> None:
        cells = LEVELS[self.settings.level].geometry.cells
        marked = draw.marked % cells if self.settings.start == "shared" else None
        self.active = at
        if self.settings.guess_free and marked is not None:
            self.search, self.phase = (at, draw.seed, marked, set(seats)), Phase.PREPARING
        else:
            self.launch(at, seats, draw.seed, 0, marked)

    def launch(
        self, at: int, seats: Iterable[int], seed: str, attempt: int, marked: int | None
    ) -> None:
        level = LEVELS[self.settings.level]
        layout = Layout(level.geometry, level.mines, bytes.fromhex(seed), attempt)
        self.phase, self.search, self.active = Phase.COUNTDOWN, None, at
        self.round += 1
        self.go, self.ends, self.marked = at + 3_000, None, marked
        chosen = set(seats)
        for old in list(self.players.values()):
            new = Player(old.seat, old.who, old.name, old.since, old.gone)
            new.racing = old.seat in chosen
            if new.racing:
                new.grid = Grid(layout, penalty=self.settings.mine == "penalty")
            self.players[old.seat] = new

    def finish(self, t: int) -> bool:
        self.phase, self.active = Phase.FINISHED, t
        racers = self.racers()
        self.result = sorted(
            (1 + sum(_is_before(other, p) for other in racers), p.seat, str(p.how), p.ms)
            for p in racers
        )
        return True


def _is_before(a: Player, b: Player) -> bool:
    if a.how == "won" or b.how == "won":
        return a.how == "won" and (b.how != "won" or a.ms < b.ms)
    assert a.grid is not None
    assert b.grid is not None
    if a.grid.share != b.grid.share:
        return a.grid.share > b.grid.share
    return a.ms > b.ms


# The rules of time: each says whether it changed anything.


def _search_ends(m: Model, t: int) -> bool:
    if m.phase is not Phase.PREPARING or m.search is None:
        return False
    wanted = m.search[3] & m.players.keys()
    return (not wanted or t >= m.search[0] + 20_000) and m.to_lobby(again=False)


def _countdown_ends(m: Model, t: int) -> bool:
    if m.phase is not Phase.COUNTDOWN:
        return False
    if not m.racers():
        return m.to_lobby(again=False)
    if t < m.go:
        return False
    m.phase = Phase.RACING
    m.ends = m.go + (60 if m.settings.level == "marathon" else 10) * MINUTE_MS
    return True


def _clock_starts(m: Model, t: int) -> bool:
    if m.phase is Phase.RACING and t >= m.go + 10_000:
        for player in m.racers():
            if player.plays and player.start is None:
                player.start = t
                return True
    return False


def _run_ends(m: Model, t: int) -> bool:
    if m.phase is not Phase.RACING:
        return False
    for player in m.racers():
        how = _ending(m, player, t) if player.plays else None
        if how is not None:
            player.how = how
            player.end = max(t, player.frozen) if how == "won" else t
            return True
    return False


def _ending(m: Model, player: Player, t: int) -> str | None:
    assert player.grid is not None
    assert m.ends is not None
    tests = {
        "won": player.grid.won,
        "lost": player.grid.lost,
        "left": player.left,
        "absent": player.gone is not None and t >= player.gone + MINUTE_MS,
        "timeout": t >= m.ends,
    }
    return next((how for how, holds in tests.items() if holds), None)


def _race_ends(m: Model, t: int) -> bool:
    over = m.phase is Phase.RACING and not any(player.plays for player in m.racers())
    return over and m.finish(t)


def _absent_leave(m: Model, t: int) -> bool:
    if m.phase in {Phase.LOBBY, Phase.PREPARING, Phase.FINISHED}:
        for player in m.members():
            if player.gone is not None and t >= player.gone + MINUTE_MS:
                m.remove(player)
                return True
    return False


def _room_closes(m: Model, t: int) -> bool:
    if m.phase not in {Phase.LOBBY, Phase.FINISHED}:
        return False
    if m.members() and t < m.active + 120 * MINUTE_MS:
        return False
    m.phase = Phase.CLOSED
    return True


def _host_changes(m: Model, t: int) -> bool:
    heirs = sorted((p.since, p.seat) for p in m.members() if p.here and p.seat != m.host)
    host = m.players.get(m.host)
    away = host is None or host.left or (host.gone is not None and t >= host.gone + MINUTE_MS)
    if m.phase is Phase.CLOSED or not heirs or not away:
        return False
    m.host = heirs[0][1]
    return True


_RULES: list[Callable[[Model, int], bool]] = [
    _search_ends,
    _countdown_ends,
    _clock_starts,
    _run_ends,
    _race_ends,
    _absent_leave,
    _room_closes,
    _host_changes,
]


# What is asked: each says whether it did anything, or refuses.


def _join(m: Model, command: cmd.Join, at: int) -> bool:
    m.need(m.phase is not Phase.CLOSED, Reason.WRONG_PHASE)
    for player in m.members():
        if player.who == command.player:
            if player.gone is None:
                return False
            player.gone, player.since = None, at
            return True
    m.need(m.phase not in {Phase.COUNTDOWN, Phase.RACING}, Reason.RACE_RUNNING)
    m.need(len(m.members()) < m.settings.players, Reason.ROOM_FULL)
    m.players[m.given] = Player(m.given, command.player, command.name, at)
    m.given += 1
    m.active = at
    return True


def _leave(m: Model, command: cmd.Leave, at: int) -> bool:
    m.remove(m.member(command.seat))
    return True


def _drop(m: Model, command: cmd.Drop, at: int) -> bool:
    player = m.member(command.seat)
    if player.gone is not None:
        return False
    player.gone = at
    return True


def _rename(m: Model, command: cmd.Rename, at: int) -> bool:
    player = m.member(command.seat)
    if player.name == command.name:
        return False
    player.name, m.active = command.name, at
    return True


def _ready(m: Model, command: cmd.Ready, at: int) -> bool:
    player = m.member(command.seat)
    if command.ready and m.phase is Phase.FINISHED:
        m.to_lobby(again=True)
    m.need(m.phase is Phase.LOBBY, Reason.WRONG_PHASE)
    changed = player.ready != command.ready
    player.ready = command.ready
    if changed:
        m.active = at
    here = [p for p in m.members() if p.here]
    if command.ready and m.again and here and all(p.ready for p in here):
        m.begin(at, [p.seat for p in here], command.draw)
        changed = True
    return changed


def _rematch(m: Model, command: cmd.Rematch, at: int) -> bool:
    m.member(command.seat)
    m.need(m.phase is Phase.FINISHED or (m.phase is Phase.LOBBY and m.again), Reason.WRONG_PHASE)
    return _ready(m, cmd.Ready(command.seat, True, command.draw), at)


def _settings(m: Model, command: cmd.ChangeSettings, at: int) -> bool:
    m.need(m.member(command.seat).seat == m.host, Reason.NOT_HOST)
    m.need(m.phase in {Phase.LOBBY, Phase.FINISHED}, Reason.WRONG_PHASE)
    m.need(command.settings.level in LEVELS, Reason.BAD_SETTINGS)
    m.need(len(m.members()) <= command.settings.players, Reason.BAD_SETTINGS)
    if m.phase is Phase.FINISHED:
        m.to_lobby(again=True)
    m.settings, m.active = command.settings, at
    for player in m.players.values():
        player.ready = False
    return True


def _start(m: Model, command: cmd.Start, at: int) -> bool:
    player = m.member(command.seat)
    m.need(player.seat == m.host, Reason.NOT_HOST)
    m.need(m.phase in {Phase.LOBBY, Phase.FINISHED}, Reason.WRONG_PHASE)
    others = [p for p in m.members() if p.here and p is not player]
    m.need(not others or any(p.ready for p in others), Reason.NOT_READY)
    if m.phase is Phase.FINISHED:
        m.to_lobby(again=True)
    m.begin(at, [player.seat, *(p.seat for p in others if p.ready)], command.draw)
    return True


def _prepared(m: Model, command: cmd.Prepared | cmd.PrepareFailed, at: int) -> bool:
    if m.phase is not Phase.PREPARING or m.search is None or m.search[1] != command.seed:
        return False
    if isinstance(command, cmd.PrepareFailed):
        return m.to_lobby(again=False)
    m.launch(at, m.search[3] & m.players.keys(), m.search[1], command.attempt, m.search[2])
    return True


def _move(m: Model, command: cmd.Tap | cmd.Flag, at: int) -> bool:
    player = m.players.get(command.seat)
    if player is None:
        raise No(Reason.NOT_IN_ROOM)
    if m.phase is not Phase.RACING:
        over = m.phase is Phase.FINISHED and player.racing
        raise No(Reason.RUN_OVER if over else Reason.NOT_RACING)
    grid = player.grid
    if grid is None:
        raise No(Reason.NOT_RACING)
    m.need(player.plays, Reason.RUN_OVER)
    m.need(0 <= command.cell < grid.width * grid.height, Reason.OFF_BOARD)
    if command.n <= player.n or at < player.frozen:
        return False
    done = _flag if isinstance(command, cmd.Flag) else _tap
    if not done(m, player, grid, command.cell, at):
        return False
    player.n, m.active = command.n, at
    return True


def _flag(m: Model, player: Player, grid: Grid, cell: int, at: int) -> bool:
    if grid.mines is None or cell in grid.open | grid.hit:
        return False
    grid.flags ^= {cell}
    return True


def _tap(m: Model, player: Player, grid: Grid, cell: int, at: int) -> bool:
    if grid.mines is None and m.marked not in {None, cell}:
        return False
    if not grid.reaches(cell):
        return False
    if player.start is None:
        player.start = at
    hits = grid.tap(cell)
    if hits and grid.penalty:
        player.frozen = at + 10_000 * hits
        player.cost += 10_000 * hits
    return True


def _stall(m: Model, command: cmd.Stall, at: int) -> bool:
    if m.phase is Phase.CLOSED:
        return False
    m.stalled += command.ms
    return True


_DO: dict[type[Any], Callable[[Model, Any, int], bool]] = {
    cmd.Join: _join,
    cmd.Leave: _leave,
    cmd.Drop: _drop,
    cmd.Rename: _rename,
    cmd.Ready: _ready,
    cmd.Rematch: _rematch,
    cmd.ChangeSettings: _settings,
    cmd.Start: _start,
    cmd.Prepared: _prepared,
    cmd.PrepareFailed: _prepared,
    cmd.Tap: _move,
    cmd.Flag: _move,
    cmd.Stall: _stall,
    cmd.Tick: lambda m, command, at: False,
}
