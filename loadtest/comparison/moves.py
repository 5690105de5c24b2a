"""Single moves, what a server does after each, and what a run weighs."""

import statistics
import tracemalloc
from collections.abc import Iterator

from demineur.engine import (
    LEVELS,
    Board,
    Layout,
    Level,
    Run,
    decode_run,
    encode_run,
    segments,
)
from loadtest.comparison.boards import seeded
from loadtest.comparison.measuring import Batch, Measure, Row, Work

PLANES = "number planes, expert"
"""The measure of single moves: about 2 us where the goals were set, less on faster machines."""


def rows(measure: Measure) -> Iterator[Row]:
    """The rows of this subject."""
    expert = LEVELS["expert"]
    masks = [board.mines for board in seeded(expert)]
    planes = Batch(lambda: [Board(expert.geometry, mask).planes for mask in masks], len(masks))
    standard = measure.medians_us({PLANES: planes})
    yield _taps(measure, expert, standard)
    yield from _cascades(measure, LEVELS["marathon"], standard)
    yield from _after_each_move(measure, expert, standard)
    yield _memory(expert)


def _taps(measure: Measure, level: Level, standard: dict[str, float]) -> Row:
    """Taps that open one cell each: all isolated cells but the last."""
    boards = [(board, level.geometry.cells_in(board.isolated)) for board in seeded(level)]

    def play() -> None:
        for board, cells in boards:
            run = Run(board)
            for cell in cells:
                run.tap(cell)

    taps = sum(len(cells) for _, cells in boards)
    found = measure.medians_us({"": Batch(play, taps)})
    return Row(f"a tap that opens one cell, {level.id}", found[""], standard, goal=1.5)


def _cascades(measure: Measure, level: Level, standard: dict[str, float]) -> Iterator[Row]:
    """The first tap on each of 20 boards that are there; the largest opens over 2,500 cells."""
    first = level.geometry.cells // 2 + level.width // 2
    found = measure.each_us([_first_tap(board, first) for board in seeded(level)])
    middle = statistics.median(found)
    yield Row(f"a whole cascade, {level.id}, median", middle, standard, goal=75)
    yield Row(f"a whole cascade, {level.id}, worst of 20", max(found), standard)


def _first_tap(board: Board, cell: int) -> Work:
    return lambda: Run(board).tap(cell)


def _after_each_move(measure: Measure, level: Level, standard: dict[str, float]) -> Iterator[Row]:
    first = level.geometry.cells // 2 + level.width // 2
    run = Run(Layout(level.geometry, level.mines, bytes(16)))
    revealed = run.tap(first)
    cell = revealed & -revealed
    data = encode_run(run)
    batches = {
        "3BV solved": Batch(lambda: run.three_bv_solved),
        "one cell as text": Batch(lambda: segments(run, cell)),
        "a cascade as text": Batch(lambda: segments(run, revealed)),
        "a run to bytes": Batch(lambda: encode_run(run)),
        "a run from bytes, with its board": Batch(lambda: decode_run(data)),
    }
    for name, figure in measure.medians_us(batches).items():
        yield Row(f"{name}, {level.id}", figure, standard)


def _memory(level: Level) -> Row:
    """Bytes of a run just before its end, with all flags set, beside the shared board."""
    boards = Layout(level.geometry, level.mines, bytes(16))
    board = boards.board(0)
    mines, safe = (level.geometry.cells_in(mask) for mask in (board.mines, board.safe))
    assert board.isolated

    def nearly_won() -> Run:
        run = Run(board)
        run.tap(0)
        for cell in mines[:-1]:
            run.flag(cell)
        for cell in safe[:-1]:
            run.tap(cell)
        return run

    runs: list[Run | None] = [None] * 500
    tracemalloc.start()
    before_bytes, _ = tracemalloc.get_traced_memory()
    for at in range(len(runs)):
        runs[at] = nearly_won()
    after_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    taken = (after_bytes - before_bytes) / len(runs)
    return Row(f"memory of a run in play, {level.id}", taken, {"goal in bytes": 400}, 1.0, "bytes")
