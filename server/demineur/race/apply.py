"""``apply``: folds one event into the room. The log, folded, is the state.

Everything that changes a room is in this module; it trusts its events (``decide`` and
``deadlines`` made them) and refuses only what no log of ours can hold.
"""

from collections.abc import Callable
from typing import Any

from demineur.engine import Layout, Mask, Run, Status, commitment
from demineur.race import events as ev
from demineur.race.errors import BadLog
from demineur.race.settings import PENALTY_MS
from demineur.race.standings import standings
from demineur.race.state import Phase, Preparation, RaceResult, Room, Round, Seat

_PRIVATE = (ev.Tapped, ev.Flagged, ev.ClockStarted, ev.HandedOver, ev.Closed)
"""Events of one player, or of none: they have no public version, which would tell others how
many moves a player made."""


def is_public(event: ev.Event) -> bool:
    """Return whether everybody in the room is told of this event."""
    return not isinstance(event, _PRIVATE)


def create(event: ev.Event) -> Room:
    """Return the room that its first event makes."""
    if not isinstance(event, ev.Created):
        raise BadLog("a log begins with the room's creation")
    room = Room(event.code, event.settings, event.at_ms, next_seat=1)
    room.seats[0] = Seat(0, event.player, event.name, event.at_ms)
    room.version = room.public_version = 1
    room.last_ms = room.active_ms = event.at_ms
    return room


def apply(room: Room, event: ev.Event) -> Mask:
    """Fold ``event`` into ``room``; return the cells that it opened for its player.

    The mask holds mines that exploded too. O(1) but for a board's first tap and cascades.

    Raises:
        BadLog: no log of ours has this event here; the room is of no use afterwards.
    """
    try:
        opened = _fold(room, event)
    except ValueError as error:
        raise BadLog(f"{type(event).__name__} cannot follow: {error}") from error
    room.version += 1
    room.last_ms = max(room.last_ms, event.at_ms)
    return opened


def _fold(room: Room, event: ev.Event) -> Mask:
    kind = type(event)
    if kind is ev.Tapped:
        return _tapped(room, event)  # type: ignore[arg-type]
    if kind is ev.Flagged:
        return _flagged(room, event)  # type: ignore[arg-type]
    handler = _HANDLERS.get(kind)
    if handler is None:
        raise BadLog("a room is created once")
    handler(room, event)
    room.due_ms = None
    if is_public(event):
        room.public_version += 1
    return 0


def fold(events: list[ev.Event]) -> Room:
    """Return the room that a whole log makes, or raise ``BadLog``."""
    if not events:
        raise BadLog("the log is empty")
    room = create(events[0])
    for event in events[1:]:
        apply(room, event)
    return room


def _tapped(room: Room, event: ev.Tapped) -> Mask:
    seat, run = _runner(room, event.seat)
    seat.n = event.n
    room.active_ms = event.at_ms
    if seat.started_ms is None:
        seat.started_ms = event.at_ms
        room.due_ms = None
    opened = run.tap(event.cell)
    if run.status is not Status.PLAYING:
        room.due_ms = None
    hit = (opened & run.exploded).bit_count()
    if hit and run.penalty:
        cost_ms = hit * PENALTY_MS
        seat.frozen_until_ms = max(seat.frozen_until_ms, event.at_ms) + cost_ms
        seat.penalty_ms += cost_ms
    return opened


def _flagged(room: Room, event: ev.Flagged) -> Mask:
    seat, run = _runner(room, event.seat)
    seat.n = event.n
    room.active_ms = event.at_ms
    run.flag(event.cell)
    return 0


def _runner(room: Room, number: int) -> tuple[Seat, Run]:
    seat = _seat(room, number)
    if seat.run is None:
        raise BadLog(f"seat {number} has no run")
    return seat, seat.run


def _seat(room: Room, number: int) -> Seat:
    seat = room.seats.get(number)
    if seat is None:
        raise BadLog(f"there is no seat {number}")
    return seat


def _joined(room: Room, event: ev.Joined) -> None:
    room.seats[event.seat] = Seat(event.seat, event.player, event.name, event.at_ms)
    room.next_seat = event.seat + 1
    room.active_ms = event.at_ms


def _left(room: Room, event: ev.Left) -> None:
    seat = _seat(room, event.seat)
    if room.phase in {Phase.RACING, Phase.FINISHED} and seat.racing:
        seat.left, seat.ready = True, False
    else:
        del room.seats[event.seat]


def _renamed(room: Room, event: ev.Renamed) -> None:
    _seat(room, event.seat).name = event.name
    room.active_ms = event.at_ms


def _readied(room: Room, event: ev.Readied) -> None:
    _seat(room, event.seat).ready = event.ready
    room.active_ms = event.at_ms


