"""Places (R16): by own time, then by share solved, then by who lasted longer."""

from fractions import Fraction
from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import Board, Run, geometry
from demineur.race import Ending, Place, Room, Seat, standings
from tests.effort import tries
from tests.race.scene import MIDDLE, OWN, PENALTY, Scene, racing

SOLVABLE = 8
"""3BV of `line_run`'s board: its cells without a mine, each of them alone."""


def line_run(solved: int) -> Run:
    """Return a run on a line of mines and lone numbers, with so many of its numbers open."""
    shape = geometry(2 * SOLVABLE, 1)
    run = Run(Board.from_cells(shape, range(1, 2 * SOLVABLE, 2)))
    for number in range(solved):
        run.tap(2 * number)
    assert run.board is not None
    assert (run.three_bv_solved, run.board.three_bv) == (solved, SOLVABLE)
    return run


def row(number: int, ending: Ending, ms: int, solved: int | None) -> Seat:
    """Return a seat whose race ended so; None solved for one who never tapped."""
    run = None if solved is None else line_run(solved)
    return Seat(
        number,
        f"p{number}",
        f"Player {number}",
        0,
        racing=True,
        run=run,
        started_ms=1_000,
        ended_ms=1_000 + ms,
        ending=ending,
    )


def places(*rows: Seat) -> list[Place]:
    room = Room("K7MP3QXZ", OWN, 0, seats={seat.seat: seat for seat in rows})
    return list(standings(room))


def order(*rows: Seat) -> list[tuple[int, int]]:
    """Return place and seat of each row, best first."""
    return [(place.place, place.seat) for place in places(*rows)]


def test_winners_come_by_their_own_time() -> None:
    assert order(
        row(0, Ending.WON, 30_000, 8), row(1, Ending.WON, 29_999, 8), row(2, Ending.WON, 31_000, 8)
    ) == [(1, 1), (2, 0), (3, 2)]


def test_the_same_millisecond_is_the_same_place_and_the_next_is_counted_on() -> None:
    rows = [row(number, Ending.WON, ms, 8) for number, ms in enumerate((50, 40, 50, 60, 40))]
    assert order(*rows) == [(1, 1), (1, 4), (3, 0), (3, 2), (5, 3)]


def test_any_winner_is_before_any_other() -> None:
    assert order(row(0, Ending.LOST, 1, 7), row(1, Ending.WON, 599_999, 8))[0] == (1, 1)


def test_the_others_come_by_share_however_they_ended() -> None:
    rows = [
        row(0, Ending.TIMEOUT, 600_000, 2),
        row(1, Ending.LOST, 5_000, 3),
        row(2, Ending.LEFT, 90_000, 1),
        row(3, Ending.ABSENT, 9_000, 4),
        row(4, Ending.LOST, 9_000, None),
    ]
    assert [seat for _, seat in order(*rows)] == [3, 1, 0, 2, 4]


def test_with_the_same_share_who_lasted_longer_is_before() -> None:
    assert order(row(0, Ending.LOST, 5_000, 3), row(1, Ending.LEFT, 5_001, 3)) == [(1, 1), (2, 0)]


def test_the_same_share_and_time_is_the_same_place() -> None:
    assert order(row(0, Ending.LOST, 5_000, 3), row(1, Ending.TIMEOUT, 5_000, 3)) == [
        (1, 0),
        (1, 1),
    ]


def test_who_does_not_race_has_no_place() -> None:
    watcher = row(1, Ending.WON, 1, 8)
    watcher.racing = False
    assert order(row(0, Ending.LOST, 5, 1), watcher) == [(1, 0)]


OUTCOMES = st.lists(
    st.tuples(
        st.sampled_from(list(Ending)), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 7))
    ),
    max_size=5,
)


@tries(100)
@given(OUTCOMES)
def test_places_are_a_total_order_by_the_rule(
    outcomes: list[tuple[Ending, int, int | None]],
) -> None:
    rows = [
        row(number, ending, ms, 8 if ending is Ending.WON else solved)
        for number, (ending, ms, solved) in enumerate(outcomes)
    ]

    def is_before(a: Seat, b: Seat) -> bool:
        """Say by the letter of the rule whether ``a`` did better than ``b``."""
        won_a, won_b = a.ending is Ending.WON, b.ending is Ending.WON
        if won_a or won_b:
            return won_a and (not won_b or a.elapsed_ms(0) < b.elapsed_ms(0))
        share_a, share_b = (Fraction(s.solved[0], s.solved[1] or 1) for s in (a, b))
        if share_a != share_b:
            return share_a > share_b
        return a.elapsed_ms(0) > b.elapsed_ms(0)

    table = {place.seat: place.place for place in places(*rows)}
    assert len(table) == len(rows)
    for seat in rows:
        assert table[seat.seat] == 1 + sum(is_before(other, seat) for other in rows)
    for a, b in permutations(rows, 2):
        assert is_before(a, b) == (table[a.seat] < table[b.seat])
        assert not (is_before(a, b) and is_before(b, a))


@tries(20)
@given(OUTCOMES, st.randoms(use_true_random=False))
def test_the_order_of_seats_does_not_matter(
    outcomes: list[tuple[Ending, int, int | None]], random: Random
) -> None:
    rows = [row(number, *outcome) for number, outcome in enumerate(outcomes)]
    shuffled = rows.copy()
    random.shuffle(shuffled)
    assert order(*rows) == order(*shuffled)


# What the table says.


def result(scene: Scene) -> dict[int, Place]:
    assert scene.room.result is not None
    return {place.seat: place for place in scene.room.result.places}


def test_the_table_says_what_each_player_did() -> None:
    scene = racing(3)
    scene.tap(0, MIDDLE)
    scene.flag(0, next(scene.mines(0)))
    scene.win(0, 8_000)
    scene.tap(1, 0)
    scene.lose(1, 4_000)
    scene.leave(2)
    table = result(scene)
    assert (table[0].ending, table[0].ms, table[0].percent) == (Ending.WON, 8_000, 100)
    assert table[0].three_bv == table[0].three_bv_solved
    assert (table[0].flags, table[0].first_tap) == (1, MIDDLE)
    assert table[0].taps == scene.run(0).taps
    assert (table[1].ending, table[1].ms, table[1].first_tap) == (Ending.LOST, 4_000, 0)
    assert 0 < table[1].percent < 100
    assert (table[2].ending, table[2].taps, table[2].three_bv) == (Ending.LEFT, 0, None)
    assert (table[2].first_tap, table[2].percent) == (None, 0)
    assert [table[seat].player for seat in range(3)] == ["p0", "p1", "p2"]


def test_penalties_are_in_the_time_and_shown() -> None:
    scene = racing(1, PENALTY)
    scene.tap(0, MIDDLE)
    scene.tap(0, next(scene.mines(0)), 500)
    scene.win(0, 10_000)
    table = result(scene)
    assert (table[0].ms, table[0].penalty_ms) == (10_500, 10_000)


def test_a_hundred_percent_is_only_a_win() -> None:
    scene = racing(2)
    scene.win(1, but=1)
    assert scene.seat(1).percent < 100
    scene.win(1)
    assert scene.seat(1).percent == 100
    assert scene.seat(0).percent == 0
