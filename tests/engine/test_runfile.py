import json
from typing import Any

import pytest

from demineur.engine import Board, EngineError, Layout, Move, RunFile, geometry, read_run_file
from tests.engine.positions import vectors

SEED = "79f1fd0518bec66ca50405acb71aa74b"
SEEDED: dict[str, Any] = {
    "format": "demineur/run/1",
    "width": 9,
    "height": 9,
    "mines": 10,
    "seed": SEED,
    "moves": [[298, "tap", 13], [298, "flag", 73]],
}
EXPLICIT: dict[str, Any] = {
    "format": "demineur/run/1",
    "width": 4,
    "height": 3,
    "mines": 2,
    "mine_cells": [7, 0],
    "moves": [],
}


def without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def test_a_run_on_a_seed() -> None:
    run_file = read_run_file(SEEDED)
    assert run_file == RunFile(
        width=9,
        height=9,
        mines=10,
        seed=bytes.fromhex(SEED),
        moves=(Move(298, "tap", 13), Move(298, "flag", 73)),
    )
    assert run_file.source() == Layout(geometry(9, 9), 10, bytes.fromhex(SEED))
    assert run_file.board() == Layout(geometry(9, 9), 10, bytes.fromhex(SEED)).board(13)


def test_a_run_on_given_mines() -> None:
    run_file = read_run_file(EXPLICIT)
    assert run_file.mine_cells == (0, 7)
    assert run_file.source() == run_file.board() == Board.from_cells(geometry(4, 3), [0, 7])


def test_a_seed_without_a_tap_has_no_board_yet() -> None:
    assert read_run_file(SEEDED | {"moves": [[5, "flag", 3]]}).board() is None


def test_an_attempt_has_its_own_board() -> None:
    run_file = read_run_file(SEEDED | {"attempt": 3})
    assert run_file.source() == Layout(geometry(9, 9), 10, bytes.fromhex(SEED), 3)


@pytest.mark.parametrize("name", ["runs", "replays"])
def test_written_files_are_read_back(name: str) -> None:
    for vector in vectors(name):
        run_file = read_run_file(vector)
        document = json.loads(json.dumps(run_file.document()))
        assert read_run_file(document) == run_file
        assert without(document, "attempt") == vector


def test_a_written_file_is_in_the_order_of_the_format() -> None:
    extras = {"attempt": 1, "commitment": "0" * 64, "result": {"status": "won"}}
    written = read_run_file({**extras, **SEEDED}).document()
    assert list(written) == [
        *("format", "width", "height", "mines", "seed", "attempt", "moves"),
        *("commitment", "result"),
    ]
    assert list(read_run_file(EXPLICIT).document())[4] == "mine_cells"


@pytest.mark.parametrize(
    "document",
    [
        EXPLICIT | {"width": 1, "height": 1, "mines": 0, "mine_cells": []},
        EXPLICIT | {"width": 1, "height": 1, "mines": 1, "mine_cells": [0]},
        EXPLICIT | {"width": 255, "height": 255},
        SEEDED | {"width": 255, "height": 255, "mines": 65016},
        SEEDED | {"mines": 72},
        SEEDED | {"mines": 0},
        SEEDED | {"attempt": 2**32 - 1},
        SEEDED | {"moves": [[-(2**53), "tap", 0], [2**53, "tap", 80]]},
    ],
)
def test_the_limits_are_inside(document: dict[str, Any]) -> None:
    assert read_run_file(document).mines == document["mines"]


TWO_MOVES = [[5, "tap", 1], [6, "flag", 2]]

