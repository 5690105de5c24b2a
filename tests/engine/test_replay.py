from typing import Any

import pytest

from demineur.engine import (
    Outcome,
    Status,
    Step,
    commitment,
    read_run_file,
    replay,
    verify,
)
from demineur.engine.runfile import RECORDED
from tests.engine.positions import vectors

RUNS = vectors("runs")
REPLAYS = vectors("replays")

# 1 1 1 * 1 0
# * 1 1 1 1 0
# 1 1 0 1 1 1
# 0 0 0 1 * 1
SMALL: dict[str, Any] = {
    "format": "demineur/run/1",
    "width": 6,
    "height": 4,
    "mines": 3,
    "mine_cells": [3, 6, 22],
    "moves": [
        [100, "flag", 0],
        [200, "tap", 18],
        [300, "flag", 6],
        [450, "tap", 7],
        [500, "tap", 6],
        [700, "tap", 3],
        [900, "tap", 5],
    ],
}


@pytest.mark.parametrize("vector", RUNS, ids=range(len(RUNS)))
def test_every_step_of_the_recorded_runs(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    found = replay(read_run_file(vector), steps=True).document()
    assert {name: found[name] for name in expect} == expect


@pytest.mark.parametrize("vector", REPLAYS, ids=range(len(REPLAYS)))
def test_what_other_programs_recorded_of_people_s_runs(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    outcome = replay(read_run_file(vector))
    assert outcome.status == expect["status"]
    assert outcome.three_bv == expect["three_bv"]
    assert outcome.elapsed_ms == expect["elapsed_ms"]
    assert len(outcome.opened) == expect["opened_count"]
    assert len(outcome.flags) == expect["flags_count"]
    if outcome.status is Status.WON:
        assert outcome.three_bv_solved == outcome.three_bv


def test_an_outcome() -> None:
    assert replay(read_run_file(SMALL)) == Outcome(
        status=Status.LOST,
        opened=[0, 1, 2, 7, 8, 9, 12, 13, 14, 15, 18, 19, 20, 21],
        flags=[6],
        exploded=[3],
        elapsed_ms=500,
        mine_counter=2,
        three_bv=6,
        three_bv_solved=4,
        openings=2,
        taps=3,
        flag_moves=1,
        efficiency=1.0,
    )


def test_steps_go_on_after_the_end() -> None:
    steps = replay(read_run_file(SMALL), steps=True).steps
    assert steps is not None
    assert steps == [
        Step([], Status.READY, 0),
        Step([7, 8, 9, 12, 13, 14, 15, 18, 19, 20, 21], Status.PLAYING, 0),
        Step([], Status.PLAYING, 1),
        Step([0, 1, 2], Status.PLAYING, 1),
        Step([], Status.PLAYING, 1),
        Step([], Status.LOST, 1),
        Step([], Status.LOST, 1),
    ]


def test_documents_have_the_names_of_the_format_in_their_order() -> None:
    names = [
        *("status", "opened", "flags", "exploded", "elapsed_ms", "mine_counter", "three_bv"),
        *("three_bv_solved", "openings", "taps", "flag_moves", "efficiency"),
    ]
    run_file = read_run_file(SMALL)
    assert list(replay(run_file).document()) == names
    with_steps = replay(run_file, steps=True).document()
    assert list(with_steps) == [*names, "steps"]
    assert with_steps["steps"][3] == {"opened": [0, 1, 2], "status": "playing", "flags": 1}


@pytest.mark.parametrize("moves", [[], [[3, "flag", 1], [4, "flag", 1]]])
@pytest.mark.parametrize("seeded", [True, False])
def test_a_run_without_a_tap_is_ready(moves: list[Any], seeded: bool) -> None:
    """Of a seed there is no board yet; of given mines there is."""
    document = SMALL | {"moves": moves}
    if seeded:
        del document["mine_cells"]
        document["seed"] = "0" * 32
    assert replay(read_run_file(document)) == Outcome(
        status=Status.READY,
        opened=[],
        flags=[],
        exploded=[],
        elapsed_ms=None,
        mine_counter=None,
        three_bv=None if seeded else 6,
        three_bv_solved=0,
        openings=None if seeded else 2,
        taps=0,
        flag_moves=0,
        efficiency=None,
    )


def test_elapsed_time_is_from_the_first_tap_to_the_ending_move() -> None:
    first = SMALL | {"moves": [[-50, "tap", 3], [900, "tap", 1]]}
    assert replay(read_run_file(first)).elapsed_ms == 0
    playing = SMALL | {"moves": [[-50, "tap", 18], [900, "tap", 1]]}
    assert replay(read_run_file(playing)).elapsed_ms is None


@pytest.mark.parametrize("name", ["result", "expect"])
def test_a_record_that_holds(name: str) -> None:
    document = SMALL | {name: replay(read_run_file(SMALL), steps=True).document()}
    document[name] |= {"opened_count": 14, "flags_count": 1, "efficiency": 1}
    outcome, faults = verify(read_run_file(document))
    assert faults == []
    assert outcome.status is Status.LOST


def test_the_vectors_hold() -> None:
    for vector in (*RUNS, *REPLAYS):
        assert verify(read_run_file(vector))[1] == []


@pytest.mark.parametrize(
    ("record", "faults"),
    [
        ({"status": "won"}, ["status is 'won', the moves give 'lost'"]),
        ({"status": 1}, ["status is 1, the moves give 'lost'"]),
        ({"elapsed_ms": 501}, ["elapsed_ms is 501, the moves give 500"]),
        ({"elapsed_ms": 500.0}, ["elapsed_ms is 500.0, the moves give 500"]),
        ({"elapsed_ms": None}, ["elapsed_ms is null, the moves give 500"]),
        ({"opened": [0]}, ["opened has 1 entries, the moves give 14"]),
        ({"exploded": [4]}, ["exploded differs from what the moves give at entry 1"]),
        ({"exploded": [3.0]}, ["exploded differs from what the moves give at entry 1"]),
        ({"exploded": 3}, ["exploded is 3, the moves give a list"]),
        ({"three_bv": 7, "openings": 2}, ["three_bv is 7, the moves give 6"]),
        ({"efficiency": 0.99}, ["efficiency is 0.99, the moves give 1.0"]),
        ({"efficiency": True}, ["efficiency is true, the moves give 1.0"]),
        ({"opened_count": 13}, ["opened_count is 13, the moves give 14"]),
        ({"flags_count": True}, ["flags_count is true, the moves give 1"]),
        (
            {"taps": 4, "flag_moves": 2},
            ["taps is 4, the moves give 3", "flag_moves is 2, the moves give 1"],
        ),
        ({"steps": [{}] * 7}, ["steps differs from what the moves give at entry 1"]),
        ({"steps": None}, ["steps is null, the moves give a list"]),
    ],
)
def test_a_record_that_does_not(record: dict[str, Any], faults: list[str]) -> None:
    _, found = verify(read_run_file(SMALL | {"result": record}))
    assert found == [f"result: {fault}" for fault in faults]


def test_a_step_that_does_not_hold() -> None:
    steps = replay(read_run_file(SMALL), steps=True).document()["steps"]
    for change in ({"flags": 0}, {"status": "won"}, {"opened": [0, 1]}, {"extra": 1}):
        changed = [*steps[:3], steps[3] | change, *steps[4:]]
        _, found = verify(read_run_file(SMALL | {"result": {"steps": changed}}))
        assert found == ["result: steps differs from what the moves give at entry 4"]


def test_a_commitment_is_checked() -> None:
    seeded = RUNS[0] | {"commitment": commitment(bytes.fromhex(RUNS[0]["seed"]))}
    assert verify(read_run_file(seeded))[1] == []
    seeded |= {"commitment": "0" * 64, "attempt": 0}
    (fault,) = verify(read_run_file(seeded))[1]
    assert fault.startswith("commitment is 000")
    assert commitment(bytes.fromhex(RUNS[0]["seed"])) in fault


def test_another_seed_does_not_hold() -> None:
    assert verify(read_run_file(RUNS[0] | {"seed": "0" * 32}))[1]
    assert verify(read_run_file(RUNS[0] | {"attempt": 1}))[1]


def test_records_may_name_all_that_a_replay_tells() -> None:
    document = replay(read_run_file(SMALL), steps=True).document()
    assert {*document, "opened_count", "flags_count"} == RECORDED
