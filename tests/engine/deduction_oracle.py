"""What deduction is held against: brute force, the rules written plainly, and ms_toollib.

Nothing here uses the engine's deduction. ms_toollib is asked in a process of its own, because it
can abort the one that it is in.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from types import TracebackType
from typing import Self

from demineur.engine import LEVELS, Board, Layout, Level, Run, Status, View, geometry
from tests.engine.naive import neighbours

FULL = os.environ.get("DEMINEUR_FULL") == "1"
"""Whether the long forms of the tests run; they differ in nothing but how many cases they take."""

DENSE = (Level("dense square", 16, 16, 51), Level("dense wide", 30, 16, 99))
ALL_LEVELS = (*LEVELS.values(), *DENSE)

CHILD = Path(__file__).with_name("toollib_child.py")


def drawn(text: str, mines: int) -> View:
    """A view from lines of numbers, '.' for hidden and '*' for exploded, spaces ignored."""
    rows = [line.replace(" ", "") for line in text.split("\n") if line.strip()]
    view = View.empty(geometry(len(rows[0]), len(rows)), mines)
    view.add([(cell, mark) for cell, mark in enumerate("".join(rows)) if mark != "."])
    return view


class Facts:
    """A view in plain terms: the hidden cells, and what each number says of its neighbours.

    Sets of cells are ints with bit `cell` for a cell, unlike the engine's. With `numbers`, only
    the numbers of these cells are in use.
    """

    def __init__(self, view: View, numbers: list[int] | None = None) -> None:
        shape = view.geometry
        self.hidden = shape.cells_in(view.hidden)
        exploded = set(shape.cells_in(view.exploded))
        self.mines = view.mine_count - len(exploded)
        self.says: list[tuple[int, int]] = []
        for cell in shape.cells_in(view.opened) if numbers is None else numbers:
            around = neighbours(shape.width, shape.height, cell)
            value = view.number(cell)
            assert value is not None
            hidden = bits(near for near in around if near in self.hidden)
            self.says.append((hidden, value - len(exploded.intersection(around))))

    def given(self, safe: set[int], mined: set[int]) -> Self:
        """The same with some cells known, and no longer hidden."""
        self.hidden = [cell for cell in self.hidden if cell not in safe | mined]
        self.mines -= len(mined)
        known = bits(iter(mined))
        left = bits(iter(self.hidden))
        self.says = [
            (around & left, value - (around & known).bit_count()) for around, value in self.says
        ]
        return self

    def fits(self, mines: int) -> bool:
        return all((mines & around).bit_count() == value for around, value in self.says)


def bits(cells: Iterator[int]) -> int:
    return sum(1 << cell for cell in cells)


def members(mask: int) -> set[int]:
    return {cell for cell in range(mask.bit_length()) if mask >> cell & 1}


def brute_force(facts: Facts) -> tuple[int, dict[int, int]]:
    """How many layouts fit, and how many of them have a mine on each hidden cell."""
    layouts = 0
    with_mine = dict.fromkeys(facts.hidden, 0)
    for chosen in combinations(facts.hidden, facts.mines):
        if facts.fits(sum(1 << cell for cell in chosen)):
            layouts += 1
            for cell in chosen:
                with_mine[cell] += 1
    return layouts, with_mine


def certain_by_count(facts: Facts) -> tuple[set[int], set[int]]:
    """Cells safe and cells mined in every layout with the right number of mines."""
    layouts, with_mine = brute_force(facts)
    return (
        {cell for cell, count in with_mine.items() if count == 0},
        {cell for cell, count in with_mine.items() if count == layouts},
    )


def certain_by_numbers(facts: Facts) -> tuple[set[int], set[int]]:
    """Cells safe and cells mined in every layout, with any number of mines."""
    every = 0
    for around, _ in facts.says:
        every |= around
    ever, always, mines = 0, every, every
    while True:
        if facts.fits(mines):
            ever |= mines
            always &= mines
        if not mines:
            return members(every & ~ever), members(always)
        mines = (mines - 1) & every


def certain_by_rules(facts: Facts, pairs: str = "") -> tuple[set[int], set[int]]:
    """What single numbers, and `pairs` ("", "subset" or "overlap"), prove over and over."""
    safe = mined = 0
    while True:
        before = safe, mined
        left = [
            (around & ~safe & ~mined, value - (around & mined).bit_count())
            for around, value in facts.says
        ]
        for cells, lacking in left:
            safe |= cells if lacking == 0 else 0
            mined |= cells if lacking == cells.bit_count() else 0
        for (a, lacks_a), (b, lacks_b) in permutations(left, 2) if pairs else ():
            fixed = lacks_b - lacks_a == (b & ~a).bit_count() and a & b
            if fixed and (pairs == "overlap" or not a & ~b or not b & ~a):
                safe |= a & ~b
                mined |= b & ~a
        if (safe, mined) == before:
            return members(safe), members(mined)


def small_views(seed: int, count: int, cells: int = 20) -> Iterator[View]:
    """Views of small boards, every other one of a run, the rest with any safe cells open.

    The latter reach much that no run does, since a zero may stand among hidden cells.
    """
    dice = random.Random(seed)
    sizes = [(w, h) for w in range(1, 10) for h in range(1, 10) if cells - 6 <= w * h <= cells]
    for turn in range(count):
        shape = geometry(*dice.choice(sizes))
        mines = dice.sample(range(shape.cells), dice.randint(1, min(6, shape.cells - 2)))
        run = Run(Board.from_cells(shape, mines), penalty=True)
        if turn % 2:
            for _ in range(dice.randint(1, 4)):
                run.tap(dice.randrange(shape.cells))
            yield View.of(run)
        else:
            share = dice.random() * 0.7
            opened = [cell for cell in range(shape.cells) if dice.random() < share]
            yield view_of(Board.from_cells(shape, mines), shape.mask(opened))


def view_of(board: Board, revealed: int) -> View:
    """The view in which just the cells of `revealed` are open, or exploded."""
    view = View.empty(board.geometry, board.mine_count)
    view.opened = opened = revealed & board.safe
    view.exploded = revealed & board.mines
    one, two, four, eight = board.planes
    view.planes = (one & opened, two & opened, four & opened, eight & opened)
    return view


def level_runs(level: Level, seed: int, count: int) -> Iterator[Run]:
    """Reachable positions of a level: some safe cells were opened, near others or anywhere."""
    dice = random.Random(f"{level.id} {seed}")
    shape = level.geometry
    while count:
        run = Run(Layout(shape, level.mines, dice.randbytes(16)))
        run.tap(dice.randrange(shape.cells))
        board = run.board
        assert board is not None
        stay_near = dice.random() < 0.6
        for _ in range(dice.randrange(60)):
            left = board.safe & ~run.opened
            near = left & shape.spread(run.opened) if stay_near else 0
            if left:
                run.tap(dice.choice(shape.cells_in(near or left)))
        if run.status is Status.PLAYING:
            count -= 1
            yield run


class Toollib:
    """ms_toollib in a child process that is started again when it died."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._end()

    def chances(self, view: View) -> list[float] | None:
        """The mine probability of every cell by ms_toollib, or None where it died of the view."""
        shape = view.geometry
        cells = [view.number(cell) for cell in range(shape.cells)]
        rows = range(0, shape.cells, shape.width)
        board = [[10 if n is None else n for n in cells[at : at + shape.width]] for at in rows]
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps([board, view.mine_count]) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            self._end()
            return None
        chances: list[float] = json.loads(answer)
        return chances

    def _end(self) -> None:
        if self._child is not None:
            with self._child as child:
                child.kill()
            self._child = None
