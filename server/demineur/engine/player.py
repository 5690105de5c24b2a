"""A player that needs no person: from what it sees, its next move.

Law of this module: a player sees a `View` and nothing else, reads no clock and draws no
randomness of its own: it says how long a person would take, and whoever plays it waits, and all
its whims come from the source it is given. The same source and views give the same moves.

It plays what is certain first, with the simplest reasoning that will do, and guesses the least
risky cell when nothing is. What it has deduced it keeps until it is played, so that it thinks
once for many moves; a player is therefore for one run, with a view that only grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from demineur.engine.board import number_planes
from demineur.engine.chance import mine_chances
from demineur.engine.deduction_knowledge import Knowledge, Rule, conclude
from demineur.engine.effort import Effort
from demineur.engine.errors import EngineError
from demineur.engine.geometry import Cell, Mask
from demineur.engine.view import View

PLAYER_EFFORT: Final = 20_000
"""Moves of enumeration for one decision: enough for every level, 20 ms at the worst."""


class RandomSource(Protocol):
    """Where a player's whims come from; `random.Random` is one."""

    def random(self) -> float:
        """A number from 0.0, included, to 1.0, not included."""
        ...


class Action(StrEnum):
    """The two moves of the game."""

    TAP = "tap"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Style:
    """How a player plays.

    Attributes:
        pace_ms: mean time between moves in milliseconds, 0 or more; each is from half of it to
            one and a half.
        error_rate: share of moves, 0.0 to 1.0, that slip to a hidden cell beside the one meant.
        flags: whether it flags mines and chords where that opens several cells at once, or only
            taps.

    Raises:
        EngineError: a value is out of its range.
    """

    pace_ms: int = 600
    error_rate: float = 0.0
    flags: bool = True

    def __post_init__(self) -> None:
        if self.pace_ms < 0:
            raise EngineError(f"a pace is 0 ms or more, not {self.pace_ms}")
        if not 0.0 <= self.error_rate <= 1.0:
            raise EngineError(f"an error rate is from 0 to 1, not {self.error_rate}")


@dataclass(frozen=True, slots=True)
class Move:
    """What a player does next.

    Attributes:
        action: a tap (on an open number: a chord) or a flag set or lifted.
        cell: where.
        delay_ms: how long after its last move a person would make it, in milliseconds.
        risk: the chance that it opens a mine as far as the player knows, 0.0 when certain; for a
            slip, that of the move it meant.
        slip: whether it is a mistake on purpose.
    """

    action: Action
    cell: Cell
    delay_ms: int
    risk: float = 0.0
    slip: bool = False


