import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.cli.command import VECTORS, Answer, demineur

Command = Callable[..., Answer]

BOARDS: list[dict[str, Any]] = json.loads((VECTORS / "boards.json").read_text())
SEED = "79f1fd0518bec66ca50405acb71aa74b"


def holds(answer: Answer, vector: dict[str, Any]) -> None:
    assert (answer.status, answer.err) == (0, "")
    found = json.loads(answer.out)
    assert list(found) == ["mine_cells", "numbers", "three_bv", "openings", "commitment"]
    numbers_sha256 = sha256(found.pop("numbers").encode()).hexdigest()
    assert numbers_sha256 == vector["numbers_sha256"]
    assert found == {name: vector[name] for name in found}


@pytest.mark.parametrize("vector", BOARDS, ids=range(len(BOARDS)))
def test_recorded_boards(command: Command, vector: dict[str, Any]) -> None:
    tap = ["--seed", vector["seed"], "--first-tap", str(vector["first_tap"]), "--json"]
    size = f"{vector['width']}x{vector['height']}"
    holds(command("board", "--level", vector["level"], *tap), vector)
    holds(command("board", "--size", size, "--mines", str(vector["mines"]), *tap), vector)


def test_in_a_process_of_its_own() -> None:
    vector = BOARDS[-1]
    tap = ["--seed", vector["seed"], "--first-tap", str(vector["first_tap"])]
    holds(demineur("board", f"--level={vector['level']}", *tap, "--json"), vector)


def test_an_attempt(command: Command) -> None:
    attempts = [
        json.loads(
            command(
                *("board", "--level", "beginner", "--seed", SEED, "--first-tap", "0", "--json"),
                *("--attempt", attempt),
            ).out
        )
        for attempt in ("0", "1", "4294967295")
    ]
    assert len({tuple(found["mine_cells"]) for found in attempts}) == 3
    assert len({found["commitment"] for found in attempts}) == 1


def test_for_people(command: Command) -> None:
    arguments = ["--size", "12x5", "--mines", "9", "--seed", SEED, "--first-tap", "14"]
    assert command("board", *arguments).out.splitlines() == [
        "12 x 5, 9 mines, first tap 14 (row 1, column 2)",
        "   ┌─────────────────────────┐",
        " 0 │ * 1           1 * 2 2 * │",
        "12 │ 2 2[ ]  1 1 1 1 1 2 * 2 │",
        "24 │ * 1     2 * 2     2 2 2 │",
        "36 │ 2 2     2 * 2     1 * 1 │",
        "48 │ * 1     1 1 1     1 1 1 │",
        "   └─────────────────────────┘",
        "3BV 13, openings 2, islands 4",
        "commitment 11b6077f2de0f74daace0facb719536d9358880674e543e13b10c3d63d132232",
    ]


LEVEL = ["--level", "beginner"]
SIZE = ["--size", "9x9", "--mines", "10"]
FROM = ["--seed", SEED, "--first-tap", "40"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*FROM], "give either --level, or --size and --mines"),
        ([*FROM, "--size", "9x9"], "give either --level, or --size and --mines"),
        ([*FROM, "--mines", "10"], "give either --level, or --size and --mines"),
        ([*FROM, *LEVEL, *SIZE], "give either --level, or --size and --mines"),
        ([*FROM, *LEVEL, "--mines", "3"], "give either --level, or --size and --mines"),
        ([*FROM, "--level", "easy"], "--level: 'easy' is none of beginner, intermediate, "),
        ([*FROM, "--size", "9*9", "--mines", "1"], "--size: '9*9' is not columns x rows"),
        ([*FROM, "--size", "9x9\n", "--mines", "1"], "--size: '9x9\\n' is not columns x rows"),
        ([*FROM, "--size", "٩x٩", "--mines", "1"], "--size: '٩x٩' is not columns x rows"),
        ([*FROM, "--size", "0x9", "--mines", "1"], "1 to 255 columns and rows, not 0x9"),
        ([*FROM, "--size", "300x9", "--mines", "1"], "1 to 255 columns and rows, not 300x9"),
        ([*FROM, "--size", "9x9", "--mines", "73"], "holds 0 to 72 mines, not 73"),
        ([*FROM, "--size", "9x9", "--mines", "-1"], "holds 0 to 72 mines, not -1"),
        ([*FROM, "--size", "9x9", "--mines", "ten"], "--mines: 'ten' is not a whole number"),
        ([*FROM, "--size", "2x4", "--mines", "0"], "too small"),
        ([*LEVEL, "--seed", SEED], "--first-tap"),
        ([*LEVEL, "--first-tap", "3"], "--seed"),
        ([*LEVEL, "--seed", SEED, "--first-tap", "81"], "cell 81 is off the 9x9 board"),
        ([*LEVEL, "--seed", SEED, "--first-tap", "-1"], "cell -1 is off the 9x9 board"),
        (
            [*LEVEL, "--seed", SEED, "--first-tap", "1_0"],
            "--first-tap: '1_0' is not a whole number",
        ),
        ([*LEVEL, "--seed", SEED, "--first-tap", "9" * 40], "is not a whole number"),
        (
            [*LEVEL, "--seed", SEED, "--first-tap", "1.0"],
            "--first-tap: '1.0' is not a whole number",
        ),
        ([*LEVEL, "--seed", SEED.upper(), "--first-tap", "1"], "32 lower-case hex digits"),
        ([*LEVEL, "--seed", SEED[1:], "--first-tap", "1"], "32 lower-case hex digits"),
        ([*LEVEL, *FROM, "--attempt", "-1"], "an attempt is from 0 to 4294967295, not -1"),
        ([*LEVEL, *FROM, "--attempt", "4294967296"], "an attempt is from 0 to 4294967295"),
        ([*LEVEL, *FROM, "--attempt", ""], "--attempt: '' is not a whole number"),
        ([*LEVEL, *FROM, "--sed"], "No such option"),
        ([*LEVEL, *FROM, "more"], "extra argument"),
    ],
)
def test_bad_arguments(command: Command, arguments: list[str], said: str) -> None:
    assert said in command("board", *arguments).refusal()
