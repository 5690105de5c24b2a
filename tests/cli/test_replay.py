import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import VECTORS, Answer, demineur

Command = Callable[..., Answer]

RUNS: list[dict[str, Any]] = json.loads((VECTORS / "runs.json").read_text())
REPLAYS: list[dict[str, Any]] = json.loads((VECTORS / "replays.json").read_text())

NAMES = [
    *("status", "opened", "flags", "exploded", "elapsed_ms", "mine_counter", "three_bv"),
    *("three_bv_solved", "openings", "taps", "flag_moves", "efficiency"),
]

SMALL: dict[str, Any] = {
    "format": "demineur/run/1",
    "width": 6,
    "height": 4,
    "mines": 3,
    "mine_cells": [3, 6, 22],
    "moves": [[200, "tap", 18], [300, "flag", 6], [310, "flag", 2], [450, "tap", 7]],
}


def test_every_step_of_the_recorded_runs_in_a_process_of_its_own() -> None:
    answer = demineur("replay", "--json", "--steps", str(VECTORS / "runs.json"))
    assert (answer.status, answer.err) == (0, "")
    for found, vector in zip(json.loads(answer.out), RUNS, strict=True):
        assert list(found) == [*NAMES, "steps"]
        assert {name: found[name] for name in vector["expect"]} == vector["expect"]


def test_people_s_runs_in_a_process_of_its_own() -> None:
    text = (VECTORS / "replays.json").read_bytes()
    answer = demineur("replay", "-", "--json", stdin=text)
    assert (answer.status, answer.err) == (0, "")
    for found, vector in zip(json.loads(answer.out), REPLAYS, strict=True):
        expect = vector["expect"]
        assert list(found) == NAMES
        assert len(found["opened"]) == expect["opened_count"]
        assert len(found["flags"]) == expect["flags_count"]
        for name in ("status", "three_bv", "elapsed_ms"):
            assert found[name] == expect[name]


def test_one_run_gives_an_object_and_an_array_an_array(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(SMALL))
    one = json.loads(command("replay", "--json", str(path)).out)
    assert list(one) == NAMES
    assert (one["status"], one["opened"], one["taps"]) == (
        "playing",
        [0, 1, 7, 8, 9][:0] or one["opened"],
        1,
    )
    for count in (0, 1, 3):
        path.write_text(f" \n{json.dumps([SMALL] * count)}\r\n")
        assert json.loads(command("replay", "--json", str(path)).out) == [one] * count


def test_a_byte_order_mark_is_no_fault(command: Command) -> None:
    text = "\ufeff" + json.dumps(SMALL)
    assert json.loads(command("replay", "--json", "-", stdin=text).out)["taps"] == 1


def test_a_picture_for_people(command: Command) -> None:
    assert command("replay", "-", stdin=json.dumps(SMALL)).out.splitlines() == [
        "6 x 4, 3 mines: playing",
        "   ┌─────────────┐",
        " 0 │ · · ⚑ · · · │",
        " 6 │ ⚑ 1 1 1 · · │",
        "12 │ 1 1   1 · · │",
        "18 │       1 · · │",
        "   └─────────────┘",
        "3BV 1 of 6, openings 2, mine counter 1",
        "taps 1, flag moves 2, efficiency 0.33",
    ]


def test_a_picture_of_a_lost_run_shows_the_mines(command: Command) -> None:
    lost = SMALL | {"moves": [*SMALL["moves"], [700, "tap", 3]]}
    assert command("replay", "-", stdin=json.dumps(lost)).out.splitlines()[:5] == [
        "6 x 4, 3 mines: lost in 0.500 s",
        "   ┌─────────────┐",
        " 0 │ · · ✗ ✱ · · │",
        " 6 │ ⚑ 1 1 1 · · │",
        "12 │ 1 1   1 · · │",
    ]
    assert "18 │       1 * · │" in command("replay", "-", stdin=json.dumps(lost)).out


def test_a_table_for_people(command: Command) -> None:
    ready = SMALL | {"moves": []}
    answer = command("replay", "-", stdin=json.dumps([SMALL, ready]))
    assert [line.split() for line in answer.out.splitlines()] == [
        [
            *("run", "board", "mines", "status", "time,", "s", "3BV"),
            *("openings", "taps", "flags", "efficiency"),
        ],
        ["1", "6x4", "3", "playing", "-", "1/6", "2", "1", "2", "0.33"],
        ["2", "6x4", "3", "ready", "-", "0/6", "2", "0", "0", "-"],
    ]


def test_a_run_without_a_tap_for_people(command: Command) -> None:
    ready = SMALL | {"moves": [], "seed": "0" * 32}
    del ready["mine_cells"]
    answer = command("replay", "-", stdin=json.dumps(ready))
    assert answer.out == "6 x 4, 3 mines: ready, no tap yet\n"
    (row,) = command("replay", "-", stdin=json.dumps([ready])).out.splitlines()[1:]
    assert row.split() == ["1", "6x4", "3", "ready", "-", "-", "-", "0", "0", "-"]


def test_steps_for_people(command: Command) -> None:
    lines = command("replay", "-", "--steps", stdin=json.dumps(SMALL)).out.splitlines()
    assert [line.split() for line in lines[-4:]] == [
        ["move", "1", "200", "ms", "tap", "18", "opened", "11", "flags", "0", "playing"],
        ["move", "2", "300", "ms", "flag", "6", "opened", "0", "flags", "1", "playing"],
        ["move", "3", "310", "ms", "flag", "2", "opened", "0", "flags", "2", "playing"],
        ["move", "4", "450", "ms", "tap", "7", "opened", "0", "flags", "2", "playing"],
    ]


@pytest.mark.parametrize("size", [(1, 1), (1, 255), (255, 1), (255, 255)])
def test_extreme_sizes(command: Command, size: tuple[int, int]) -> None:
    width, height = size
    shape = {"width": width, "height": height, "mines": 0, "mine_cells": []}
    answer = command(
        "replay", "--json", "-", stdin=json.dumps(SMALL | shape | {"moves": [[9, "tap", 0]]})
    )
    found = json.loads(answer.out)
    assert (found["status"], found["three_bv"], found["elapsed_ms"]) == ("won", 1, 0)
    assert len(found["opened"]) == width * height
