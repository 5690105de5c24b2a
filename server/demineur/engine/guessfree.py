"""Boards that logic alone clears, the number of mines known, and the search for them.

Law of this module: an answer is never a guess itself. `is_guess_free` says yes or no only when it
knows; `find_guess_free` gives the smallest attempt whose board is guess-free, or says plainly why
it gives none. It never passes over an attempt that it could not decide.

Every deduction is made from what a player would see at that point; the board is consulted only
for the numbers of cells already proved safe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from demineur.engine.board import Board
from demineur.engine.deduction_knowledge import NOTHING, Knowledge, Reaches, Rule
from demineur.engine.deduction_rules import Found
from demineur.engine.effort import Effort, EffortExceededError, SearchStoppedError
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.regions import flood
from demineur.engine.seeding import Layout

BOARD_EFFORT: Final = 2_000_000
"""Moves of enumeration for one board, about two seconds and some hundred MB at the very worst.

The search's answer does not depend on it, since an attempt that needs more ends the search as
`Outcome.UNDECIDED`.
"""

MAX_ATTEMPTS: Final = 10_000
"""Attempts that a search makes unless it is told otherwise."""


class Outcome(StrEnum):
    """How a search ended."""

    FOUND = "found"
    """`attempt` is the smallest whose board is guess-free."""
    NONE = "none"
    """None of the attempts allowed gives such a board."""
    STOPPED = "stopped"
    """The caller asked to stop first."""
    UNDECIDED = "undecided"
    """Whether `attempt` does could not be found out with the effort allowed."""


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for a guess-free board came to.

    Attributes:
        outcome: how it ended.
        attempt: the attempt it ended at; all before it are known not to be guess-free.
        layout: the layout of that attempt when it was found, else None.
    """

    outcome: Outcome
    attempt: int
    layout: Layout | None = None


def is_guess_free(board: Board, start: Cell, *, effort: int | None = BOARD_EFFORT) -> bool | None:
    """Whether deduction alone clears `board` once `start` is open; None when it takes too long.

    `effort` bounds the enumeration, in moves tried for the whole board; None is no bound. A start
    on a mine clears nothing.

    >>> from demineur.engine.geometry import geometry
    >>> board = Board.from_cells(geometry(4, 3), [1, 3])
    >>> board
    1 * 2 *
    1 1 2 1
    0 0 0 0
    >>> is_guess_free(board, 8)
    True
    >>> board = Board.from_cells(geometry(2, 3), [0])
    >>> board
    * 1
    1 1
    0 0
    >>> is_guess_free(board, 4)
    False

    Raises:
        CellOffBoardError: the start is not on the board.
    """
    try:
        return _clears(board, start, Effort(effort))
    except EffortExceededError:
        return None


def find_guess_free(
    geometry: Geometry,
    mines: int,
    seed: bytes,
    marked: Cell,
    *,
    max_attempts: int = MAX_ATTEMPTS,
    effort: int | None = BOARD_EFFORT,
    should_stop: Callable[[], bool] | None = None,
) -> Search:
    """The smallest attempt of `seed` whose board deduction alone clears from `marked`.

    `should_stop` is asked before every attempt and many times in a long enumeration; it is how a
    caller sets a time limit. `effort` is for each attempt.

    Raises:
        CellOffBoardError: `marked` is not on the board.
        EngineError: a seed cannot make such a board.
    """
    geometry.check(marked)
    for attempt in range(max_attempts):
        if should_stop is not None and should_stop():
            return Search(Outcome.STOPPED, attempt)
        layout = Layout(geometry, mines, seed, attempt)
        try:
            if _clears(layout.board(marked), marked, Effort(effort, should_stop)):
                return Search(Outcome.FOUND, attempt, layout)
        except EffortExceededError:
            return Search(Outcome.UNDECIDED, attempt)
        except SearchStoppedError:
            return Search(Outcome.STOPPED, attempt)
    return Search(Outcome.NONE, max_attempts)


def _clears(board: Board, start: Cell, effort: Effort) -> bool:
    shape = board.geometry
    opened = board.cascade(start)
    if not opened:
        return False
    knowledge = Knowledge(
        shape, board.mine_count, board.planes, opened, shape.full & ~opened, mines=0
    )
    known: Reaches = {}
    while knowledge.numbers != board.safe:
        found = knowledge.step(Rule.OVERLAP)
        if found == NOTHING:
            found = _strongest(knowledge, effort, known)
            if found == NOTHING:
                return False
        knowledge.learn(*found)
        _open(knowledge, board)
    return True


def _strongest(knowledge: Knowledge, effort: Effort, known: Reaches) -> Found:
    """What enumeration finds where the cheap rules find nothing; the count only if it must.

    Raises:
        EffortExceededError: nothing was found before the effort ran out.
        SearchStoppedError: the caller of the search wants no more.
    """
    if not knowledge.lacking:
        return knowledge.unknown, 0
    complete = knowledge.reach(effort, known)
    safe = mined = 0
    for reach in known.values():
        alone = reach.alone()
        safe |= alone[0]
        mined |= alone[1]
    if safe or mined:
        return safe, mined
    if not complete:
        raise EffortExceededError
    return knowledge.by_count(known)


def _open(knowledge: Knowledge, board: Board) -> None:
    """Open the cells that were proved safe, cascades included."""
    opened: Mask = knowledge.safe
    zeros = opened & board.zeros
    if zeros:
        opened |= board.geometry.spread(flood(board.geometry, zeros, board.zeros))
    knowledge.numbers |= opened
    knowledge.unknown &= ~opened
    knowledge.safe = 0
