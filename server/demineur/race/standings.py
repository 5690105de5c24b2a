"""Who came where (R16): a frozen table, made when a race is over."""

from dataclasses import dataclass
from fractions import Fraction

from demineur.race.events import Ending
from demineur.race.state import Place, Room, Seat


@dataclass(frozen=True, slots=True, order=True)
class _Key:
    """What ranks: the smaller, the better."""

    unfinished: bool
    share: Fraction
    ms: int


def standings(room: Room) -> tuple[Place, ...]:
    """Return the racers, best first.

    Winners by their own time; then the others by share of 3BV solved, exactly, then by how
    long they lasted on their own clock. Equal in all of it is the same place; such rows come
    by seat.
    """
    ranked = sorted(
        (_key(seat, seat.elapsed_ms(room.last_ms)), seat.seat) for seat in room.racers()
    )
    places: list[Place] = []
    previous: _Key | None = None
    for position, (key, number) in enumerate(ranked, 1):
        place = places[-1].place if key == previous else position
        places.append(_row(place, room.seats[number], room.last_ms))
        previous = key
    return tuple(places)


def _key(seat: Seat, ms: int) -> _Key:
    if seat.ending is Ending.WON:
        return _Key(False, Fraction(0), ms)
    solved, total = seat.solved
    return _Key(True, -Fraction(solved, total) if total else Fraction(0), -ms)


def _row(place: int, seat: Seat, at_ms: int) -> Place:
    run = seat.run
    solved, total = seat.solved
    return Place(
        place=place,
        seat=seat.seat,
        player=seat.player,
        name=seat.name,
        ending=seat.ending or Ending.LEFT,
        ms=seat.elapsed_ms(at_ms),
        percent=seat.percent,
        three_bv=total or None,
        three_bv_solved=solved,
        taps=run.taps if run else 0,
        flags=run.flag_moves if run else 0,
        penalty_ms=seat.penalty_ms,
        first_tap=run.first_tap if run else None,
    )
