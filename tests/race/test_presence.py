"""Coming and going: absence, leaving, the next host, and the room's end (R18)."""

from collections.abc import Callable

import pytest

from demineur.race import Ending, Phase, Reason
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import ABSENCE_MS, COUNTDOWN_MS, IDLE_MS
from tests.race.scene import DRAW, MIDDLE, OWN, Scene, finished, lobby, names, racing


def test_who_drops_keeps_the_place_and_the_run_and_the_clock_runs_on() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.tap(1, MIDDLE)
    opened = scene.run(1).opened
    scene.drop(1, 1_000)
    assert names(scene.back(1, 30_000)) == ["Returned"]
    assert scene.run(1).opened == opened
    assert scene.elapsed_ms(1) == 31_000
    assert names(scene.tap(1, next(scene.safe(1)))) == ["Tapped"]


def test_a_return_needs_no_name_and_changes_none() -> None:
    scene = lobby(2)
    scene.drop(1)
    scene.back(1)
    assert scene.seat(1).name == "Player 1"


def test_dropping_twice_is_dropping_once() -> None:
    scene = lobby(2)
    assert names(scene.drop(1)) == ["Dropped"]
    assert scene.drop(1, 30_000) == []
    assert names(scene.wait(30_000)) == ["Left"]


def test_gone_for_a_minute_in_a_race_is_out() -> None:
    scene = racing(2)
    scene.tap(0, MIDDLE)
    scene.tap(1, MIDDLE)
    scene.drop(1, 5_000)
    assert scene.wait(ABSENCE_MS - 1) == []
    assert scene.wait(1) == [ev.RunEnded(scene.now_ms, 1, Ending.ABSENT)]
    assert scene.elapsed_ms(1) == 5_000 + ABSENCE_MS


def test_back_in_the_last_millisecond_is_in_time() -> None:
    scene = racing(2)
    scene.drop(1)
    scene.back(1, ABSENCE_MS - 1)
    scene.wait(1)
    assert scene.seat(1).ending is None
    assert names(scene.tap(1, MIDDLE)) == ["Tapped"]


def test_back_a_minute_later_is_too_late_for_the_race_but_not_for_the_room() -> None:
    scene = racing(2)
    scene.drop(1)
    assert "RunEnded" in names(scene.back(1, ABSENCE_MS))
    assert scene.seat(1).ending is Ending.ABSENT
    assert scene.seat(1).present
    assert scene.refused(cmd.Tap(1, 1, MIDDLE)) is Reason.RUN_OVER


def test_dropping_before_go_ends_no_run_before_the_minute_is_over() -> None:
    scene = lobby(2)
    scene.start()
    scene.drop(1, 1_000)
    scene.wait(COUNTDOWN_MS)
    assert scene.room.phase is Phase.RACING
    assert scene.seat(1).playing
    scene.wait(ABSENCE_MS - COUNTDOWN_MS)
    assert scene.seat(1).ending is Ending.ABSENT


def test_leaving_a_race_ends_the_run_and_keeps_the_row() -> None:
    scene = racing(2)
    scene.tap(1, MIDDLE)
    assert names(scene.leave(1, 2_000)) == ["Left", "RunEnded"]
    assert scene.seat(1).ending is Ending.LEFT
    assert scene.elapsed_ms(1) == 2_000
    scene.win(0)
    assert scene.room.result is not None
    assert [place.seat for place in scene.room.result.places] == [0, 1]


def test_leaving_after_ones_end_changes_no_result() -> None:
    scene = racing(2)
    scene.win(1)
    assert names(scene.leave(1)) == ["Left"]
    scene.lose(0)
    assert scene.room.result is not None
    assert [(p.seat, p.ending) for p in scene.room.result.places] == [
        (1, Ending.WON),
        (0, Ending.LOST),
    ]


