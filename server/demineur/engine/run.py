"""One player's run on a board: everything that the rules of the game say is here.

Two moves exist, `Run.tap` and `Run.flag`. Each either changes the run or is ignored;
a move that is ignored changes nothing, not even the counts of moves. No other module
changes a run, and this one reads no clock: who calls knows when a move was made.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from demineur.engine.board import Board
from demineur.engine.errors import CellOffBoardError
from demineur.engine.geometry import Cell, Geometry, Mask
from demineur.engine.regions import cascade
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
        geometry = self.geometry
        if not 0 <= cell < geometry.cells:
            raise CellOffBoardError(cell, geometry.width, geometry.height)
        board = self.board
        if self.status is not _PLAYING or board is None:
            return self._first_tap(cell) if self.status is _READY else 0
        cells = geometry.bit[cell]
        opened, flags = self.opened, self.flags
        if cells & opened:
            marked = flags | self.exploded if self.exploded else flags
            around = geometry.around[cell]
            if (marked & around).bit_count() != (board.mines & around).bit_count():
                return 0
            cells = around & ~(marked | opened)
            if not cells:
                return 0
        elif cells & flags or cells & self.exploded:
            return 0
        if cells & board.numbered != cells:
            return self._open(board, cells)
        self.taps += 1
        self.opened = opened = opened | cells
        if opened == board.safe:
            self.status = _WON
        return cells

    def reach(self, cell: Cell) -> Mask:
        """The hidden cells that a tap on `cell` would open by itself, without cascades.

        Empty when the rules would ignore the tap. Changes nothing: this is how who keeps a
        log knows beforehand whether a move belongs in it.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(cell)
        bit = self.geometry.bit[cell]
        board = self.board
        if self.status is not _PLAYING or board is None:
            return bit if self.status is _READY else 0
        marked = self.flags | self.exploded
        if not bit & self.opened:
            return bit & ~marked
        around = self.geometry.around[cell]
        if (marked & around).bit_count() != (board.mines & around).bit_count():
            return 0
        return around & ~(marked | self.opened)

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

    def _first_tap(self, cell: Cell) -> Mask:
        board = self.board
        if board is None:
            self.board = board = self._source.board(cell)  # type: ignore[union-attr]
        self.first_tap = cell
        self.status = _PLAYING
        return self._open(board, self.geometry.bit[cell])

    def _open(self, board: Board, cells: Mask) -> Mask:
        """Open `cells`: at least one, all of them hidden and without a flag."""
        self.taps += 1
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
        if mines and not self.penalty:
            self.status = _LOST
        elif self.opened == board.safe:
            self.status = _WON
        return revealed
