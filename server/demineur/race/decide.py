"""``decide``: what a command makes happen, or why it is refused. It changes nothing.

``handle`` is the one door for a shell: what is due by then happens first, then the command,
then its consequences, each decided on the state that the one before left.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from demineur.engine import Mask, Run
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.apply import apply
from demineur.race.deadlines import due
from demineur.race.errors import Reason, Refused
from demineur.race.settings import COUNTDOWN_MS, EVENTS_MAX, MOVES_MAX
from demineur.race.state import Phase, Room, Seat


class Step(NamedTuple):
    """One event that has been applied, and the cells it opened for its player."""

    event: ev.Event
    opened: Mask


Observer = Callable[[Room, Step], None]


class Handled(NamedTuple):
    """What a command brought about; ``refusal`` says why the command itself was not done."""

    steps: list[Step]
    refusal: Refused | None


def handle(
    room: Room, command: cmd.Command, now_ms: int, observe: Observer | None = None
) -> Handled:
    """Apply what is due, then ``command``, then what follows; return all that happened.

    ``observe`` is called right after each event, while the room is as that event left it.

    ``now_ms`` is the node's clock. A refused command changes nothing, but what was due by then
    has happened all the same. An outage ends where it began: nothing falls due within it.
    """
    outage_ms = max(0, command.ms) if isinstance(command, cmd.Stall) else 0
    at_ms = room.room_ms(now_ms - outage_ms)
    steps: list[Step] = []
    _settle(room, at_ms, steps, observe)
    try:
        events = decide(room, command, at_ms)
    except Refused as refusal:
        return Handled(steps, refusal)
    for event in events:
        _make(room, event, steps, observe)
        _settle(room, room.last_ms, steps, observe)
    return Handled(steps, None)


def _settle(room: Room, at_ms: int, steps: list[Step], observe: Observer | None) -> None:
    while (event := due(room, at_ms)) is not None:
        _make(room, event, steps, observe)


def _make(room: Room, event: ev.Event, steps: list[Step], observe: Observer | None) -> None:
    step = Step(event, apply(room, event))
    steps.append(step)
    if observe is not None:
        observe(room, step)


def decide(room: Room, command: cmd.Command, at_ms: int) -> list[ev.Event]:
    """Return the events that ``command`` makes at room time ``at_ms``, or raise ``Refused``."""
    return _DECIDERS[type(command)](room, command, at_ms)


def creation(command: cmd.Create, now_ms: int) -> ev.Created:
    """Return the first event of a new room, or raise ``Refused`` (``bad_settings``)."""
    settings = command.settings.checked()
    return ev.Created(now_ms, command.code, settings, command.player, command.name)


def _open(room: Room) -> None:
    if room.phase is Phase.CLOSED:
        raise Refused(Reason.WRONG_PHASE, "The room has closed.")


def _member(room: Room, number: int) -> Seat:
    _open(room)
    seat = room.seats.get(number)
    if seat is None or seat.left:
        raise Refused(Reason.NOT_IN_ROOM, "You have no place in this room.")
    return seat


def _join(room: Room, command: cmd.Join, at_ms: int) -> list[ev.Event]:
    _open(room)
    seat = room.seat_of(command.player)
    if seat is not None:
        return [] if seat.present else [ev.Returned(at_ms, seat.seat)]
    if room.phase in {Phase.COUNTDOWN, Phase.RACING}:
        raise Refused(Reason.RACE_RUNNING, "A race is under way; you can watch it.")
    if len(room.members()) >= room.settings.players:
        raise Refused(Reason.ROOM_FULL, "The room is full; you can watch.")
    _unfilled(room)
    return [ev.Joined(at_ms, room.next_seat, command.player, command.name)]


def _unfilled(room: Room) -> None:
    """Refuse what anybody may do again and again, once the log is long: what is left to write
    is bounded then, by the moves and places of the race under way and by its deadlines."""
    if room.version >= EVENTS_MAX:
        raise Refused(Reason.WRONG_PHASE, "This room has seen enough; create a new one.")


def _leave(room: Room, command: cmd.Leave, at_ms: int) -> list[ev.Event]:
    return [ev.Left(at_ms, _member(room, command.seat).seat)]


def _drop(room: Room, command: cmd.Drop, at_ms: int) -> list[ev.Event]:
    seat = _member(room, command.seat)
    return [ev.Dropped(at_ms, seat.seat)] if seat.present else []


def _rename(room: Room, command: cmd.Rename, at_ms: int) -> list[ev.Event]:
    seat = _member(room, command.seat)
    if seat.name == command.name:
        return []
    _unfilled(room)
    return [ev.Renamed(at_ms, seat.seat, command.name)]


def _ready(room: Room, command: cmd.Ready, at_ms: int) -> list[ev.Event]:
    seat = _member(room, command.seat)
    if command.ready and room.phase is Phase.FINISHED:
        return _rematch(room, cmd.Rematch(seat.seat, command.draw), at_ms)
    _in_lobby(room)
    events: list[ev.Event] = []
    if seat.ready != command.ready:
        events.append(ev.Readied(at_ms, seat.seat, command.ready))
    # Who is ready may say so again: whom the rematch waited for may have left since.
    return events + (_complete(room, seat, command.draw, at_ms) if command.ready else [])


def _complete(room: Room, seat: Seat, draw: cmd.Draw, at_ms: int) -> list[ev.Event]:
    """Begin a rematch that this seat's consent completes."""
    present = _present(room)
    if room.rematch and present and all(other.ready or other is seat for other in present):
        return _begin(room, [other.seat for other in present], draw, at_ms)
    return []