def test_who_left_a_race_joins_again_only_after_it() -> None:
    scene = racing(2)
    scene.leave(1)
    assert scene.refused(cmd.Join("p1", "Player 1")) is Reason.RACE_RUNNING
    scene.win(0)
    assert scene.made(cmd.Join("p1", "Player 1")) == [ev.Joined(scene.now_ms, 2, "p1", "Player 1")]


def test_a_watcher_who_leaves_a_race_is_gone() -> None:
    scene = lobby(2)
    watcher = scene.join()
    scene.start()
    scene.wait(COUNTDOWN_MS)
    scene.leave(watcher)
    assert watcher not in scene.room.seats


def test_a_countdown_that_everybody_leaves_stops() -> None:
    scene = lobby(2)
    watcher = scene.join()
    scene.start()
    scene.leave(1)
    assert scene.room.phase is Phase.COUNTDOWN
    assert names(scene.leave(0)) == ["Left", "CountdownStopped", "HostChanged"]
    assert (scene.room.phase, scene.room.round) == (Phase.LOBBY, None)
    assert scene.room.host == watcher
    assert scene.wait(COUNTDOWN_MS) == []


def test_a_race_that_everybody_leaves_is_over_and_so_is_the_room() -> None:
    scene = racing(2)
    scene.leave(1)
    told = names(scene.leave(0))
    assert told == ["Left", "RunEnded", "Finished", "Closed"]


def test_a_race_that_everybody_drops_out_of_ends_after_a_minute() -> None:
    scene = racing(2)
    scene.drop(0)
    scene.drop(1)
    told = names(scene.wait(ABSENCE_MS))
    assert [name for name in told if name != "ClockStarted"] == [
        "RunEnded",
        "RunEnded",
        "Finished",
        "Left",
        "Left",
        "Closed",
    ]


# The host.


def test_when_the_host_leaves_the_longest_present_player_is_host() -> None:
    scene = Scene()
    first, second = scene.join(10), scene.join(10)
    scene.drop(first, 10)
    scene.back(first, 10)
    assert scene.leave(0)[1:] == [ev.HostChanged(scene.now_ms, second)]


def test_among_equals_the_older_seat_is_host() -> None:
    scene = lobby(3)
    assert scene.leave(0)[1:] == [ev.HostChanged(scene.now_ms, 1)]


@pytest.mark.parametrize("phase", [Phase.LOBBY, Phase.RACING, Phase.FINISHED])
def test_when_the_host_is_gone_for_a_minute_another_is_host(phase: Phase) -> None:
    scene = {Phase.LOBBY: lobby, Phase.RACING: racing, Phase.FINISHED: finished}[phase](3)
    scene.drop(0)
    scene.wait(ABSENCE_MS - 1)
    assert scene.room.host == 0
    scene.wait(1)
    assert scene.room.host == 1


def test_a_host_who_is_back_in_time_stays_host() -> None:
    scene = lobby(2)
    scene.drop(0)
    scene.back(0, ABSENCE_MS - 1)
    scene.wait(1)
    assert scene.room.host == 0


def test_a_host_who_is_back_too_late_is_a_player() -> None:
    scene = racing(2)
    scene.drop(0)
    scene.back(0, ABSENCE_MS)
    assert scene.room.host == 1
    assert scene.room.phase is Phase.RACING


def test_nobody_present_means_the_first_who_returns_is_host() -> None:
    scene = racing(3)
    scene.drop(0)
    scene.drop(1, 1_000)
    scene.drop(2, 1_000)
    scene.wait(ABSENCE_MS - 1_500)
    assert scene.room.host == 0
    assert names(scene.back(2))[-2:] == ["Returned", "HostChanged"]
    assert scene.room.host == 2


def test_an_absent_player_is_no_heir() -> None:
    scene = lobby(3)
    scene.drop(1)
    scene.leave(0)
    assert scene.room.host == 2


