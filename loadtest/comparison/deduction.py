"""Reasoning: guess-free boards, what is certain, chances, and a player's moves.

Searches differ from seed to seed by a factor of a hundred, so theirs are quantiles over many
seeds. What ms_toollib calls solvable is less: it does not count mines, so it passes over boards
that are guess-free here, and the two searches do not end at the same boards.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count

from demineur.engine import (
    LEVELS,
    Board,
    Layout,
    Level,
    Player,
    Run,
    Status,
    Style,
    View,
    deduce,
    find_guess_free,
    is_guess_free,
    mine_chances,
)
from loadtest.comparison import plain, rivals
from loadtest.comparison.boards import as_rows, seeded
from loadtest.comparison.measuring import Batch, Measure, Row
from loadtest.comparison.moves import PLANES

SEARCHES = 400
POSITIONS = 20
DENSE = Level("30x16 with 99", 30, 16, 99)
HIDDEN = 10
"""A hidden cell in ms_toollib's boards."""


def rows(measure: Measure) -> Iterator[Row]:
    """The rows of this subject."""
    expert, marathon = LEVELS["expert"], LEVELS["marathon"]
    masks = [board.mines for board in seeded(expert)]
    planes = Batch(lambda: [Board(expert.geometry, mask).planes for mask in masks], len(masks))
    standard = measure.medians_us({PLANES: planes})
    # The goals, 10 ms and 500 ms, were set where the planes of Expert take 2 us.
    yield from _searches(expert, standard, median_goal=5_000)
    yield from _searches(marathon, standard, p99_goal=250_000)
    yield from _searches(DENSE, standard)
    for level in (expert, DENSE):
        yield _checks(measure, level)
        yield from _positions(measure, level)
    for flags in (False, True):
        yield _moves(measure, expert, standard, flags=flags)


def _searches(
    level: Level,
    standard: dict[str, float],
    median_goal: float | None = None,
    p99_goal: float | None = None,
) -> Iterator[Row]:
    marked = level.height // 2 * level.width + level.width // 2
    seeds = [number.to_bytes(16, "big") for number in range(SEARCHES)]
    spent = _each_us(lambda seed: find_guess_free(level.geometry, level.mines, seed, marked), seeds)
    p99 = statistics.quantiles(spent, n=100)[-1]
    name = f"guess-free board, {level.id}"
    if ms := rivals.ms_toollib():
        row, column = divmod(marked, level.width)
        size = (level.height, level.width, level.mines, row, column)
        theirs = _each_us(lambda _: ms.laymine_solvable(*size), seeds[:100])
        others = {"ms_toollib": statistics.median(theirs)}
        yield Row(f"{name}, median", statistics.median(spent), others)
    yield Row(f"{name}, median", statistics.median(spent), standard, median_goal)
    yield Row(f"{name}, p99", p99, standard, p99_goal)


def _each_us(work: Callable[[bytes], object], seeds: Sequence[bytes]) -> list[float]:
    """Microseconds for each seed, the median of three."""
    taken = []
    for seed in seeds:
        rounds = []
        for _ in range(3):
            start_ns = time.perf_counter_ns()
            work(seed)
            rounds.append((time.perf_counter_ns() - start_ns) / 1000)
        taken.append(statistics.median(rounds))
    return taken


def _checks(measure: Measure, level: Level) -> Row:
    row, column = level.height // 2, level.width // 2
    start = row * level.width + column
    boards = seeded(level)
    rows: list[plain.Rows] = [as_rows(board) for board in boards]
    others = {}
    if ms := rivals.ms_toollib():
        others["ms_toollib"] = Batch(
            lambda: [ms.is_solvable(board, row, column) for board in rows], len(rows)
        )
    ours = Batch(lambda: [is_guess_free(board, start) for board in boards], len(boards))
    return measure.row(f"is it guess-free, {level.id}", ours, others)


def _positions(measure: Measure, level: Level) -> Iterator[Row]:
    views = list(_reached(level, POSITIONS))
    others = {}
    if ms := rivals.ms_toollib():
        boards = [_as_toollib(view) for view in views]
        others["ms_toollib"] = Batch(
            lambda: [ms.cal_probability_onboard(board, level.mines) for board in boards],
            len(boards),
        )
    certain = Batch(lambda: [deduce(view) for view in views], len(views))
    yield measure.row(f"all that is certain, {level.id}", certain, others)
    chances = Batch(lambda: [mine_chances(view) for view in views], len(views))
    yield measure.row(f"chances of all cells, {level.id}", chances, others)


def _as_toollib(view: View) -> plain.Rows:
    shape = view.geometry
    cells = [view.number(cell) for cell in range(shape.cells)]
    marks = [HIDDEN if number is None else number for number in cells]
    return [marks[at : at + shape.width] for at in range(0, shape.cells, shape.width)]


def _reached(level: Level, wanted: int) -> Iterator[View]:
    """Views in mid-game: 15 safe cells beside open ones were tapped."""
    dice = random.Random(level.id)
    shape = level.geometry
    for number in count():
        run = Run(Layout(shape, level.mines, number.to_bytes(16, "big")))
        run.tap(dice.randrange(shape.cells))
        for _ in range(15):
            near = run.board.safe & ~run.opened & shape.spread(run.opened) if run.board else 0
            if near:
                run.tap(dice.choice(shape.cells_in(near)))
        if run.status is Status.PLAYING:
            yield View.of(run)
            wanted -= 1
        if not wanted:
            return


def _moves(measure: Measure, level: Level, standard: dict[str, float], *, flags: bool) -> Row:
    """Whole runs of a player, the thinking only: its views are those of a run made before."""
    games: list[list[View]] = []
    for number in range(POSITIONS):
        run = Run(Layout(level.geometry, level.mines, number.to_bytes(16, "big")), penalty=True)
        player = Player(Style(flags=flags), random.Random(number), start=0)
        views = [View.of(run)]
        while move := player.next(views[-1]):
            _ = run.tap(move.cell) if move.action == "tap" else run.flag(move.cell)
            views.append(View.of(run))
        games.append(views)

    def think() -> None:
        for number, views in enumerate(games):
            player = Player(Style(flags=flags), random.Random(number), start=0)
            for view in views:
                player.next(view)

    found = measure.medians_us({"": Batch(think, sum(map(len, games)))})
    name = "flags and chords" if flags else "no flags"
    return Row(f"a player's move, {name}, {level.id}", found[""], standard, goal=25)
