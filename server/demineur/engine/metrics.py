"""How hard a board is, and how well a run on it was played.

The terms are those that the players of the game have settled on (the Minesweeper Wiki
at minesweepergame.com, and the clones whose replays are exchanged: Arbiter, Freesweeper):

opening
    A connected region of zeros, by sides or corners, with the numbers that open with it.
isolated cell
    A safe cell that belongs to no opening. It has a number, and takes a tap of its own.
3BV
    Bechtel's Board Benchmark Value, after Stephan Bechtel: openings plus isolated
    cells, the least number of taps that clears the board when no flag is used.
island
    A connected region of isolated cells, by sides or corners.
3BV solved
    The part of a board's 3BV that is open: openings of which a zero is open (then all
    of it is) plus isolated cells that are. Cells at the border of an opening do not
    count, even when they were tapped. It is defined for a run in play or lost, too; a
    win has solved the 3BV in full.
3BV/s
    3BV solved in a second of the run's time.
efficiency
    3BV solved by moves made. Above 1 when chords open several isolated cells at once.
    A move that the rules ignore is not made.
"""

from __future__ import annotations

from dataclasses import dataclass

from demineur.engine.errors import EngineError
from demineur.engine.run import Run


def three_bv_per_s(three_bv_solved: int, elapsed_ms: int) -> float | None:
    """3BV solved in a second; None when no time has passed.

    >>> three_bv_per_s(20, 8_000)
    2.5
    """
    return three_bv_solved * 1000 / elapsed_ms if elapsed_ms else None


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of a run that has begun, in play or ended.

    Attributes:
        three_bv: of the board.
        openings: of the board.
        islands: of the board.
        three_bv_solved: by the run, 0 to `three_bv`.
        three_bv_per_s: None when no time has passed.
        taps: taps made, chords included.
        flag_moves: flags set or lifted.
        efficiency: `three_bv_solved` by `taps` and `flag_moves`.
    """

    three_bv: int
    openings: int
    islands: int
    three_bv_solved: int
    three_bv_per_s: float | None
    taps: int
    flag_moves: int
    efficiency: float | None

    @classmethod
    def of(cls, run: Run, elapsed_ms: int) -> Metrics:
        """The figures of `run` after `elapsed_ms` of its own time.

        Raises:
            EngineError: the run has not begun, so that there may be no board yet.
        """
        board = run.board
        if board is None or run.first_tap is None:
            raise EngineError("a run has no metrics before its first tap")
        solved = run.three_bv_solved
        return cls(
            three_bv=board.three_bv,
            openings=board.openings,
            islands=board.islands,
            three_bv_solved=solved,
            three_bv_per_s=three_bv_per_s(solved, elapsed_ms),
            taps=run.taps,
            flag_moves=run.flag_moves,
            efficiency=run.efficiency,
        )
