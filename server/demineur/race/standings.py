"""Who came where (R16): computed from the room, never stored, so it can't disagree with it."""

from dataclasses import dataclass
from fractions import Fraction

from demineur.race.events import Ending
from demineur.race.state import Room, Seat


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the result table."""

    place: int
    """From 1; equal results share one, and the next are counted on."""
    seat: Seat
    ms: int


def standings(room: Room) -> list[Place]:
    """Return the racers, best first.

    Winners by their own time; then the others by share of 3BV solved, exactly, then by how
    long they lasted on their own clock. Equal in all of it is the same place; such rows come
    by seat.
    """
    ranked = sorted(
        ((_key(seat, seat.elapsed_ms(room.last_ms)), seat) for seat in room.racers()),
        key=lambda entry: (entry[0], entry[1].seat),
    )
    places: list[Place] = []
    previous: tuple[int, Fraction, int] | None = None
    for position, (key, seat) in enumerate(ranked, 1):
        place = places[-1].place if places and key == previous else position
        places.append(Place(place, seat, seat.elapsed_ms(room.last_ms)))
        previous = key
    return places


def _key(seat: Seat, ms: int) -> tuple[int, Fraction, int]:
    if seat.ending is Ending.WON:
        return (0, Fraction(0), ms)
    solved, total = seat.solved
    return (1, -Fraction(solved, total) if total else Fraction(0), -ms)
