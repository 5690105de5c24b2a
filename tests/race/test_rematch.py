"""Another race with the same settings and a new seed (R18)."""

import sys
from dataclasses import replace

import pytest

from demineur.race import Phase, Reason
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import COUNTDOWN_MS
from tests.race.scene import DRAW, GUESS_FREE, SEED, SHARED, Scene, finished, names, racing

OTHER = cmd.Draw("ff" * 16, 7)


def ask(scene: Scene, seat: int) -> list[str]:
    return names(scene.made(cmd.Rematch(seat, OTHER)))


def test_it_starts_by_itself_when_everybody_has_asked() -> None:
    scene = finished(3)
    assert ask(scene, 1) == ["Rematched", "Readied"]
    assert scene.room.phase is Phase.LOBBY
    assert ask(scene, 0) == ["Readied"]
    assert ask(scene, 2) == ["Readied", "CountdownStarted"]
    assert [seat.seat for seat in scene.room.racers()] == [0, 1, 2]


def test_it_has_a_new_seed_and_fresh_runs_and_the_next_number() -> None:
    scene = finished(2)
    first = scene.room.round
    ask(scene, 0)
    ask(scene, 1)
    again = scene.room.round
    assert first is not None
    assert again is not None
    assert (again.number, again.seed) == (2, OTHER.seed)
    assert again.commitment != first.commitment
    for seat in scene.room.racers():
        assert (seat.n, seat.started_ms, seat.ended_ms, seat.ending) == (0, None, None, None)
        assert (seat.penalty_ms, seat.frozen_until_ms) == (0, 0)
        assert scene.run(seat.seat).first_tap is None


def test_ready_after_a_race_asks_for_another() -> None:
    scene = finished(2)
    assert names(scene.made(cmd.Ready(1, True, OTHER))) == ["Rematched", "Readied"]
    assert names(scene.made(cmd.Ready(0, True, OTHER)))[-1] == "CountdownStarted"


def test_to_be_unready_after_a_race_asks_for_nothing() -> None:
    assert finished(2).refused(cmd.Ready(1, False, DRAW)) is Reason.WRONG_PHASE


def test_asking_twice_is_asking_once() -> None:
    scene = finished(2)
    ask(scene, 1)
    assert ask(scene, 1) == []


def test_who_asked_may_think_better_of_it() -> None:
    scene = finished(2)
    ask(scene, 1)
    scene.made(cmd.Ready(1, False, DRAW))
    assert ask(scene, 0) == ["Readied"]
    assert scene.room.phase is Phase.LOBBY


def test_the_absent_are_not_waited_for() -> None:
    scene = finished(3)
    scene.drop(2)
    ask(scene, 0)
    assert ask(scene, 1) == ["Readied", "CountdownStarted"]
    assert [seat.seat for seat in scene.room.racers()] == [0, 1]


def test_alone_one_asks_and_it_starts() -> None:
    scene = finished(2)
    scene.leave(1)
    assert ask(scene, 0) == ["Rematched", "Readied", "CountdownStarted"]


def test_who_asked_may_ask_again_once_the_other_has_gone() -> None:
    scene = finished(3)
    ask(scene, 0)
    ask(scene, 1)
    scene.drop(2)
    assert ask(scene, 1) == ["CountdownStarted"]


def test_a_new_player_is_waited_for() -> None:
    scene = finished(2)
    ask(scene, 0)
    seat = scene.join()
    assert ask(scene, 1) == ["Readied"]
    assert names(scene.made(cmd.Ready(seat, True, OTHER))) == ["Readied", "CountdownStarted"]


def test_the_host_may_start_with_those_who_have_asked() -> None:
    scene = finished(3)
    ask(scene, 1)
    (started,) = scene.start()
    assert isinstance(started, ev.CountdownStarted)
    assert started.seats == (0, 1)


def test_the_host_may_not_start_before_anybody_has_asked() -> None:
    assert finished(2).refused(cmd.Start(0, DRAW)) is Reason.NOT_READY


def test_alone_the_host_just_starts() -> None:
    scene = finished(1)
    assert names(scene.start()) == ["Rematched", "CountdownStarted"]