def _present(room: Room) -> list[Seat]:
    return [seat for seat in room.members() if seat.present]


def _rematch(room: Room, command: cmd.Rematch, at_ms: int) -> list[ev.Event]:
    seat = _member(room, command.seat)
    if room.phase is Phase.LOBBY and room.rematch:
        return _ready(room, cmd.Ready(seat.seat, True, command.draw), at_ms)
    if room.phase is not Phase.FINISHED:
        raise Refused(Reason.WRONG_PHASE, "There is no finished race.")
    events: list[ev.Event] = [
        ev.Rematched(at_ms, seat.seat),
        ev.Readied(at_ms, seat.seat, True),
    ]
    if _present(room) == [seat]:
        events += _begin(room, [seat.seat], command.draw, at_ms)
    return events


def _change_settings(room: Room, command: cmd.ChangeSettings, at_ms: int) -> list[ev.Event]:
    seat = _host(room, command.seat)
    _in_lobby(room, or_finished=True)
    settings = command.settings.checked()
    if len(room.members()) > settings.players:
        raise Refused(Reason.BAD_SETTINGS, "More players than that are in the room.")
    again = [ev.Rematched(at_ms, seat.seat)] if room.phase is Phase.FINISHED else []
    return [*again, ev.SettingsChanged(at_ms, settings)]


def _start(room: Room, command: cmd.Start, at_ms: int) -> list[ev.Event]:
    seat = _host(room, command.seat)
    _in_lobby(room, or_finished=True)
    others = [other for other in _present(room) if other is not seat]
    ready = [other.seat for other in others if other.ready]
    if others and not ready:
        raise Refused(Reason.NOT_READY, "Nobody else is ready yet.")
    again = [ev.Rematched(at_ms, seat.seat)] if room.phase is Phase.FINISHED else []
    return [*again, *_begin(room, sorted([seat.seat, *ready]), command.draw, at_ms)]


def _begin(room: Room, seats: list[int], draw: cmd.Draw, at_ms: int) -> list[ev.Event]:
    _unfilled(room)
    settings = room.settings
    marked = draw.marked % settings.board.geometry.cells if settings.start == "shared" else None
    if settings.guess_free and marked is not None:
        return [ev.Preparing(at_ms, draw.seed, marked, tuple(seats))]
    go_ms = at_ms + COUNTDOWN_MS
    return [ev.CountdownStarted(at_ms, draw.seed, 0, marked, go_ms, tuple(seats))]