REFUSALS: list[tuple[object, str]] = [
    ([], "a run is an object, not a list"),
    (None, "a run is an object, not null"),
    (True, "a run is an object, not true"),
    ("run", "a run is an object, not 'run'"),
    (3, "a run is an object, not 3"),
    (SEEDED | {"player": 1}, "unknown field 'player'"),
    (SEEDED | {"a\nb" * 40: 1}, r"unknown field 'a\nba\nba\nba\nba\nba\nba\nba\nba\nb..."),
    *((without(SEEDED, name), f"field {name!r} is missing") for name in SEEDED if name != "seed"),
    (without(SEEDED, "seed"), "a run has either a seed or mine_cells"),
    (SEEDED | {"mine_cells": [1]}, "a run has either a seed or mine_cells"),
    (
        SEEDED | {"format": "demineur/run/2"},
        "format must be 'demineur/run/1', not 'demineur/run/2'",
    ),
    (SEEDED | {"format": None}, "format must be 'demineur/run/1', not null"),
    (SEEDED | {"width": True}, "width must be a whole number, not true"),
    (SEEDED | {"width": "9"}, "width must be a whole number, not '9'"),
    (SEEDED | {"height": 9.0}, "height must be a whole number, not 9.0"),
    (SEEDED | {"mines": None}, "mines must be a whole number, not null"),
    (SEEDED | {"mines": -1}, "mines cannot be -1"),
    (SEEDED | {"mines": 10**400}, "mines cannot be so large a number"),
    (SEEDED | {"width": 256}, "a board has 1 to 255 columns and rows, not 256x9"),
    (SEEDED | {"height": 0}, "a board has 1 to 255 columns and rows, not 9x0"),
    (SEEDED | {"mines": 73}, "a 9x9 board holds 0 to 72 mines, not 73"),
    (
        SEEDED | {"seed": SEED.upper()},
        f"seed must be 32 lower-case hex digits, not '{SEED.upper()}'",
    ),
    (SEEDED | {"seed": SEED[:-1]}, f"seed must be 32 lower-case hex digits, not '{SEED[:-1]}'"),
    (SEEDED | {"seed": SEED + "\n"}, f"seed must be 32 lower-case hex digits, not '{SEED}\\n'"),
    (SEEDED | {"seed": [1]}, "seed must be 32 lower-case hex digits, not a list"),
    (SEEDED | {"attempt": False}, "attempt must be a whole number, not false"),
    (SEEDED | {"attempt": 2**32}, "attempt must be from 0 to 4294967295"),
    (SEEDED | {"commitment": "00"}, "commitment must be 64 lower-case hex digits, not '00'"),
    (SEEDED | {"result": []}, "result must be an object, not a list"),
    (SEEDED | {"expect": None}, "expect must be an object, not null"),
    (SEEDED | {"result": {"status": "won", "points": 3}}, "result: unknown field 'points'"),
    (SEEDED | {"expect": {"points": 3}}, "expect: unknown field 'points'"),
    (EXPLICIT | {"attempt": 0}, "field 'attempt' needs a seed"),
    (EXPLICIT | {"commitment": "0" * 64}, "field 'commitment' needs a seed"),
    (EXPLICIT | {"mine_cells": {}}, "mine_cells must be a list, not an object"),
    (EXPLICIT | {"mine_cells": [0, 12]}, "mine_cells: cell 12 is off the 4x3 board"),
    (EXPLICIT | {"mine_cells": [0, -1]}, "mine_cells: cell -1 is off the 4x3 board"),
    (EXPLICIT | {"mine_cells": [0, True]}, "mine_cells: a cell is a whole number, not true"),
    (EXPLICIT | {"mine_cells": [0, [1]]}, "mine_cells: a cell is a whole number, not a list"),
    (EXPLICIT | {"mine_cells": [5, 5]}, "mine_cells: cell 5 is there twice"),
    (EXPLICIT | {"mine_cells": [5]}, "mines is 2, but mine_cells has 1"),
    (SEEDED | {"moves": {}}, "moves must be a list, not an object"),
    (SEEDED | {"moves": [*TWO_MOVES, 7]}, "move 3: a move is a list of time, kind and cell"),
    (SEEDED | {"moves": [[5, "tap"]]}, "move 1: a move is a list of time, kind and cell"),
    (SEEDED | {"moves": [[5, "tap", 1, 1]]}, "move 1: a move is a list of time, kind and cell"),
    (SEEDED | {"moves": ["tap"]}, "move 1: a move is a list of time, kind and cell"),
    (SEEDED | {"moves": [*TWO_MOVES, [7, "tap", 81]]}, "move 3: cell 81 is off the 9x9 board"),
    (SEEDED | {"moves": [[7, "tap", -1]]}, "move 1: cell -1 is off the 9x9 board"),
    (SEEDED | {"moves": [[7, "tap", 10**5000]]}, "move 1: a cell cannot be so large a number"),
    (SEEDED | {"moves": [[7, "tap", True]]}, "move 1: a cell is a whole number, not true"),
    (SEEDED | {"moves": [[7, "tap", 1.0]]}, "move 1: a cell is a whole number, not 1.0"),
    (SEEDED | {"moves": [[7, "Tap", 1]]}, "move 1: a move is 'tap' or 'flag', not 'Tap'"),
    (SEEDED | {"moves": [[7, [], 1]]}, "move 1: a move is 'tap' or 'flag', not a list"),
    (SEEDED | {"moves": [[7, None, 1]]}, "move 1: a move is 'tap' or 'flag', not null"),
    (
        SEEDED | {"moves": [*TWO_MOVES, [5, "tap", 1]]},
        "move 3: time 5 is before 6, and times never go down",
    ),
    (SEEDED | {"moves": [[False, "tap", 1]]}, "move 1: a time is in whole milliseconds, not false"),
    (SEEDED | {"moves": [[5.5, "tap", 1]]}, "move 1: a time is in whole milliseconds, not 5.5"),
    (SEEDED | {"moves": [["5", "tap", 1]]}, "move 1: a time is in whole milliseconds, not '5'"),
    (SEEDED | {"moves": [[2**53 + 1, "tap", 1]]}, "move 1: a time cannot be so large a number"),
    (SEEDED | {"moves": [[-(10**5000), "tap", 1]]}, "move 1: a time cannot be so large a number"),
]


@pytest.mark.parametrize(("document", "said"), REFUSALS, ids=[said for _, said in REFUSALS])
def test_anything_else_is_refused_with_what_and_where(document: object, said: str) -> None:
    with pytest.raises(EngineError) as refused:
        read_run_file(document)
    assert str(refused.value) == said