def test_other_settings_after_a_race_lead_to_the_lobby() -> None:
    scene = finished(2)
    assert names(scene.made(cmd.ChangeSettings(0, SHARED))) == ["Rematched", "SettingsChanged"]
    assert scene.room.phase is Phase.LOBBY
    ask(scene, 0)
    ask(scene, 1)
    assert scene.room.round is not None
    assert scene.room.round.marked == OTHER.marked


def test_too_small_a_room_after_a_race_changes_nothing() -> None:
    scene = finished(3)
    command = cmd.ChangeSettings(0, replace(SHARED, players=2))
    assert scene.refused(command) is Reason.BAD_SETTINGS


def test_the_result_stays_until_the_next_one_and_is_not_touched() -> None:
    scene = finished(3)
    result = scene.room.result
    assert result is not None
    scene.leave(2)
    scene.made(cmd.Rename(1, "Other"))
    ask(scene, 0)
    ask(scene, 1)
    scene.wait(COUNTDOWN_MS)
    assert scene.room.result is result
    assert [place.name for place in result.places] == ["Player 0", "Player 1", "Player 2"]
    scene.win(0)
    scene.win(1)
    assert scene.room.result is not result
    assert scene.room.result is not None
    assert scene.room.result.number == 2


def test_those_who_left_are_gone_from_the_next_round() -> None:
    scene = finished(3)
    scene.leave(2)
    assert 2 in scene.room.seats
    ask(scene, 0)
    assert 2 not in scene.room.seats


def test_a_guess_free_room_searches_again() -> None:
    scene = finished(2, GUESS_FREE)
    ask(scene, 0)
    assert ask(scene, 1) == ["Readied", "Preparing"]
    assert names(scene.made(cmd.Prepared(SEED, 0))) == [], "another seed's search"
    assert names(scene.made(cmd.Prepared(OTHER.seed, 3))) == ["CountdownStarted"]


def test_a_stopped_rematch_does_not_start_by_itself_any_more() -> None:
    scene = finished(2)
    scene.join()
    ask(scene, 0)
    ask(scene, 1)
    scene.start()
    scene.leave(0)
    scene.leave(1)
    assert scene.room.phase is Phase.LOBBY
    assert names(scene.made(cmd.Ready(2, True, DRAW))) == ["Readied"]


def test_a_room_with_a_long_log_begins_no_further_race(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = finished(2)
    scene.leave(1)
    monkeypatch.setattr(sys.modules["demineur.race.decide"], "EVENTS_MAX", scene.room.version)
    assert scene.refused(cmd.Start(0, OTHER)) is Reason.WRONG_PHASE
    assert scene.refused(cmd.Rematch(0, OTHER)) is Reason.WRONG_PHASE


def test_a_lobby_with_a_long_log_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = finished(2)
    monkeypatch.setattr(
        sys.modules["demineur.race.deadlines"], "EVENTS_MAX", scene.room.version + 2
    )
    assert ask(scene, 0) == ["Rematched", "Readied", "Closed"]
    assert scene.room.phase is Phase.CLOSED


@pytest.mark.parametrize("phase", ["racing", "finished"])
def test_a_long_log_grows_by_what_a_race_needs_only(
    monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    scene = finished(2) if phase == "finished" else racing(2)
    monkeypatch.setattr(sys.modules["demineur.race.decide"], "EVENTS_MAX", scene.room.version)
    before = scene.room.active_ms
    assert scene.refused(cmd.Rename(0, "Another")) is Reason.WRONG_PHASE
    reason = Reason.WRONG_PHASE if phase == "finished" else Reason.RACE_RUNNING
    assert scene.refused(cmd.Join("stranger", "Stranger")) is reason
    assert scene.room.active_ms == before  # so that it closes when it has been idle long enough
    assert names(scene.made(cmd.Drop(1))) == ["Dropped"]
    assert names(scene.made(cmd.Join("p1", "Player 1"))) == ["Returned"]
    if phase == "racing":
        assert names(scene.made(cmd.Tap(0, 1, 40))) == ["Tapped"]
    assert names(scene.made(cmd.Leave(1)))[0] == "Left"
