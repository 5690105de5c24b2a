"""What happens by itself: stamped with its own moment, whoever looks when (R18, R19)."""

from hypothesis import given
from hypothesis import strategies as st

from demineur.race import NEVER_MS, Phase, due, fold, next_due_ms
from demineur.race import commands as cmd
from demineur.race import events as ev
from demineur.race.settings import ABSENCE_MS, CLOCK_START_MS, COUNTDOWN_MS, IDLE_MS, LIMIT_MS
from tests.effort import tries
from tests.race.plan import Deed, Plan, commands, plans
from tests.race.scene import MIDDLE, T0_MS, Scene, lobby, names, racing


def test_the_next_deadline_is_known_to_the_millisecond() -> None:
    scene = lobby(2)
    assert next_due_ms(scene.room) == T0_MS + IDLE_MS
    scene.start()
    go_ms = T0_MS + COUNTDOWN_MS
    assert next_due_ms(scene.room) == go_ms
    scene.wait(COUNTDOWN_MS)
    assert next_due_ms(scene.room) == go_ms + CLOCK_START_MS
    scene.tap(0, MIDDLE)
    scene.tap(1, MIDDLE)
    assert next_due_ms(scene.room) == go_ms + LIMIT_MS
    scene.drop(1)
    assert next_due_ms(scene.room) == go_ms + ABSENCE_MS


def test_nothing_is_due_in_a_closed_room() -> None:
    scene = lobby(1)
    scene.leave(0)
    assert scene.room.phase is Phase.CLOSED
    assert next_due_ms(scene.room) == NEVER_MS
    assert due(scene.room, NEVER_MS - 1) is None


def test_due_names_one_event_and_changes_nothing() -> None:
    scene = lobby(1)
    scene.start()
    go_ms = T0_MS + COUNTDOWN_MS
    assert due(scene.room, go_ms - 1) is None
    assert due(scene.room, go_ms) == due(scene.room, go_ms + 5) == ev.Went(go_ms, go_ms + LIMIT_MS)
    assert scene.room.phase is Phase.COUNTDOWN


def test_a_node_that_was_late_stamps_each_event_with_its_own_moment() -> None:
    scene = lobby(2)
    scene.start()
    late = scene.wait(3_600_000)
    go_ms = T0_MS + COUNTDOWN_MS
    assert [(name, event.at_ms - go_ms) for name, event in zip(names(late), late, strict=True)] == [
        ("Went", 0),
        ("ClockStarted", CLOCK_START_MS),
        ("ClockStarted", CLOCK_START_MS),
        ("RunEnded", LIMIT_MS),
        ("RunEnded", LIMIT_MS),
        ("Finished", LIMIT_MS),
    ]


def test_what_is_due_happens_before_a_command_of_the_same_moment() -> None:
    scene = lobby(1)
    scene.start()
    assert names(scene.made(cmd.Tap(0, 1, MIDDLE), COUNTDOWN_MS)) == ["Went", "Tapped"]


def test_what_is_due_happens_though_the_command_is_refused() -> None:
    scene = racing(1)
    handled = scene.do(cmd.Tap(0, 1, 81), LIMIT_MS)
    assert handled.refusal is not None
    assert names([step.event for step in handled.steps])[-1] == "Finished"


def test_who_takes_a_room_over_knows_its_deadlines() -> None:
    scene = racing(3)
    scene.tap(0, MIDDLE)
    scene.drop(1, 500)
    again = fold(scene.log)
    assert next_due_ms(again) == next_due_ms(scene.room)


def _perform(scene: Scene, deed: Deed, ticks: list[int]) -> None:
    """Do a deed, with ticks on the way to its moment.

    The deed itself is made precise on the room as it is at that moment.
    """
    end_ms = scene.now_ms + deed.after_ms
    for tick_ms in sorted(scene.now_ms + tick for tick in ticks if tick < deed.after_ms):
        scene.do_at(cmd.Tick(), tick_ms)
    if deed.what != "stall":
        scene.do_at(cmd.Tick(), end_ms)
    scene.now_ms = end_ms + deed.outage_ms
    for command in commands(scene.room, deed):
        scene.do(command)


@tries(60)
@given(plans(), st.data())
def test_the_log_is_the_same_however_often_a_node_looks(plan: Plan, data: st.DataObject) -> None:
    late, eager, restless = (Scene(plan.settings, mirrored=False) for _ in range(3))
    for deed in plan.deeds:
        _perform(late, deed, [])
        until_due = eager.room.node_ms(next_due_ms(eager.room)) - eager.now_ms
        _perform(eager, deed, [until_due - 1, until_due, until_due + 1])
        moments = st.integers(0, max(0, deed.after_ms - 1))
        _perform(restless, deed, data.draw(st.lists(moments, max_size=4)))
        assert late.log == eager.log == restless.log


@tries(60)
@given(plans(stalls=False), st.data())
def test_outages_change_nothing_but_the_nodes_time(plan: Plan, data: st.DataObject) -> None:
    steady, failing = (Scene(plan.settings, mirrored=False) for _ in range(2))
    for deed in plan.deeds:
        _perform(steady, deed, [])
        outage_ms = data.draw(st.sampled_from([0, 0, 1, 800, 70_000]))
        before_ms = data.draw(st.integers(0, deed.after_ms))
        failing.now_ms += before_ms + outage_ms
        failing.do(cmd.Stall(outage_ms))
        failing.now_ms += deed.after_ms - before_ms
        failing.do(cmd.Tick())
        for command in commands(failing.room, deed):
            failing.do(command)
        told = [event for event in failing.log if not isinstance(event, ev.Stalled)]
        assert told == steady.log
