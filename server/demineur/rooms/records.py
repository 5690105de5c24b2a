"""What Redis keeps of a room beside its log: the players' timers, and what other tools read.

Law of this module: all of it follows from the log; nothing here is ever read to run a room.
"""

from demineur.engine import Mask
from demineur.race import Room, Step, timer
from demineur.race import events as ev


def timers_of(room: Room, steps: list[Step]) -> dict[str, bytes] | None:
    """Return the rows of clocks that started, stopped, or were moved by these steps."""
    seats: set[int] = set()
    for event, opened in steps:
        match event:
            case ev.Tapped(_, number, _, _):
                if _starts_or_costs(room, number, opened):
                    seats.add(number)
            case ev.ClockStarted(_, number) | ev.RunEnded(_, number, _):
                seats.add(number)
            case ev.CountdownStarted() | ev.Stalled():
                seats.update(seat.seat for seat in room.racers())
    known = [room.seats[number] for number in seats if number in room.seats]
    return {seat.player: timer(room, seat) for seat in known} or None


def _starts_or_costs(room: Room, number: int, opened: Mask) -> bool:
    run = room.seats[number].run
    return run is not None and (run.taps == 1 or bool(opened & run.exploded))


def host_name(room: Room) -> str:
    """Return the host's name; empty where the host has left and nobody is there to follow."""
    host = room.seats.get(room.host)
    return host.name if host is not None else ""


def meta_of(room: Room) -> dict[str, str]:
    """Return the fields of the room's ``meta``."""
    return {
        "level": room.settings.level,
        "phase": room.phase.value,
        "host": host_name(room),
        "players": str(len(room.members())),
        "places": str(room.settings.players),
        "listed": "1" if room.settings.listed else "0",
        "round": str(room.rounds),
    }
