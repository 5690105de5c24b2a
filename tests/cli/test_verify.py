import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from demineur.engine import commitment
from tests.cli.command import PROGRAM, VECTORS, Answer, demineur

Command = Callable[..., Answer]

RUNS: list[dict[str, Any]] = json.loads((VECTORS / "runs.json").read_text())


@pytest.mark.parametrize("name", ["runs", "replays"])
def test_the_vectors_hold_in_a_process_of_its_own(name: str) -> None:
    path = VECTORS / f"{name}.json"
    count = len(json.loads(path.read_text()))
    answer = demineur("verify", str(path))
    assert (answer.status, answer.err) == (0, "")
    assert (
        answer.out
        == f"{count} runs: all that is recorded holds ({count} results and commitments)\n"
    )


def test_nothing_recorded_is_said(command: Command) -> None:
    bare = {name: value for name, value in RUNS[0].items() if name != "expect"}
    answer = command("verify", "-", stdin=json.dumps(bare))
    assert (answer.status, answer.out) == (
        0,
        "1 run: nothing is recorded to check, all moves can be played\n",
    )


def test_a_line_a_fault(command: Command) -> None:
    right = RUNS[0] | {"commitment": commitment(bytes.fromhex(RUNS[0]["seed"]))}
    wrong = RUNS[1] | {"result": {"status": "won", "three_bv": 3}, "commitment": "ab" * 32}
    answer = command("verify", "-", stdin=json.dumps([right, wrong, right]))
    assert answer.status == 1
    assert answer.err == ""
    lines = answer.out.splitlines()
    assert len(lines) == 3
    assert lines[0] == "run 2: result: status is 'won', the moves give 'lost'"
    assert lines[1].startswith("run 2: result: three_bv is 3, the moves give ")
    assert lines[2].startswith(f"run 2: commitment is {'ab' * 32}, the seed gives ")


def test_one_run_needs_no_number(command: Command) -> None:
    answer = command("verify", "-", stdin=json.dumps(RUNS[0] | {"result": {"taps": -1}}))
    assert answer.status == 1
    assert answer.out.startswith("result: taps is -1, the moves give ")


def test_a_document(command: Command) -> None:
    wrong = RUNS[1] | {"result": {"status": "won"}}
    answer = command("verify", "--json", "-", stdin=json.dumps([RUNS[0], wrong]))
    assert answer.status == 1
    assert answer.err == "run 2: result: status is 'won', the moves give 'lost'\n"
    first, second = json.loads(answer.out)
    assert list(first)[-1] == "faults"
    assert first["faults"] == []
    assert second["faults"] == ["result: status is 'won', the moves give 'lost'"]
    assert second["status"] == "lost"
    one = command("verify", "--json", "-", stdin=json.dumps(RUNS[0]))
    assert (one.status, json.loads(one.out)) == (0, first)


def test_another_seed_does_not_hold(command: Command) -> None:
    answer = command("verify", "-", stdin=json.dumps(RUNS[0] | {"seed": "0" * 32}))
    assert answer.status == 1
    assert answer.out.count("\n") >= 1


def test_records_of_something_else_are_bad_input(command: Command) -> None:
    strange = RUNS[0] | {"result": {"points": 3}}
    assert command("verify", "-", stdin=json.dumps([strange])).refusal() == (
        "standard input: run 1: result: unknown field 'points'"
    )


def test_a_terminal_sees_progress_on_standard_error_only() -> None:
    """Two thousand runs in one go; a pseudo-terminal stands for the one of a person."""
    text = json.dumps(RUNS[:20] * 100).encode()
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*PROGRAM, "verify", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
    ) as program:
        os.close(theirs)
        out, _ = program.communicate(text, timeout=60)
    drawn = os.read(ours, 100_000)
    os.close(ours)
    assert program.returncode == 0
    assert out == b"2000 runs: all that is recorded holds (2000 results and commitments)\n"
    assert b"standard input" in drawn
    assert b"%" in drawn
