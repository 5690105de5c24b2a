"""Boards, positions and moves for tests: drawn by Hypothesis, made from seeds, or recorded."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from demineur.engine import Board, Geometry, Run, geometry

VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(name: str) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text())
    return documents


def seed_of(*parts: object) -> bytes:
    """A seed that is the same in every run of the tests."""
    return sha256(repr(parts).encode()).digest()[:16]


shapes = st.builds(geometry, st.integers(1, 14), st.integers(1, 14))


@st.composite
def cell_sets(draw: st.DrawFn, shape: Geometry) -> set[int]:
    """Cells of `shape`, from none to all of them, each density as likely."""
    share = draw(st.integers(0, 10))
    rolls = draw(st.lists(st.integers(0, 9), min_size=shape.cells, max_size=shape.cells))
    return {cell for cell, roll in enumerate(rolls) if roll < share}


@st.composite
def boards(draw: st.DrawFn) -> Board:
    shape = draw(shapes)
    share = draw(st.integers(0, 6))
    rolls = draw(st.lists(st.integers(0, 19), min_size=shape.cells, max_size=shape.cells))
    return Board.from_cells(shape, [cell for cell, roll in enumerate(rolls) if roll < share])


intentions = st.lists(
    st.tuples(
        st.sampled_from(["tap", "tap", "flag", "flag a mine", "tap an open one", "tap a safe one"]),
        st.integers(0, 1 << 16),
    ),
    max_size=40,
)
"""What a player means to do; `carried_out` makes moves of it on a given run.

Moves on cells picked blindly hardly ever make a chord that opens anything.
"""


def carried_out(run: Run, meant: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Moves on `run`, which the caller makes before asking for the next."""
    shape = run.geometry
    for what, pick in meant:
        board = run.board
        among = shape.full
        if what == "flag a mine" and board is not None:
            among = board.mines & ~run.flags or shape.full
        elif what == "tap an open one":
            among = run.opened or shape.full
        elif what == "tap a safe one" and board is not None:
            among = board.safe & ~run.opened or shape.full
        cells = shape.cells_in(among)
        yield ("flag" if what.startswith("flag") else "tap"), cells[pick % len(cells)]
