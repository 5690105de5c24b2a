"""The race against the letter of the rules: random plans, compared after every command."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from demineur.race import (
    Ending,
    Event,
    Phase,
    Reason,
    Refused,
    Room,
    apply,
    create,
    decide,
    is_public,
    next_due_ms,
)
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import CLOCK_START_MS
from tests.effort import tries
from tests.race.model import Model, Player
from tests.race.plan import Plan, commands, plans
from tests.race.scene import T0_MS, Scene, state_of


def as_model(model: Model) -> dict[str, Any]:
    on = model.phase in {Phase.COUNTDOWN, Phase.RACING}
    return {
        "phase": model.phase,
        "settings": model.settings,
        "host": model.host,
        "last": model.last,
        "stalled": model.stalled,
        "times": (model.go, model.ends, model.marked) if on else None,
        "rounds": model.round,
        "result": model.result,
        "seats": {number: _player(player) for number, player in model.players.items()},
    }


def _player(player: Player) -> tuple[Any, ...]:
    grid = player.grid
    cells = None if grid is None else (grid.open, grid.hit, grid.flags)
    people = (player.who, player.name, player.gone, player.ready, player.left, player.racing)
    clock = (player.start, player.end, player.how, player.frozen, player.cost)
    return (*people, player.n, *clock, cells)


def as_room(room: Room) -> dict[str, Any]:
    current = room.round if room.phase in {Phase.COUNTDOWN, Phase.RACING} else None
    result = room.result.places if room.result is not None else ()
    return {
        "phase": room.phase,
        "settings": room.settings,
        "host": room.host,
        "last": room.last_ms,
        "stalled": room.stalled_ms,
        "times": (current.go_ms, current.ends_ms, current.marked) if current else None,
        "rounds": room.rounds,
        "result": [(place.place, place.seat, place.ending.value, place.ms) for place in result],
        "seats": {number: _seat(room, number) for number in room.seats},
    }


def _seat(room: Room, number: int) -> tuple[Any, ...]:
    seat = room.seats[number]
    cells = None
    if seat.run is not None:
        masks = (seat.run.opened, seat.run.exploded, seat.run.flags)
        cells = tuple(set(seat.run.geometry.cells_in(mask)) for mask in masks)
    ending = seat.ending.value if seat.ending else None
    people = (seat.player, seat.name, seat.absent_since_ms, seat.ready, seat.left, seat.racing)
    clock = (seat.started_ms, seat.ended_ms, ending, seat.frozen_until_ms, seat.penalty_ms)
    return (*people, seat.n, *clock, cells)


@tries(100)
@given(plans())
def test_the_race_is_as_the_rules_say(plan: Plan) -> None:
    scene, model = Scene(plan.settings), Model(plan.settings, T0_MS)
    for deed in plan.deeds:
        scene.now_ms += deed.after_ms + deed.outage_ms
        for command in commands(scene.room, deed):
            handled = scene.do(command)
            reason = model.handle(command, scene.now_ms)
            assert (handled.refusal.reason if handled.refusal else None) == reason, command
            assert as_room(scene.room) == as_model(model), command


@tries(100)
@given(plans(), st.lists(st.integers(-300, 0), min_size=40, max_size=40))
def test_the_same_with_stamps_out_of_order(plan: Plan, early: list[int]) -> None:
    scene, model = Scene(plan.settings), Model(plan.settings, T0_MS)
    for deed, early_ms in zip(plan.deeds, early, strict=False):
        scene.now_ms += deed.after_ms + deed.outage_ms
        stamp_ms = scene.now_ms + (early_ms if deed.what != "stall" else 0)
        for command in commands(scene.room, deed):
            handled = scene.do_at(command, stamp_ms)
            reason = model.handle(command, stamp_ms)
            assert (handled.refusal.reason if handled.refusal else None) == reason, command
            assert as_room(scene.room) == as_model(model), command


@tries(100)
@given(plans())
def test_decide_changes_nothing_and_a_refusal_neither(plan: Plan) -> None:
    scene = Scene(plan.settings, mirrored=False)
    for deed in plan.deeds:
        scene.now_ms += deed.after_ms + deed.outage_ms
        for command in commands(scene.room, deed):
            scene.do(cmd.Tick())
            before = state_of(scene.room)
            refused: Reason | None = None
            try:
                events = decide(scene.room, command, scene.room.room_ms(scene.now_ms))
            except Refused as refusal:
                refused, events = refusal.reason, []
            assert state_of(scene.room) == before
            handled = scene.do(command)
            assert (handled.refusal.reason if handled.refusal else None) == refused
            assert bool(handled.steps) == bool(events)


@tries(100)
@given(plans())
def test_the_remembered_deadline_is_the_right_one(plan: Plan) -> None:
    scene = Scene(plan.settings, mirrored=False)
    for deed in plan.deeds:
        scene.now_ms += deed.after_ms + deed.outage_ms
        for command in commands(scene.room, deed):
            scene.do(command)
            remembered = next_due_ms(scene.room)
            scene.room.due_ms = None
            assert next_due_ms(scene.room) == remembered > scene.room.last_ms


WAYS = {
    Phase.LOBBY: {Phase.PREPARING, Phase.COUNTDOWN, Phase.CLOSED},
    Phase.PREPARING: {Phase.LOBBY, Phase.COUNTDOWN},
    Phase.COUNTDOWN: {Phase.LOBBY, Phase.RACING},
    Phase.RACING: {Phase.FINISHED},
    Phase.FINISHED: {Phase.LOBBY, Phase.CLOSED},
    Phase.CLOSED: set(),
}


@tries(100)
@given(plans())
def test_phases_follow_each_other_and_each_deadline_fires_once(plan: Plan) -> None:
    scene = Scene(plan.settings, mirrored=False)
    for deed in plan.deeds:
        scene.now_ms += deed.after_ms + deed.outage_ms
        for command in commands(scene.room, deed):
            scene.do(command)
    room = create(scene.log[0])
    fired: Counter[tuple[object, ...]] = Counter()
    for event in scene.log[1:]:
        phase, last_ms, told = room.phase, room.last_ms, room.public_version
        assert phase is not Phase.CLOSED
        apply(room, event)
        assert room.phase is phase or room.phase in WAYS[phase]
        assert event.at_ms >= last_ms
        assert room.public_version - told == is_public(event)
        fired.update(once(room, phase, event))
    assert set(fired.values()) <= {1}
    assert room.version == len(scene.log)


def once(room: Room, phase: Phase, event: Event) -> list[tuple[object, ...]]:
    """Return what must not happen again, having looked at when it did."""
    current = room.round
    if current is None or current.ends_ms is None:
        return []
    found: list[tuple[object, ...]] = []
    match event:
        case ev.Went():
            assert event.at_ms == current.go_ms
            found = [("go",)]
        case ev.ClockStarted():
            assert event.at_ms == current.go_ms + CLOCK_START_MS
            found = [("clock", event.seat)]
        case ev.RunEnded():
            assert phase is Phase.RACING
            assert event.ending is not Ending.TIMEOUT or event.at_ms == current.ends_ms
            found = [("run", event.seat)]
        case ev.Finished():
            assert all(seat.ending is not None for seat in room.racers())
            found = [("end",)]
        case ev.Tapped() | ev.Flagged():
            assert phase is Phase.RACING
            found = [("move", event.seat, event.n)]
    return [(current.number, *what) for what in found]
