"""What a room's state says by itself: clocks, presence, places in time; and Redis's timer rows."""

import json

from demineur.race import Ending, Room, Seat, timer
from tests.race.scene import MIDDLE, OWN, PENALTY, finished, lobby, racing


def test_room_time_is_the_nodes_less_all_outages_and_never_goes_back() -> None:
    room = Room("K7MP3QXZ", OWN, 0, last_ms=500, stalled_ms=200)
    assert room.room_ms(1_000) == 800
    assert room.room_ms(600) == 500
    assert room.node_ms(800) == 1_000


def test_a_clock_is_nought_then_runs_then_is_fixed() -> None:
    seat = Seat(0, "p0", "Player 0", 0)
    assert seat.elapsed_ms(9_000) == 0
    seat.started_ms = 5_000
    assert seat.elapsed_ms(4_000) == 0
    assert seat.elapsed_ms(9_000) == 4_000
    seat.ended_ms = 7_000
    assert seat.elapsed_ms(9_000) == 2_000


def test_present_is_who_has_neither_dropped_nor_left() -> None:
    scene = racing(3)
    scene.drop(1)
    scene.leave(2)
    assert [seat.present for seat in scene.room.seats.values()] == [True, False, False]
    assert [seat.seat for seat in scene.room.members()] == [0, 1]
    assert [seat.seat for seat in scene.room.racers()] == [0, 1, 2]


def test_an_identity_is_found_on_the_seat_that_it_holds() -> None:
    scene = racing(2)
    scene.leave(1)
    assert scene.room.seat_of("p0") is scene.seat(0)
    assert scene.room.seat_of("p1") is None


def test_playing_is_racing_without_an_end() -> None:
    scene = racing(2)
    scene.lose(1)
    assert [scene.seat(seat).playing for seat in (0, 1)] == [True, False]
    watcher = lobby(1).seat(0)
    assert not watcher.playing


def row(scene_room: Room, seat: Seat) -> object:
    return json.loads(timer(scene_room, seat))


def test_a_timers_row_has_its_start_outages_penalty_end_and_status() -> None:
    scene = racing(2, PENALTY)
    go_ms = scene.now_ms
    nothing = {"started": None, "stalled": 0, "penalty": 0, "ended": None, "status": "playing"}
    assert row(scene.room, scene.seat(0)) == nothing
    scene.tap(0, MIDDLE, 250)
    scene.tap(0, next(scene.mines(0)), 1_000)
    playing = {**nothing, "started": go_ms + 250, "penalty": 10_000}
    assert row(scene.room, scene.seat(0)) == playing
    scene.leave(0, 500)
    ended = {**playing, "ended": go_ms + 1_750, "status": "left"}
    assert row(scene.room, scene.seat(0)) == ended


def test_a_timers_row_says_waiting_for_who_does_not_race() -> None:
    scene = lobby(2)
    assert json.loads(timer(scene.room, scene.seat(1)))["status"] == "waiting"


def test_a_timers_row_names_how_a_run_ended() -> None:
    scene = finished(2)
    said = [json.loads(timer(scene.room, scene.seat(seat)))["status"] for seat in (0, 1)]
    assert said == [Ending.WON.value, Ending.LOST.value]
