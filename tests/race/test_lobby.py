"""Who is in a room, who may do what there, and how a race begins (R15)."""

from dataclasses import replace

import pytest

from demineur.race import Phase, Reason, Refused, RoomSettings, creation
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import COUNTDOWN_MS, LIMIT_MARATHON_MS, LIMIT_MS
from tests.race.scene import (
    DRAW,
    MIDDLE,
    OWN,
    SEED,
    SHARED,
    T0_MS,
    Scene,
    finished,
    lobby,
    names,
    racing,
)


def test_who_creates_the_room_is_its_host_and_first_player() -> None:
    scene = Scene()
    assert scene.room.phase is Phase.LOBBY
    assert scene.room.host == 0
    assert [seat.player for seat in scene.room.members()] == ["p0"]
    assert scene.seat(0).present


def test_seats_are_given_once_and_never_to_another() -> None:
    scene = lobby(3)
    scene.leave(1)
    assert scene.join() == 3
    assert sorted(scene.room.seats) == [0, 2, 3]


def test_a_player_has_one_seat() -> None:
    scene = lobby(2)
    assert scene.back(1) == []
    assert len(scene.room.members()) == 2


def test_who_left_may_come_again_on_another_seat() -> None:
    scene = lobby(2)
    scene.leave(1)
    assert scene.made(cmd.Join("p1", "Player 1")) == [ev.Joined(T0_MS, 2, "p1", "Player 1")]


@pytest.mark.parametrize("places", [2, 3, 32])
def test_a_room_takes_as_many_players_as_it_is_set_to(places: int) -> None:
    scene = lobby(places, replace(OWN, players=places))
    assert scene.refused(cmd.Join("one more", "One")) is Reason.ROOM_FULL
    scene.leave(1)
    scene.join()


def test_an_absent_player_keeps_the_place() -> None:
    scene = lobby(2, replace(OWN, players=2))
    scene.drop(1)
    assert scene.refused(cmd.Join("one more", "One")) is Reason.ROOM_FULL


@pytest.mark.parametrize("after_ms", [0, COUNTDOWN_MS])
def test_nobody_joins_during_a_race(after_ms: int) -> None:
    scene = lobby(2)
    scene.start()
    assert scene.refused(cmd.Join("late", "Late"), after_ms) is Reason.RACE_RUNNING


def test_a_player_may_join_a_finished_room_and_races_in_the_next_round() -> None:
    scene = finished(2)
    seat = scene.join()
    assert not scene.seat(seat).racing
    for each in (0, 1, seat):
        scene.made(cmd.Rematch(each, DRAW))
    assert [each.seat for each in scene.room.racers()] == [0, 1, seat]


def test_ready_is_said_and_taken_back() -> None:
    scene = Scene()
    seat = scene.join()
    assert scene.made(cmd.Ready(seat, True, DRAW)) == [ev.Readied(T0_MS, seat, True)]
    assert scene.made(cmd.Ready(seat, True, DRAW)) == []
    assert scene.made(cmd.Ready(seat, False, DRAW)) == [ev.Readied(T0_MS, seat, False)]
    assert not scene.seat(seat).ready


def test_the_host_and_those_who_are_ready_race_and_the_others_watch() -> None:
    scene = lobby(3)
    watcher = scene.join()
    absent = scene.join()
    scene.ready(absent)
    scene.drop(absent)
    (started,) = scene.start()
    assert started == ev.CountdownStarted(
        T0_MS, SEED, 0, None, T0_MS + COUNTDOWN_MS, seats=(0, 1, 2)
    )
    scene.wait(COUNTDOWN_MS)
    assert scene.refused(cmd.Tap(watcher, 1, MIDDLE)) is Reason.NOT_RACING


def test_alone_one_may_race() -> None:
    scene = Scene()
    scene.start()
    assert [seat.seat for seat in scene.room.racers()] == [0]


def test_a_host_whose_company_is_absent_is_alone() -> None:
    scene = Scene()
    scene.drop(scene.join())
    scene.start()
    assert [seat.seat for seat in scene.room.racers()] == [0]


def test_with_others_present_one_of_them_must_be_ready() -> None:
    scene = Scene()
    scene.join()
    assert scene.refused(cmd.Start(0, DRAW)) is Reason.NOT_READY