def _dropped(room: Room, event: ev.Dropped) -> None:
    _seat(room, event.seat).absent_since_ms = event.at_ms


def _returned(room: Room, event: ev.Returned) -> None:
    seat = _seat(room, event.seat)
    seat.absent_since_ms = None
    seat.present_since_ms = event.at_ms


def _host_changed(room: Room, event: ev.HostChanged) -> None:
    room.host = event.seat


def _settings_changed(room: Room, event: ev.SettingsChanged) -> None:
    room.settings = event.settings
    room.active_ms = event.at_ms
    for seat in room.seats.values():
        seat.ready = False


def _preparing(room: Room, event: ev.Preparing) -> None:
    room.phase = Phase.PREPARING
    room.preparing = Preparation(event.at_ms, event.seed, event.marked, event.seats)
    room.active_ms = event.at_ms


def _unprepared(room: Room, event: ev.Unprepared) -> None:
    room.phase = Phase.LOBBY
    room.preparing = None
    room.rematch = False


def _countdown_started(room: Room, event: ev.CountdownStarted) -> None:
    seed = bytes.fromhex(event.seed)
    level = room.settings.board
    layout = Layout(level.geometry, level.mines, seed, event.attempt)
    room.phase = Phase.COUNTDOWN
    room.preparing = None
    room.rounds += 1
    room.round = Round(
        room.rounds, event.seed, commitment(seed), event.marked, event.attempt, layout, event.go_ms
    )
    room.active_ms = event.at_ms
    for seat in room.seats.values():
        _new_run(room, seat, layout, racing=seat.seat in event.seats)


def _new_run(room: Room, seat: Seat, layout: Layout, *, racing: bool) -> None:
    seat.racing, seat.ready, seat.n = racing, False, 0
    seat.run = Run(layout, penalty=room.settings.mine == "penalty") if racing else None
    seat.started_ms = seat.ended_ms = seat.ending = None
    seat.frozen_until_ms = seat.penalty_ms = 0


def _countdown_stopped(room: Room, event: ev.CountdownStopped) -> None:
    if room.phase is Phase.COUNTDOWN:
        room.round = None
    room.phase = Phase.LOBBY
    room.preparing = None
    room.rematch = False


def _went(room: Room, event: ev.Went) -> None:
    room.phase = Phase.RACING
    _current(room).ends_ms = event.ends_ms


def _current(room: Room) -> Round:
    if room.round is None:
        raise BadLog("there is no round")
    return room.round


def _clock_started(room: Room, event: ev.ClockStarted) -> None:
    _seat(room, event.seat).started_ms = event.at_ms


def _run_ended(room: Room, event: ev.RunEnded) -> None:
    seat = _seat(room, event.seat)
    seat.ending = event.ending
    # A mine hit by the very move that wins still costs its time.
    owed_ms = seat.frozen_until_ms if event.ending is ev.Ending.WON else 0
    seat.ended_ms = max(event.at_ms, owed_ms)


def _finished(room: Room, event: ev.Finished) -> None:
    room.phase = Phase.FINISHED
    room.last_ms = max(room.last_ms, event.at_ms)
    current = _current(room)
    room.result = RaceResult(
        number=current.number,
        level=room.settings.level,
        seed=current.seed,
        attempt=current.attempt,
        commitment=current.commitment,
        marked=current.marked,
        places=standings(room),
    )
    room.active_ms = event.at_ms


def _rematched(room: Room, event: ev.Rematched) -> None:
    room.phase = Phase.LOBBY
    room.rematch = True
    room.active_ms = event.at_ms
    room.seats = {number: seat for number, seat in room.seats.items() if not seat.left}
    for seat in room.seats.values():
        seat.ready = False


def _stalled(room: Room, event: ev.Stalled) -> None:
    room.stalled_ms += event.ms


def _handed_over(room: Room, event: ev.HandedOver) -> None:
    """Its time is all that it says."""


def _closed(room: Room, event: ev.Closed) -> None:
    room.phase = Phase.CLOSED


_HANDLERS: dict[type[ev.Event], Callable[[Room, Any], None]] = {
    ev.Joined: _joined,
    ev.Left: _left,
    ev.Renamed: _renamed,
    ev.Readied: _readied,
    ev.Dropped: _dropped,
    ev.Returned: _returned,
    ev.HostChanged: _host_changed,
    ev.SettingsChanged: _settings_changed,
    ev.Preparing: _preparing,
    ev.Unprepared: _unprepared,
    ev.CountdownStarted: _countdown_started,
    ev.CountdownStopped: _countdown_stopped,
    ev.Went: _went,
    ev.ClockStarted: _clock_started,
    ev.RunEnded: _run_ended,
    ev.Finished: _finished,
    ev.Rematched: _rematched,
    ev.Stalled: _stalled,
    ev.HandedOver: _handed_over,
    ev.Closed: _closed,
}
