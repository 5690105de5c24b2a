"""Totals over many boards and moves, recorded once: any change of the rules shows here.

They guard against what small cases do not reach, in the way of counting move trees in
chess. A total that changes is a fault, or a new version of the format.
"""

import itertools
from hashlib import sha256

import pytest

from demineur.engine import LEVELS, Board, Layout, Run, encode_run, geometry
from tests.engine.positions import seed_of

BOARDS = {
    "beginner": (1559, 250, 336, 2997, 5874),
    "intermediate": (3905, 498, 608, 4208, 14819),
    "hard": (6652, 694, 737, 5548, 24035),
    "expert": (8338, 956, 1371, 15744, 39106),
    "extreme": (5262, 428, 1641, 41182, 41937),
    "marathon": (19732, 1124, 5526, 161932, 172518),
}
"""Of 100 boards of a level: 3BV, openings, islands, zeros, and the sum of all numbers."""


def _boards_of(name: str) -> list[Board]:
    level = LEVELS[name]
    return [
        Layout(level.geometry, level.mines, seed_of("totals", name, number)).board(
            number * 31 % level.geometry.cells
        )
        for number in range(100)
    ]


@pytest.mark.parametrize("name", LEVELS)
def test_totals_of_boards(name: str) -> None:
    boards = _boards_of(name)
    assert BOARDS[name] == (
        sum(board.three_bv for board in boards),
        sum(board.openings for board in boards),
        sum(board.islands for board in boards),
        sum(board.zeros.bit_count() for board in boards),
        sum(plane.bit_count() << k for board in boards for k, plane in enumerate(board.planes)),
    )


GAMES = {
    "beginner": "d627f2de0a729205516b3482a7cdad0c",
    "intermediate": "ec27dd4adfa7c52f5fb1b51f9b7bff6b",
    "hard": "385f0b511bc93e04c91b52f4f1f67822",
    "expert": "9a9a44bf5666955f3e8ffadddfffec4e",
    "extreme": "dbdbbfa195d2b4eaa9152eeb077d7e38",
    "marathon": "5969e5ba4e48217a3aff64f6b47c981f",
}
"""Of 20 runs of a level: the hash of their encodings after 150 moves."""


def _play(name: str, number: int) -> Run:
    """A run whose moves follow from a hash: on hidden cells, flags, chords, wrong flags."""
    level = LEVELS[name]
    run = Run(Layout(level.geometry, level.mines, seed_of("game", name, number)), penalty=True)
    state = sha256(f"{name} {number}".encode()).digest()
    for _ in range(150):
        state = sha256(state).digest()
        cell = int.from_bytes(state[:4], "big") % level.geometry.cells
        board = run.board
        mine = board is not None and board.mines & run.geometry.bit[cell]
        if bool(mine) == (state[4] < 230):
            run.flag(cell)
        else:
            run.tap(cell)
    return run


@pytest.mark.parametrize("name", LEVELS)
def test_totals_of_games(name: str) -> None:
    digest = sha256()
    for number in range(20):
        digest.update(encode_run(_play(name, number)))
    assert digest.hexdigest()[:32] == GAMES[name]


def moves_to_depth(run: Run, moves: tuple[tuple[str, int], ...], depth: int) -> int:
    """How many sequences of `depth` moves there are in which no move is ignored."""
    count = 0
    for move in itertools.product(("tap", "flag"), run.geometry.indices):
        again = Run(run.source, penalty=run.penalty)
        for made in moves:
            make(again, made)
        if make(again, move):
            count += 1 if depth == 1 else moves_to_depth(again, (*moves, move), depth - 1)
    return count


def make(run: Run, move: tuple[str, int]) -> bool:
    kind, cell = move
    return bool(run.tap(cell)) if kind == "tap" else run.flag(cell)


@pytest.mark.parametrize(
    ("width", "height", "mines", "penalty", "totals"),
    [
        (4, 3, [0], False, (12, 66, 831)),
        (4, 3, [0], True, (12, 88, 1188)),
        (3, 3, [4], False, (9, 128, 1776)),
        (5, 2, [2, 9], True, (10, 168, 2582)),
        (6, 1, [0, 5], False, (6, 20, 110)),
    ],
)
def test_trees_of_moves(
    width: int, height: int, mines: list[int], penalty: bool, totals: tuple[int, ...]
) -> None:
    run = Run(Board.from_cells(geometry(width, height), mines), penalty=penalty)
    assert tuple(moves_to_depth(run, (), depth) for depth in (1, 2, 3)) == totals