def test_being_ready_ends_with_the_start() -> None:
    scene = finished(2)
    assert not any(seat.ready for seat in scene.room.members())


@pytest.mark.parametrize("command", [cmd.Start(1, DRAW), cmd.ChangeSettings(1, SHARED)])
def test_only_the_host_starts_and_sets(command: cmd.Command) -> None:
    scene = lobby(2)
    assert scene.refused(command) is Reason.NOT_HOST


def test_other_settings_make_everybody_unready() -> None:
    scene = lobby(3)
    scene.made(cmd.ChangeSettings(0, SHARED))
    assert scene.room.settings == SHARED
    assert not any(seat.ready for seat in scene.room.members())
    assert scene.refused(cmd.Start(0, DRAW)) is Reason.NOT_READY


def test_settings_for_fewer_players_than_are_there_are_refused() -> None:
    scene = lobby(3)
    too_few = cmd.ChangeSettings(0, replace(OWN, players=2))
    assert scene.refused(too_few) is Reason.BAD_SETTINGS
    scene.leave(2)
    scene.made(too_few)


BAD_SETTINGS = [
    RoomSettings("nightmare"),
    RoomSettings("beginner", guess_free=True),
    RoomSettings("beginner", players=1),
    RoomSettings("beginner", players=33),
    RoomSettings("beginner", start="anywhere"),  # type: ignore[arg-type]
    RoomSettings("beginner", mine="shrug"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("bad", BAD_SETTINGS, ids=repr)
def test_settings_that_cannot_be_are_refused(bad: RoomSettings) -> None:
    with pytest.raises(Refused) as refused:
        creation(cmd.Create("K7MP3QXZ", bad, "p0", "Player 0"), T0_MS)
    assert refused.value.reason is Reason.BAD_SETTINGS
    assert Scene().refused(cmd.ChangeSettings(0, bad)) is Reason.BAD_SETTINGS


@pytest.mark.parametrize("level", ["beginner", "marathon"])
def test_the_time_limit_is_the_levels(level: str) -> None:
    scene = racing(2, RoomSettings(level))
    assert scene.room.round is not None
    assert scene.room.round.ends_ms == T0_MS + COUNTDOWN_MS + scene.room.settings.limit_ms
    assert scene.room.settings.limit_ms == (LIMIT_MARATHON_MS if level == "marathon" else LIMIT_MS)


LOBBY_ONLY = {
    "ready": cmd.Ready(0, True, DRAW),
    "unready": cmd.Ready(0, False, DRAW),
    "settings": cmd.ChangeSettings(0, SHARED),
    "start": cmd.Start(0, DRAW),
    "rematch": cmd.Rematch(0, DRAW),
}


@pytest.mark.parametrize("command", LOBBY_ONLY.values(), ids=LOBBY_ONLY)
@pytest.mark.parametrize("after_ms", [0, COUNTDOWN_MS], ids=["countdown", "racing"])
def test_nothing_is_arranged_during_a_race(command: cmd.Command, after_ms: int) -> None:
    scene = lobby(2)
    scene.start()
    assert scene.refused(command, after_ms) is Reason.WRONG_PHASE


def test_there_is_no_rematch_before_a_race() -> None:
    assert lobby(2).refused(cmd.Rematch(0, DRAW)) is Reason.WRONG_PHASE


def test_a_name_may_change_at_any_time() -> None:
    scene = racing(2)
    assert names(scene.made(cmd.Rename(1, "Zoë"))) == ["Renamed"]
    assert scene.seat(1).name == "Zoë"
    assert scene.made(cmd.Rename(1, "Zoë")) == []


OF_NOBODY = {
    "leave": cmd.Leave(7),
    "drop": cmd.Drop(7),
    "rename": cmd.Rename(7, "x"),
    "ready": cmd.Ready(7, True, DRAW),
    "settings": cmd.ChangeSettings(7, OWN),
    "start": cmd.Start(7, DRAW),
    "rematch": cmd.Rematch(7, DRAW),
    "tap": cmd.Tap(7, 1, 0),
    "flag": cmd.Flag(7, 1, 0),
}


@pytest.mark.parametrize("command", OF_NOBODY.values(), ids=OF_NOBODY)
def test_who_has_no_seat_can_do_nothing(command: cmd.Command) -> None:
    assert lobby(2).refused(command) is Reason.NOT_IN_ROOM