def _prepared(room: Room, command: cmd.Prepared | cmd.PrepareFailed, at_ms: int) -> list[ev.Event]:
    search = room.preparing
    if room.phase is not Phase.PREPARING or search is None or search.seed != command.seed:
        return []
    if isinstance(command, cmd.PrepareFailed):
        return [ev.Unprepared(at_ms)]
    # Absent or not: a node that takes over in the search has nobody connected yet.
    seats = tuple(number for number in search.seats if number in room.seats)
    go_ms = at_ms + COUNTDOWN_MS
    return [ev.CountdownStarted(at_ms, search.seed, command.attempt, search.marked, go_ms, seats)]


def _host(room: Room, number: int) -> Seat:
    seat = _member(room, number)
    if seat.seat != room.host:
        raise Refused(Reason.NOT_HOST, "Only the host can do this.")
    return seat


def _in_lobby(room: Room, *, or_finished: bool = False) -> None:
    if room.phase is Phase.LOBBY or (or_finished and room.phase is Phase.FINISHED):
        return
    raise Refused(Reason.WRONG_PHASE, "Not while a race is under way.")


def _move(room: Room, command: cmd.Tap | cmd.Flag, at_ms: int) -> list[ev.Event]:
    seat = room.seats.get(command.seat)
    run = _running(room, seat)
    assert seat is not None
    if not 0 <= command.cell < run.geometry.cells:
        raise Refused(Reason.OFF_BOARD, "This cell is not on the board.")
    if command.n <= seat.n or at_ms < seat.frozen_until_ms:
        return []
    if isinstance(command, cmd.Flag):
        bit = run.geometry.bit[command.cell]
        if run.first_tap is None or bit & (run.opened | run.exploded):
            return []
        return [ev.Flagged(at_ms, command.seat, command.n, command.cell)]
    marked = room.round.marked if room.round is not None else None
    if run.first_tap is None:
        if marked is not None and command.cell != marked:
            return []
    elif not run.reach(command.cell):
        return []
    return [ev.Tapped(at_ms, command.seat, command.n, command.cell)]


def _running(room: Room, seat: Seat | None) -> Run:
    """Return the run of a player who may move now, or raise ``Refused``."""
    if seat is None:
        raise Refused(Reason.NOT_IN_ROOM, "You have no place in this room.")
    if room.phase is not Phase.RACING:
        if room.phase is Phase.FINISHED and seat.racing:
            raise Refused(Reason.RUN_OVER, "The race is over.")
        raise Refused(Reason.NOT_RACING, "No race is under way.")
    if seat.run is None or not seat.racing:
        raise Refused(Reason.NOT_RACING, "You watch this race.")
    if seat.ending is not None:
        raise Refused(Reason.RUN_OVER, "Your race is over.")
    if seat.run.taps + seat.run.flag_moves >= MOVES_MAX:
        raise Refused(Reason.TOO_MANY_MOVES, "That is as many moves as a race can have.")
    return seat.run


def _stall(room: Room, command: cmd.Stall, at_ms: int) -> list[ev.Event]:
    if command.ms <= 0 or room.phase is Phase.CLOSED:
        return []
    return [ev.Stalled(at_ms, command.ms)]


def _hand_over(room: Room, command: cmd.HandOver, at_ms: int) -> list[ev.Event]:
    return [] if room.phase is Phase.CLOSED else [ev.HandedOver(at_ms)]


def _tick(room: Room, command: cmd.Tick, at_ms: int) -> list[ev.Event]:
    return []


_DECIDERS: dict[type[cmd.Command], Callable[[Room, Any, int], list[ev.Event]]] = {
    cmd.Tap: _move,
    cmd.Flag: _move,
    cmd.Join: _join,
    cmd.Leave: _leave,
    cmd.Drop: _drop,
    cmd.Rename: _rename,
    cmd.Ready: _ready,
    cmd.ChangeSettings: _change_settings,
    cmd.Start: _start,
    cmd.Prepared: _prepared,
    cmd.PrepareFailed: _prepared,
    cmd.Rematch: _rematch,
    cmd.Stall: _stall,
    cmd.HandOver: _hand_over,
    cmd.Tick: _tick,
}
