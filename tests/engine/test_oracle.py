"""An independent library agrees on numbers, 3BV, openings and islands of 1,000 boards."""

import json
import subprocess
import sys
from pathlib import Path

from demineur.engine import LEVELS, Board, Layout
from tests.engine.positions import seed_of

BOARDS = {
    "beginner": 250,
    "intermediate": 250,
    "hard": 200,
    "expert": 200,
    "extreme": 60,
    "marathon": 40,
}


def _boards() -> list[Board]:
    made = []
    for name, count in BOARDS.items():
        level = LEVELS[name]
        for number in range(count):
            seed = seed_of("oracle", name, number)
            first_tap = int.from_bytes(seed[:2], "big") % level.geometry.cells
            made.append(Layout(level.geometry, level.mines, seed).board(first_tap))
    return made


def _rows(text: str, width: int) -> list[str]:
    return [text[at : at + width] for at in range(0, len(text), width)]


def test_ms_toollib_agrees() -> None:
    boards = _boards()
    assert len(boards) == 1000
    asked = [
        [[int(mark == "*") for mark in row] for row in _rows(b.numbers(), b.geometry.width)]
        for b in boards
    ]
    oracle = Path(__file__).with_name("ms_oracle.py")
    done = subprocess.run(
        [sys.executable, str(oracle)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for board, answer in zip(boards, json.loads(done.stdout), strict=True):
        flat = [number for row in answer["numbers"] for number in row]
        assert board.numbers() == "".join("*" if n < 0 else str(n) for n in flat)
        assert board.three_bv == answer["three_bv"]
        assert board.openings == answer["openings"]
        assert board.islands == answer["islands"]
