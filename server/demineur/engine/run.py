"""One player's run on a board: everything that the rules of the game say is here.

Two moves exist, `Run.tap` and `Run.flag`. Each either changes the run or is ignored;
a move that is ignored changes nothing, not even the counts of moves. No other module
changes a run, and this one reads no clock: who calls knows when a move was made.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from demineur.engine.board import Board
from demineur.engine.errors import CellOffBoardError, EngineError
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.regions import cascade, count_regions
from demineur.engine.seeding import Layout


class Status(StrEnum):
    """How far a run is."""

    READY = "ready"
    PLAYING = "playing"
    WON = "won"
    LOST = "lost"


# Members of an enum are looked up through its metaclass; a move takes a microsecond.
_READY: Final = Status.READY
_PLAYING: Final = Status.PLAYING
_WON: Final = Status.WON
_LOST: Final = Status.LOST


class Run:
    """A run on the boards of a `Layout`, or on one `Board` taken as it is.

    On a layout the first tap makes the board and is protected. On a board nothing is:
    the first tap may explode. With `penalty` a mine that opens does not end the run: it
    stays open and counts as a flag.

    Attributes:
        board: the board; of a layout, None before the first tap.
        geometry: its shape.
        penalty: whether a mine that opens costs a penalty instead of the run.
        opened: open cells without a mine.
        flags: cells that carry a flag.
        exploded: mines that opened.
        status: ready, playing, won or lost.
        first_tap: the cell of the first tap, None before it.
        taps: taps made, chords included, that were not ignored.
        flag_moves: flags set or lifted.

    >>> from demineur.engine.geometry import geometry
    >>> run = Run(Board.from_cells(geometry(6, 4), [3, 6, 22]))
    >>> shape = run.geometry
    >>> print(shape.draw(run.tap(18)))
    . . . . . .
    . # # # . .
    # # # # . .
    # # # # . .
    >>> run.flag(6), run.flag(3), run.mine_counter
    (True, True, 1)
    >>> print(shape.draw(run.tap(8)))  # a chord
    . # # . . .
    . . . . . .
    . . . . . .
    . . . . . .
    """

    __slots__ = (
        "_openings_open",
        "_source",
        "board",
        "exploded",
        "first_tap",
        "flag_moves",
        "flags",
        "geometry",
        "opened",
        "penalty",
        "status",
        "taps",
    )

    def __init__(self, source: Layout | Board, *, penalty: bool = False) -> None:
        self._source = source
        self.geometry: Geometry = source.geometry
        self.board: Board | None = source if isinstance(source, Board) else None
        self.penalty = penalty
        self.opened: Mask = 0
        self.flags: Mask = 0
        self.exploded: Mask = 0
        self.status = _READY
        self.first_tap: Cell | None = None
        self.taps = 0
        self.flag_moves = 0
        self._openings_open = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # a run changes

    @classmethod
    def resume(
        cls,
        source: Layout | Board,
        *,
        penalty: bool,
        first_tap: Cell,
        opened: Mask,
        flags: Mask,
        exploded: Mask,
        taps: int,
        flag_moves: int,
    ) -> Run:
        """The run that had come so far; its status follows.

        Raises:
            EngineError: the rules do not let a run on `source` come to this.
        """
        run = cls(source, penalty=penalty)
        run.geometry.check(first_tap)
        board = run._begin(first_tap)
        run.opened, run.flags, run.exploded = opened, flags, exploded
        run.taps, run.flag_moves = taps, flag_moves
        if fault := _fault_of(run, board):
            raise EngineError(f"no run comes to this: {fault}")
        run._openings_open = count_regions(run.geometry, opened & board.zeros)
        run._settle(board)
        return run

    @property
    def source(self) -> Layout | Board:
        """What the run is played on."""
        return self._source

    @property
    def mine_count(self) -> int:
        """How many mines there are; known before the first tap."""
        return self._source.mine_count

    @property
    def mine_counter(self) -> int | None:
        """Mines less flags (and less exploded mines, with `penalty`); may be negative.

        None before the first tap.
        """
        if self.first_tap is None:
            return None
        marked = self.flags | self.exploded if self.penalty else self.flags
        return self.mine_count - marked.bit_count()

    @property
    def three_bv_solved(self) -> int:
        """How much of the board's 3BV is open: openings and isolated cells. Two operations."""
        board = self.board
        if board is None:
            return 0
        return self._openings_open + (self.opened & board.isolated).bit_count()

    @property
    def efficiency(self) -> float | None:
        """3BV solved by moves made; None when none was."""
        moves = self.taps + self.flag_moves
        return self.three_bv_solved / moves if moves else None

    def tap(self, cell: Cell) -> Mask:
        """Tap `cell`, and give everything that this opened, mines that exploded included.

        Empty when the move was ignored.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        cells = self.reach(cell)
        if not cells:
            return 0
        board = self.board
        if board is None or self.first_tap is None:
            board = self._begin(cell)
        self.taps += 1
        if cells & board.numbered != cells:
            return self._open(board, cells)
        self.opened |= cells
        if self.opened == board.safe:
            self.status = _WON
        return cells

    def reach(self, cell: Cell) -> Mask:
        """The hidden cells that a tap on `cell` would open by itself, without cascades.

        Empty when the rules would ignore the tap. Changes nothing: this is how who keeps a
        log knows beforehand whether a move belongs in it.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        geometry = self.geometry
        if not 0 <= cell < geometry.cells:
            raise CellOffBoardError(cell, geometry.width, geometry.height)
        bit = geometry.bit[cell]
        board = self.board
        if self.status is not _PLAYING or board is None:
            return bit if self.status is _READY else 0
        marked = self.flags | self.exploded if self.exploded else self.flags
        opened = self.opened
        if not bit & opened:
            return 0 if bit & marked else bit
        around = geometry.around[cell]
        if (marked & around).bit_count() != (board.mines & around).bit_count():
            return 0
        return around & ~(marked | opened)

    def flag(self, cell: Cell) -> bool:
        """Set the flag on `cell` or lift it; whether that changed anything.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        geometry = self.geometry
        if not 0 <= cell < geometry.cells:
            raise CellOffBoardError(cell, geometry.width, geometry.height)
        bit = geometry.bit[cell]
        if self.status is not _PLAYING or bit & self.opened or bit & self.exploded:
            return False
        self.flags ^= bit
        self.flag_moves += 1
        return True

    def _begin(self, cell: Cell) -> Board:
        source = self._source
        self.board = board = source.board(cell) if isinstance(source, Layout) else source
        self.first_tap = cell
        self.status = _PLAYING
        return board

    def _open(self, board: Board, cells: Mask) -> Mask:
        """Open hidden `cells` without flags, of which some are zeros or mines."""
        mines = cells & board.mines
        zeros = cells & board.zeros
        revealed = cells
        while zeros:
            opening = cascade(self.geometry, zeros & -zeros, board.zeros)
            zeros &= ~opening
            revealed |= opening
            self._openings_open += 1
        revealed &= ~self.opened
        self.opened |= revealed ^ mines
        self.flags &= ~revealed
        self.exploded |= mines
        self._settle(board)
        return revealed

    def _settle(self, board: Board) -> None:
        """Ended or not: a mine that opened loses, even along with the last safe cell."""
        if self.exploded and not self.penalty:
            self.status = _LOST
        elif self.opened == board.safe:
            self.status = _WON


def _fault_of(run: Run, board: Board) -> str | None:
    """Which rule the sets of cells of a run that has begun contradict."""
    geometry, opened = run.geometry, run.opened
    revealed = opened | run.exploded
    begun = 0 if run.first_tap is None else geometry.bit[run.first_tap]
    rules = (
        (opened & board.mines, "an open cell holds a mine"),
        (run.exploded & board.safe, "an exploded cell holds none"),
        (not begun & revealed, "the cell of the first tap is not open"),
        (run.flags & revealed, "an open cell has a flag"),
        (geometry.spread(opened & board.zeros) & ~opened, "a cascade is not complete"),
        (not run.taps, "no tap was made"),
        (run.flags.bit_count() > run.flag_moves, "more flags stand than were set"),
    )
    return next((fault for broken, fault in rules if broken), None)
