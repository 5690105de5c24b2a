"""What happens in a room by itself: consequences of what just happened, and what time brings.

``due`` names the next such event, stamped with the moment it was due and not the moment it was
noticed, so a node that was late, or one that took over, gets the same room. Each candidate
ceases to be one once its event is applied: that is why a deadline fires once.
"""

from collections.abc import Iterator

from demineur.engine import Status
from demineur.race import events as ev
from demineur.race.settings import ABSENCE_MS, CLOCK_START_MS, EVENTS_MAX, IDLE_MS, PREPARE_MS
from demineur.race.state import Phase, Room, Seat

NEVER_MS = 2**62
_GATHERED = {Phase.LOBBY, Phase.PREPARING, Phase.FINISHED}
"""Phases in which a seat that is given up is simply gone."""


def next_due_ms(room: Room) -> int:
    """Return the room time at which something happens by itself; ``NEVER_MS`` if nothing will."""
    if room.due_ms is None:
        room.due_ms = min((event.at_ms for event in _candidates(room)), default=NEVER_MS)
    return room.due_ms


def due(room: Room, at_ms: int) -> ev.Event | None:
    """Return the event that is due first at or before ``at_ms``, if any.

    O(1) while nothing is due and nothing but moves has happened; else O(seats).
    """
    if next_due_ms(room) > at_ms:
        return None
    return min(_candidates(room), key=lambda event: event.at_ms)


def _candidates(room: Room) -> Iterator[ev.Event]:
    match room.phase:
        case Phase.CLOSED:
            return
        case Phase.PREPARING:
            yield from _search(room)
        case Phase.COUNTDOWN:
            yield from _countdown(room)
        case Phase.RACING:
            yield from _race(room)
    if room.phase in _GATHERED:
        yield from _gathering(room)
    yield from _succession(room)


def _search(room: Room) -> Iterator[ev.Event]:
    if room.preparing is None or not room.seats.keys() & set(room.preparing.seats):
        yield ev.CountdownStopped(room.last_ms)
    else:
        yield ev.Unprepared(room.preparing.since_ms + PREPARE_MS)


def _countdown(room: Room) -> Iterator[ev.Event]:
    if not room.racers():
        yield ev.CountdownStopped(room.last_ms)
    elif room.round is not None:
        yield ev.Went(room.round.go_ms, room.round.go_ms + room.settings.limit_ms)


def _race(room: Room) -> Iterator[ev.Event]:
    playing = [seat for seat in room.racers() if seat.playing]
    if not playing:
        yield ev.Finished(room.last_ms)
    for seat in playing:
        yield from _run(room, seat)


def _run(room: Room, seat: Seat) -> Iterator[ev.Event]:
    if seat.run is None or room.round is None:
        return
    if seat.run.status is Status.WON:
        yield ev.RunEnded(room.last_ms, seat.seat, ev.Ending.WON)
    elif seat.run.status is Status.LOST:
        yield ev.RunEnded(room.last_ms, seat.seat, ev.Ending.LOST)
    elif seat.left:
        yield ev.RunEnded(room.last_ms, seat.seat, ev.Ending.LEFT)
    else:
        if seat.started_ms is None:
            yield ev.ClockStarted(room.round.go_ms + CLOCK_START_MS, seat.seat)
        if seat.absent_since_ms is not None:
            gone_ms = max(seat.absent_since_ms + ABSENCE_MS, room.round.go_ms)
            yield ev.RunEnded(gone_ms, seat.seat, ev.Ending.ABSENT)
        if room.round.ends_ms is not None:
            yield ev.RunEnded(room.round.ends_ms, seat.seat, ev.Ending.TIMEOUT)


def _gathering(room: Room) -> Iterator[ev.Event]:
    members = room.members()
    if not members:
        yield ev.Closed(room.last_ms)
        return
    if room.phase is Phase.LOBBY and room.version >= EVENTS_MAX:
        yield ev.Closed(room.last_ms)
    for seat in members:
        if seat.absent_since_ms is not None:
            gone_ms = max(seat.absent_since_ms + ABSENCE_MS, room.last_ms)
            yield ev.Left(min(gone_ms, NEVER_MS), seat.seat)
    if room.phase is not Phase.PREPARING:
        yield ev.Closed(room.active_ms + IDLE_MS)


def _succession(room: Room) -> Iterator[ev.Event]:
    heir = min(
        (seat for seat in room.members() if seat.present and seat.seat != room.host),
        key=lambda seat: (seat.present_since_ms, seat.seat),
        default=None,
    )
    if heir is None:
        return
    host = room.seats.get(room.host)
    if host is None or host.left:
        yield ev.HostChanged(room.last_ms, heir.seat)
    elif host.absent_since_ms is not None:
        yield ev.HostChanged(max(host.absent_since_ms + ABSENCE_MS, room.last_ms), heir.seat)
