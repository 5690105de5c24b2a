"""Microseconds for what the engine does in a race, on boards of each level.

    python loadtest/bench_engine.py --level expert --json

Each figure is the best of five rounds over the same 200 boards, so that what else the machine
does counts as little as possible. `naive` counts the mines around each cell one by one, as
nearly everybody would write it: what the bit planes are measured against.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from demineur.engine import LEVELS, Board, Layout, Level, Run, segments

BOARDS = 200
ROUNDS = 5


@dataclass
class Figures:
    """Microseconds each."""

    level: str
    order_from_seed: float
    first_tap: float
    numbers: float
    numbers_naive: float
    three_bv: float
    tap: float
    tap_and_segments: float


def best_us(work: Callable[[], object], times: int) -> float:
    """Return microseconds for one of the ``times`` things that ``work`` does."""
    best_ns = min(_once_ns(work) for _ in range(ROUNDS))
    return round(best_ns / 1000 / times, 2)


def _once_ns(work: Callable[[], object]) -> int:
    start_ns = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - start_ns


def naive_numbers(width: int, height: int, mines: frozenset[int]) -> list[int]:
    """Count the mines around every cell, one by one."""
    return [
        sum(
            y * width + x in mines
            for y in range(max(0, row - 1), min(height, row + 2))
            for x in range(max(0, column - 1), min(width, column + 2))
        )
        for row in range(height)
        for column in range(width)
    ]


def safe_taps(run: Run, board: Board) -> list[int]:
    """Return the taps that clear the board without a flag, one for each unit of 3BV or so."""
    taps = []
    for cell in run.geometry.cells_in(board.zeros) + run.geometry.cells_in(board.safe):
        if not run.opened & run.geometry.bit[cell]:
            taps.append(cell)
            run.tap(cell)
    return taps


def play(layouts: Sequence[Layout], games: Sequence[list[int]], *, tell: bool) -> None:
    """Play every game; with ``tell`` also write what each tap opened, as a node does."""
    for layout, game in zip(layouts, games, strict=True):
        run = Run(layout)
        for cell in game:
            opened = run.tap(cell)
            if tell:
                segments(run, opened)


def measure(level: Level) -> Figures:
    """Measure one level."""
    geometry = level.geometry
    seeds = [number.to_bytes(16, "big") for number in range(BOARDS)]
    first = geometry.cells // 2 + geometry.width // 2
    layouts = [Layout(geometry, level.mines, seed) for seed in seeds]
    masks = [layout.mines_for(first) for layout in layouts]
    cells = [frozenset(geometry.cells_in(mask)) for mask in masks]
    games = []
    for layout in layouts:
        run = Run(layout)
        run.tap(first)
        games.append([first, *safe_taps(run, layout.board(first))])
    taps = sum(map(len, games))
    few = max(1, BOARDS // 10)
    return Figures(
        level=level.id,
        order_from_seed=best_us(
            lambda: [Layout(geometry, level.mines, seed) for seed in seeds], BOARDS
        ),
        first_tap=best_us(lambda: [Run(layout).tap(first) for layout in layouts], BOARDS),
        numbers=best_us(lambda: [Board(geometry, mask).planes for mask in masks], BOARDS),
        numbers_naive=best_us(
            lambda: [naive_numbers(level.width, level.height, each) for each in cells[:few]], few
        ),
        three_bv=best_us(lambda: [Board(geometry, mask).three_bv for mask in masks], BOARDS),
        tap=best_us(lambda: play(layouts, games, tell=False), taps),
        tap_and_segments=best_us(lambda: play(layouts, games, tell=True), taps),
    )


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--level", choices=LEVELS, action="append")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = [asdict(measure(LEVELS[name])) for name in arguments.level or LEVELS]
    if arguments.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for name in found[0]:
        print(f"{name.replace('_', ' '):18}", *(f"{figures[name]:>13}" for figures in found))


if __name__ == "__main__":
    main()