class Player:
    """A player of one run.

    Attributes:
        style: how it plays.
        guesses: moves so far of which it was not certain, the first tap not counted.

    >>> from random import Random
    >>> from demineur.engine.board import Board
    >>> from demineur.engine.geometry import geometry
    >>> from demineur.engine.run import Run
    >>> run = Run(Board.from_cells(geometry(4, 3), [1, 3]))
    >>> player = Player(Style(pace_ms=0, flags=False), Random(1), start=8)
    >>> while move := player.next(View.of(run)):
    ...     _ = run.tap(move.cell)
    >>> run.status, player.guesses
    (<Status.WON: 'won'>, 0)
    """

    __slots__ = ("_effort", "_mines", "_safe", "_source", "_start", "guesses", "style")

    def __init__(
        self,
        style: Style,
        source: RandomSource,
        *,
        start: Cell | None = None,
        effort: int | None = PLAYER_EFFORT,
    ) -> None:
        """`start` is where it taps first (None: anywhere), `effort` what one decision may take."""
        self.style = style
        self.guesses = 0
        self._source = source
        self._start = start
        self._effort = effort
        self._safe: Mask = 0
        self._mines: Mask = 0

    def next(self, view: View) -> Move | None:
        """The next move; None when no safe cell is hidden any more.

        Thinking of new certain cells takes 50 to 100 µs on Expert, playing one that is known 5 to
        20 µs, and a guess some milliseconds.

        Raises:
            CellOffBoardError: the start is not on the board.
            EngineError: no layout of mines fits the view.
        """
        hidden = view.hidden
        if hidden.bit_count() + view.exploded.bit_count() <= view.mine_count:
            return None
        if not view.opened | view.exploded and self._start is not None:
            view.geometry.check(self._start)
            return self._make(view, Action.TAP, view.geometry.bit[self._start], 0.0)
        # A cell that a slip opened is not in question any more.
        self._safe &= hidden
        self._mines &= hidden
        if not self._safe:
            self._think(view)
        if self._safe:
            action, bit = self._certain(view)
            return self._make(view, action, bit, 0.0)
        bit, risk = self._guess(view)
        if view.flags & bit:
            return self._make(view, Action.FLAG, bit, 0.0)
        if view.opened | view.exploded:
            self.guesses += 1
        return self._make(view, Action.TAP, bit, risk)

    def _think(self, view: View) -> None:
        knowledge = Knowledge.of(view)
        knowledge.learn(0, self._mines)
        knowledge.settle()
        if not knowledge.safe:
            conclude(knowledge, Rule.COUNT, Effort(self._effort))
        self._safe = knowledge.safe
        self._mines = knowledge.mines & view.hidden

    def _certain(self, view: View) -> tuple[Action, Mask]:
        """The move that makes the most of the known safe cells, of which there are some."""
        safe = self._safe
        wrong = view.flags & safe
        if wrong:
            return Action.FLAG, wrong & -wrong
        if self.style.flags:
            chord, to_flag = self._chords(view, safe)
            if chord:
                return Action.TAP, chord & -chord
            if to_flag:
                return Action.FLAG, to_flag & -to_flag
        return Action.TAP, safe & -safe

    def _chords(self, view: View, safe: Mask) -> tuple[Mask, Mask]:
        """Numbers to chord at once, and mines to flag so that more can be.

        A chord pays when it opens two cells or more, and is sure when all hidden cells around the
        number are known.
        """
        shape = view.geometry
        in_doubt = view.hidden & ~(safe | self._mines)
        _, two, four, eight = number_planes(shape, safe)
        worth = (two | four | eight) & view.opened & ~shape.spread(in_doubt)
        if not worth:
            return 0, 0
        ready = worth
        counts = number_planes(shape, view.flags | view.exploded)
        for number, count in zip(view.planes, counts, strict=True):
            ready &= ~(number ^ count)
        return ready, self._mines & ~view.flags & shape.spread(worth)

    def _guess(self, view: View) -> tuple[Mask, float]:
        """A cell that is least likely to hold a mine, and how likely."""
        chances = mine_chances(view, effort=self._effort)
        cells, risk = chances.safest() if chances else _roughly_safest(view, self._mines)
        return self._pick(view, cells), risk

    def _make(self, view: View, action: Action, bit: Mask, risk: float) -> Move:
        pace = self.style.pace_ms
        delay_ms = round(pace * (0.5 + self._source.random())) if pace else 0
        slip = self._slip(view, bit)
        if slip:
            return Move(Action.TAP, _cell(view, slip), delay_ms, risk, slip=True)
        return Move(action, _cell(view, bit), delay_ms, risk)

    def _slip(self, view: View, bit: Mask) -> Mask:
        rate = self.style.error_rate
        if not rate or self._source.random() >= rate:
            return 0
        near = view.geometry.spread(bit) & view.hidden & ~view.flags & ~bit
        return self._pick(view, near) if near else 0

    def _pick(self, view: View, cells: Mask) -> Mask:
        choice = view.geometry.cells_in(cells)
        return view.geometry.bit[choice[int(self._source.random() * len(choice))]]


def _cell(view: View, bit: Mask) -> Cell:
    at = bit.bit_length() - 1
    return at - at // view.geometry.stride


def _roughly_safest(view: View, mines: Mask) -> tuple[Mask, float]:
    """The least risky cells by a rule of thumb, for when the chances are too much work.

    A cell is as risky as the worst number beside it says alone, and one that no number touches as
    the share of mines among all cells in doubt.
    """
    shape = view.geometry
    found = view.exploded | mines
    unknown = view.hidden & ~mines
    share = (view.mine_count - found.bit_count()) / unknown.bit_count()
    risks: dict[Cell, float] = {}
    for cell in shape.cells_in(view.opened & shape.spread(unknown)):
        near = shape.around[cell] & unknown
        lacking = (view.number(cell) or 0) - (shape.around[cell] & found).bit_count()
        for beside in shape.cells_in(near):
            risks[beside] = max(risks.get(beside, 0.0), lacking / near.bit_count())
    for cell in shape.cells_in(unknown):
        risks.setdefault(cell, share)
    least = min(risks.values())
    return shape.mask(cell for cell, risk in risks.items() if risk == least), least