def test_the_new_host_may_start() -> None:
    scene = lobby(3)
    scene.leave(0)
    assert scene.refused(cmd.Start(2, DRAW)) is Reason.NOT_HOST
    scene.made(cmd.Start(1, DRAW))


# The room's end.


@pytest.mark.parametrize("make", [lobby, finished])
def test_gone_for_a_minute_while_nobody_races_is_leaving(make: Callable[[int], Scene]) -> None:
    scene = make(2)
    scene.drop(1)
    scene.wait(ABSENCE_MS - 1)
    assert len(scene.room.members()) == 2
    assert scene.wait(1) == [ev.Left(scene.now_ms, 1)]
    assert len(scene.room.members()) == 1


def test_a_watcher_who_was_gone_all_race_leaves_with_its_end() -> None:
    scene = lobby(2)
    watcher = scene.join()
    scene.drop(watcher)
    scene.start()
    scene.wait(2 * ABSENCE_MS)
    assert watcher in scene.room.seats
    scene.leave(1)
    assert names(scene.leave(0))[-3:] == ["Finished", "Left", "Closed"]


@pytest.mark.parametrize("make", [lobby, finished])
def test_a_room_closes_when_everybody_has_left(make: Callable[[int], Scene]) -> None:
    scene = make(2)
    scene.leave(1)
    assert names(scene.leave(0)) == ["Left", "Closed"]
    assert scene.room.phase is Phase.CLOSED


def test_a_room_closes_a_minute_after_the_last_one_dropped() -> None:
    scene = Scene()
    scene.drop(0)
    assert names(scene.wait(ABSENCE_MS)) == ["Left", "Closed"]


@pytest.mark.parametrize("make", [lobby, finished], ids=["lobby", "finished"])
def test_a_room_in_which_nothing_happens_closes_after_two_hours(
    make: Callable[[int], Scene],
) -> None:
    scene = make(2)
    scene.wait(IDLE_MS - 1)
    assert scene.room.phase is not Phase.CLOSED
    assert names(scene.wait(1)) == ["Closed"]
    assert IDLE_MS == 2 * 3_600_000


@pytest.mark.parametrize(
    "command", [cmd.Ready(1, False, DRAW), cmd.Rename(1, "Zoë"), cmd.Join("p9", "Player 9")]
)
def test_what_anybody_does_keeps_the_room(command: cmd.Command) -> None:
    scene = lobby(2)
    scene.made(command, IDLE_MS - 1)
    assert scene.wait(IDLE_MS - 1) == []
    assert names(scene.wait(1)) == ["Closed"]


CLOSED_REFUSES = {
    "join": cmd.Join("new", "New"),
    "return": cmd.Join("p0", "Player 0"),
    "leave": cmd.Leave(0),
    "rename": cmd.Rename(0, "Zoë"),
    "ready": cmd.Ready(0, True, DRAW),
    "settings": cmd.ChangeSettings(0, OWN),
    "start": cmd.Start(0, DRAW),
    "rematch": cmd.Rematch(0, DRAW),
    "drop": cmd.Drop(0),
}


@pytest.mark.parametrize("command", CLOSED_REFUSES.values(), ids=CLOSED_REFUSES)
def test_a_closed_room_refuses_everything(command: cmd.Command) -> None:
    scene = lobby(2)
    scene.wait(IDLE_MS)
    assert scene.room.phase is Phase.CLOSED
    assert scene.refused(command) is Reason.WRONG_PHASE


@pytest.mark.parametrize(
    "command",
    [cmd.Tick(), cmd.Stall(500), cmd.HandOver(), cmd.Prepared("00" * 16, 0)],
    ids=lambda command: type(command).__name__,
)
def test_nothing_follows_the_close(command: cmd.Command) -> None:
    scene = lobby(2)
    scene.wait(IDLE_MS)
    assert scene.made(command, 10 * IDLE_MS) == []
    assert scene.log[-1] == ev.Closed(scene.now_ms - 10 * IDLE_MS)
