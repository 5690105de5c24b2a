"""Outages: the time that a failure took is on nobody's clock and no deadline's (R19)."""

from collections.abc import Callable

import pytest

from demineur.race import Ending, Phase
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import (
    ABSENCE_MS,
    CLOCK_START_MS,
    COUNTDOWN_MS,
    IDLE_MS,
    LIMIT_MS,
    PENALTY_MS,
    PREPARE_MS,
)
from tests.race.scene import (
    GUESS_FREE,
    MIDDLE,
    PENALTY,
    T0_MS,
    Scene,
    lobby,
    names,
    racing,
)


def stall(scene: Scene, ms: int) -> list[str]:
    """Let the node be away for so long and credit it."""
    return names(scene.made(cmd.Stall(ms), ms))


def test_an_outage_is_on_nobodys_clock() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.tap(1, MIDDLE, 1_000)
    assert stall(scene, 7_000) == ["Stalled"]
    assert [scene.elapsed_ms(seat) for seat in (0, 1)] == [1_000, 0]
    scene.win(1, 2_500)
    assert [scene.elapsed_ms(seat) for seat in (0, 1)] == [3_500, 2_500]


def test_several_outages_add_up() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    for ms in (250, 1, 60_000, 3_000):
        scene.wait(100)
        stall(scene, ms)
    assert scene.elapsed_ms(0) == 400
    assert scene.room.stalled_ms == 63_251


def test_an_outage_of_no_length_is_none() -> None:
    scene = racing(1)
    assert scene.made(cmd.Stall(0)) == []
    assert scene.made(cmd.Stall(-1)) == []
    assert scene.made(cmd.Stall(-COUNTDOWN_MS), 10) == []


def counting_down() -> Scene:
    scene = lobby(2)
    scene.start()
    return scene


def searching() -> Scene:
    scene = lobby(2, GUESS_FREE)
    scene.start()
    return scene


def absent_in_lobby() -> Scene:
    scene = lobby(2)
    scene.drop(1)
    return scene


def absent_in_race() -> Scene:
    scene = racing(2)
    scene.win(0, but=1)
    scene.tap(1, MIDDLE)
    scene.drop(1)
    return scene


def tapped() -> Scene:
    scene = racing(1)
    scene.tap(0, MIDDLE)
    return scene


DEADLINES: dict[str, tuple[Callable[[], Scene], int, str]] = {
    "go": (counting_down, COUNTDOWN_MS, "Went"),
    "the search": (searching, PREPARE_MS, "Unprepared"),
    "a clock's start": (lambda: racing(1), CLOCK_START_MS, "ClockStarted"),
    "absence in the lobby": (absent_in_lobby, ABSENCE_MS, "Left"),
    "absence in a race": (absent_in_race, ABSENCE_MS, "RunEnded"),
    "the time limit": (tapped, LIMIT_MS, "RunEnded"),
    "the room's end": (lambda: lobby(2), IDLE_MS, "Closed"),
}


@pytest.mark.parametrize(("scene", "due_ms", "what"), DEADLINES.values(), ids=DEADLINES)
def test_an_outage_moves_every_deadline(scene: Callable[[], Scene], due_ms: int, what: str) -> None:
    stage = scene()
    stage.wait(due_ms - 100)
    # Longer than was left: it would have come within the outage.
    assert stall(stage, 5_000) == ["Stalled"]
    assert stage.wait(99) == []
    assert names(stage.wait(1))[0] == what


def test_an_outage_moves_a_penaltys_end() -> None:
    scene = racing(1, PENALTY)
    scene.tap(0, MIDDLE)
    scene.tap(0, next(scene.mines(0)))
    scene.wait(PENALTY_MS - 100)
    stall(scene, 5_000)
    assert scene.tap(0, next(scene.safe(0)), 99) == []
    assert names(scene.tap(0, next(scene.safe(0)), 1)) == ["Tapped"]


def test_what_was_due_before_the_outage_happened_before_it() -> None:
    scene = counting_down()
    late = scene.made(cmd.Stall(10_000), COUNTDOWN_MS + 10_000 + 1)
    assert late == [
        ev.Went(T0_MS + COUNTDOWN_MS, T0_MS + COUNTDOWN_MS + LIMIT_MS),
        ev.Stalled(T0_MS + COUNTDOWN_MS + 1, 10_000),
    ]


def test_a_move_that_arrived_within_the_outage_is_made_where_it_began() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.wait(1_000)
    stall(scene, 4_000)
    scene.do_at(cmd.Tap(0, 2, next(scene.safe(0))), scene.now_ms - 3_000)
    assert scene.log[-1].at_ms == T0_MS + COUNTDOWN_MS + 1_000
    assert scene.elapsed_ms(0) == 1_000


def test_stamps_out_of_order_do_not_turn_time_back() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE, 1_000)
    scene.do_at(cmd.Tap(1, 1, MIDDLE), scene.now_ms - 30)
    assert scene.seat(1).started_ms == scene.seat(0).started_ms
    assert scene.elapsed_ms(1) == 0


def test_an_outage_that_began_before_the_last_event_is_made_up_for() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.tap(0, next(scene.safe(0)), 1_000)
    # The node's last sign of life was 400 ms before this tap.
    scene.made(cmd.Stall(2_400), 2_000)
    assert scene.elapsed_ms(0) == 1_000
    scene.wait(400)
    assert scene.elapsed_ms(0) == 1_000, "made up for"
    scene.wait(50)
    assert scene.elapsed_ms(0) == 1_050


def test_a_stall_in_a_race_is_told_to_everybody_and_ends_no_run() -> None:
    scene = racing(2)
    version = scene.room.public_version
    stall(scene, 10 * LIMIT_MS)
    assert scene.room.public_version == version + 1
    assert scene.room.phase is Phase.RACING
    assert all(seat.ending is None for seat in scene.room.racers())


def test_a_hand_over_and_the_stall_after_it_cost_nobody_anything() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    version = scene.room.public_version
    assert names(scene.made(cmd.HandOver(), 500)) == ["HandedOver"]
    assert scene.room.public_version == version, "players are not told"
    stall(scene, 3_000)
    assert scene.elapsed_ms(0) == 500


def test_the_wait_for_an_absent_player_counts_only_time_that_passed() -> None:
    scene = racing(2)
    scene.win(0)
    scene.drop(1)
    for _ in range(5):
        scene.wait(10_000)
        stall(scene, 60_000)
    assert scene.seat(1).ending is None
    scene.wait(10_000)
    assert scene.seat(1).ending is Ending.ABSENT
