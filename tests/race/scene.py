"""A room on a stage: a test says what happens when, and the log is watched behind it.

Every event that `Scene` sees goes through the codec into a second room, which must be the
same in every part of its state after every command (unless a property asks for no such mirror).
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from demineur.engine import Board, Geometry, Layout, Mask, Run
from demineur.race import (
    Event,
    Handled,
    Phase,
    Reason,
    Room,
    RoomSettings,
    Seat,
    apply,
    create,
    creation,
    decode_event,
    encode_event,
    handle,
)
from demineur.race import commands as cmd
from demineur.race.settings import COUNTDOWN_MS

T0_MS = 1_000_000
"""The node's clock when a scene begins."""
SEED = "000102030405060708090a0b0c0d0e0f"
MIDDLE = 40
"""The cell in the middle of a beginner's board."""
DRAW = cmd.Draw(SEED, MIDDLE)

OWN = RoomSettings("beginner")
SHARED = RoomSettings("beginner", start="shared")
GUESS_FREE = RoomSettings("beginner", start="shared", guess_free=True)
PENALTY = RoomSettings("beginner", mine="penalty")


def state_of(room: Room) -> Any:
    """Return all of a room's state as plain data; the remembered deadline is no part of it."""
    state = _plain(room)
    del state["due_ms"]
    return state


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    plain = value
    match value:
        case dict():
            plain = {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            plain = [_plain(each) for each in value]
        case Run():
            plain = {name: _plain(getattr(value, name)) for name in Run.__slots__}
        case Layout():
            plain = (value.seed, value.attempt, value.mine_count, value.order)
        case Board():
            plain = value.mines
        case Geometry():
            plain = (value.width, value.height)
    return plain


class Scene:
    """A room, the node's clock, and the whole log so far."""

    def __init__(self, settings: RoomSettings = OWN, *, mirrored: bool = True) -> None:
        self.now_ms = T0_MS
        created = creation(cmd.Create("K7MP3QXZ", settings, "p0", "Player 0"), T0_MS)
        self.room = create(created)
        self.log: list[Event] = [created]
        self.opened: dict[int, Mask] = {}
        """By seat, everything that its moves opened in this round."""
        self._mirror = create(decode_event(encode_event(created))) if mirrored else None

    def do(self, command: cmd.Command, after_ms: int = 0) -> Handled:
        """Move the clock on, and do it."""
        self.now_ms += after_ms
        return self.do_at(command, self.now_ms)

    def do_at(self, command: cmd.Command, now_ms: int) -> Handled:
        """Do it with this stamp, wherever the clock is."""
        handled = handle(self.room, command, now_ms)
        for event, opened in handled.steps:
            self.log.append(event)
            if self._mirror is not None:
                assert apply(self._mirror, decode_event(encode_event(event))) == opened
            if opened:
                seat: int = getattr(event, "seat")  # noqa: B009 - only a tap opens cells
                self.opened[seat] = self.opened.get(seat, 0) | opened
        if self._mirror is not None:
            assert state_of(self._mirror) == state_of(self.room)
        return handled

    def made(self, command: cmd.Command, after_ms: int = 0) -> list[Event]:
        """Do it; return what happened. It must not be refused."""
        handled = self.do(command, after_ms)
        assert handled.refusal is None
        return [step.event for step in handled.steps]

    def refused(self, command: cmd.Command, after_ms: int = 0) -> Reason:
        """Try it; return why it was refused. Nothing may have changed by it."""
        self.wait(after_ms)
        before = state_of(self.room)
        handled = self.do(command)
        assert handled.refusal is not None
        assert not handled.steps
        assert state_of(self.room) == before
        return handled.refusal.reason

    def wait(self, ms: int) -> list[Event]:
        """Let time pass; return what happened by itself."""
        return self.made(cmd.Tick(), ms)

    # What players do.

    def join(self, after_ms: int = 0) -> int:
        """Seat one more player; return the seat."""
        number = self.room.next_seat
        self.made(cmd.Join(f"p{number}", f"Player {number}"), after_ms)
        return number

    def back(self, seat: int, after_ms: int = 0) -> list[Event]:
        """Let a player who dropped come back."""
        return self.made(cmd.Join(self.seat(seat).player, "Another name"), after_ms)

    def drop(self, seat: int, after_ms: int = 0) -> list[Event]:
        return self.made(cmd.Drop(seat), after_ms)

    def leave(self, seat: int, after_ms: int = 0) -> list[Event]:
        return self.made(cmd.Leave(seat), after_ms)

    def ready(self, *seats: int) -> None:
        for seat in seats:
            self.made(cmd.Ready(seat, True, DRAW))

    def start(self, after_ms: int = 0) -> list[Event]:
        """The host starts."""
        return self.made(cmd.Start(self.room.host, DRAW), after_ms)

    def tap(self, seat: int, cell: int, after_ms: int = 0) -> list[Event]:
        return self.made(cmd.Tap(seat, self.seat(seat).n + 1, cell), after_ms)

    def flag(self, seat: int, cell: int, after_ms: int = 0) -> list[Event]:
        return self.made(cmd.Flag(seat, self.seat(seat).n + 1, cell), after_ms)

    def win(self, seat: int, after_ms: int = 0, *, but: int = 0) -> None:
        """Open all safe cells but the last ``but`` of them, at one moment."""
        self.now_ms += after_ms
        if self.run(seat).first_tap is None:
            self.tap(seat, MIDDLE)
        while len(left := list(self.safe(seat))) > but:
            self.tap(seat, left[0])

    def lose(self, seat: int, after_ms: int = 0) -> list[Event]:
        """Tap a mine."""
        if self.run(seat).first_tap is None:
            self.tap(seat, MIDDLE)
        return self.tap(seat, next(self.mines(seat)), after_ms)

    # What a test looks at.

    def seat(self, number: int) -> Seat:
        return self.room.seats[number]

    def run(self, number: int) -> Run:
        run = self.seat(number).run
        assert run is not None
        return run

    def safe(self, number: int) -> Iterator[int]:
        """Hidden cells without a mine or a flag."""
        return self._hidden(number, mine=False)

    def mines(self, number: int) -> Iterator[int]:
        """Mines that have not been opened and have no flag."""
        return self._hidden(number, mine=True)

    def _hidden(self, number: int, *, mine: bool) -> Iterator[int]:
        run = self.run(number)
        assert run.board is not None
        shown = run.opened | run.exploded | run.flags
        for cell, bit in enumerate(run.geometry.bit):
            if not bit & shown and bool(bit & run.board.mines) is mine:
                yield cell

    def elapsed_ms(self, number: int) -> int:
        """A player's own clock, now."""
        return self.seat(number).elapsed_ms(self.room.room_ms(self.now_ms))

    def kinds(self) -> list[str]:
        """Return the names of all events so far."""
        return names(self.log)


def names(events: list[Event]) -> list[str]:
    """Return the events' names."""
    return [type(event).__name__ for event in events]


def lobby(players: int, settings: RoomSettings = OWN) -> Scene:
    """Return a room with so many players, all ready but the host."""
    scene = Scene(settings)
    for _ in range(players - 1):
        scene.ready(scene.join())
    return scene


def racing(players: int, settings: RoomSettings = OWN) -> Scene:
    """Return a room right at "go"."""
    scene = lobby(players, settings)
    scene.start()
    if settings.guess_free:
        scene.made(cmd.Prepared(SEED, 0))
    scene.wait(COUNTDOWN_MS)
    assert scene.room.phase is Phase.RACING
    return scene


def finished(players: int, settings: RoomSettings = OWN) -> Scene:
    """Return a room whose race is over: seat 0 won, the others lost."""
    scene = racing(players, settings)
    scene.win(0, 20_000)
    for seat in range(1, players):
        if settings.mine == "penalty":
            scene.leave(seat)
        else:
            scene.lose(seat)
    assert scene.room.phase is Phase.FINISHED
    return scene
