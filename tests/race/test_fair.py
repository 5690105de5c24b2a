"""One seed for everybody, promised before and shown after (R11-R13)."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import LEVELS, Board, Layout
from demineur.race import RoomSettings
from demineur.race import commands as cmd
from demineur.race.settings import COUNTDOWN_MS
from tests.effort import tries
from tests.race.scene import MIDDLE, SEED, SHARED, Scene, finished, lobby, racing


def board(scene: Scene, seat: int) -> Board:
    found = scene.run(seat).board
    assert found is not None
    return found


def test_the_commitment_is_the_seeds_hash_and_known_before_go() -> None:
    scene = lobby(2)
    scene.start()
    assert scene.room.round is not None
    assert scene.room.round.commitment == sha256(bytes.fromhex(SEED)).hexdigest()


def test_the_result_shows_the_seed_and_the_boards_follow_from_it() -> None:
    scene = racing(2)
    scene.tap(1, 5)
    scene.win(0)
    scene.lose(1)
    result = scene.room.result
    assert result is not None
    assert sha256(bytes.fromhex(result.seed)).hexdigest() == result.commitment
    level = LEVELS[result.level]
    layout = Layout(level.geometry, level.mines, bytes.fromhex(result.seed), result.attempt)
    for place in result.places:
        assert place.first_tap is not None
        assert board(scene, place.seat).mines == layout.mines_for(place.first_tap)
        assert board(scene, place.seat).three_bv == place.three_bv


def test_a_guess_free_result_names_its_attempt() -> None:
    scene = Scene(RoomSettings("beginner", start="shared", guess_free=True))
    scene.made(cmd.Start(0, cmd.Draw(SEED, MIDDLE)))
    scene.made(cmd.Prepared(SEED, 5))
    scene.wait(COUNTDOWN_MS)
    scene.win(0)
    result = scene.room.result
    assert result is not None
    assert (result.attempt, result.marked) == (5, MIDDLE)
    level = LEVELS["beginner"]
    layout = Layout(level.geometry, level.mines, bytes.fromhex(SEED), 5)
    assert board(scene, 0).mines == layout.mines_for(MIDDLE)


def test_with_a_shared_start_all_boards_are_identical() -> None:
    scene = racing(4, SHARED)
    for seat in range(4):
        scene.tap(seat, MIDDLE, 10)
    assert len({board(scene, seat).mines for seat in range(4)}) == 1


def test_no_result_before_the_race_is_over() -> None:
    scene = racing(2)
    scene.win(0)
    assert scene.room.result is None
    assert finished(2).room.result is not None


@tries(40)
@given(
    st.sampled_from(["beginner", "intermediate", "hard", "expert"]),
    st.binary(min_size=16, max_size=16),
    st.data(),
)
def test_same_first_tap_same_board_and_others_differ_by_nine_at_most(
    level: str, seed: bytes, data: st.DataObject
) -> None:
    scene = lobby(3, RoomSettings(level))
    scene.made(cmd.Start(0, cmd.Draw(seed.hex(), 0)))
    scene.wait(COUNTDOWN_MS)
    cells = st.integers(0, LEVELS[level].geometry.cells - 1)
    first, other = data.draw(cells), data.draw(cells)
    for seat, cell in enumerate((first, other, first)):
        scene.tap(seat, cell, 5)
    a, b, c = (board(scene, seat).mines for seat in range(3))
    assert a == c
    assert (a & ~b).bit_count() == (b & ~a).bit_count() <= 9
    assert a.bit_count() == b.bit_count() == LEVELS[level].mines
