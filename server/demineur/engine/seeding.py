"""From a secret seed to a board: version 1, to be recomputed by anyone.

A seed of 16 bytes gives a stream of SHA-256 words, the stream an order of the cells,
and the order the mines: the first cells of it that lie outside the protected square of
the first tap. Nothing here draws randomness; seeds are drawn by whoever calls.
"""

from __future__ import annotations

from hashlib import sha256
from operator import mod
from struct import pack, unpack
from typing import Final

from demineur.engine.board import Board
from demineur.engine.errors import EngineError
from demineur.engine.geometry import Cell, Geometry, Mask, geometry
from demineur.engine.levels import PROTECTED_CELLS, check_board

SEED_BYTES: Final = 16
MAX_ATTEMPT: Final = 2**32 - 1

_BOARD_TAG: Final = b"demineur/board/1"
_ATTEMPT_TAG: Final = b"demineur/attempt/1"
_WORDS: Final = 1 << 32
_BLOCK_WORDS: Final = 8
_BLOCK_NUMBERS: Final = [number.to_bytes(4, "big") for number in range(64)]
"""The numbers of the blocks that the boards of all levels need."""


def _check_seed(seed: bytes) -> None:
    if len(seed) != SEED_BYTES:
        raise EngineError(f"a seed has 16 bytes, not {len(seed)}")


def commitment(seed: bytes) -> str:
    """What is published before a race: the SHA-256 of `seed`, 64 lower-case hex digits.

    Raises:
        EngineError: the seed is not 16 bytes long.
    """
    _check_seed(seed)
    return sha256(seed).hexdigest()


def attempt_seed(seed: bytes, attempt: int) -> bytes:
    """The seed of the `attempt`-th board of a guess-free search; 0 is `seed` itself.

    Raises:
        EngineError: the seed is not 16 bytes long, or the attempt not from 0 to 2**32 - 1.
    """
    _check_seed(seed)
    if not 0 <= attempt <= MAX_ATTEMPT:
        raise EngineError(f"an attempt is from 0 to {MAX_ATTEMPT}, not {attempt}")
    if attempt == 0:
        return seed
    return sha256(_ATTEMPT_TAG + seed + attempt.to_bytes(4, "big")).digest()[:SEED_BYTES]


def _words(prefix: bytes, first: int, count: int) -> tuple[int, ...]:
    """`count` blocks of the stream from block `first` on, as words."""
    numbers = _BLOCK_NUMBERS[first : first + count]
    if len(numbers) < count:
        numbers = [k.to_bytes(4, "big") for k in range(first, first + count)]
    blocks = [sha256(prefix + number).digest() for number in numbers]
    return unpack(f">{_BLOCK_WORDS * count}I", b"".join(blocks))


def _draws(prefix: bytes, count: int, length: int) -> list[int]:
    """The first `length` words of the stream that stand, each modulo its own bound.

    A word is passed over when it is in the last, incomplete stretch of its bound below
    2**32. That happens less than once in 60,000 words on the largest board, so whole
    blocks are drawn first and the rare word is looked for only when one is so high.
    """
    blocks = -(-length // _BLOCK_WORDS)
    words = _words(prefix, 0, blocks)
    if max(words) < _WORDS - count:
        return list(map(mod, words, range(count, count - length, -1)))
    draws: list[int] = []
    while True:
        for word in words:
            bound = count - len(draws)
            if word < _WORDS - _WORDS % bound:
                draws.append(word % bound)
                if len(draws) == length:
                    return draws
        words = _words(prefix, blocks, 1)
        blocks += 1


def order(seed: bytes, width: int, height: int, mines: int) -> list[Cell]:
    """The first ``mines + 9`` cells of the order that `seed` gives a board's cells.

    No tap ever asks for more of it: at most nine of them are in a protected square.

    Raises:
        EngineError: the seed is not 16 bytes long, or a seed cannot make such a board.
    """
    _check_seed(seed)
    check_board(width, height, mines)
    size = pack(">3H", width, height, mines)
    shape = geometry(width, height)
    length = mines + PROTECTED_CELLS
    cells = list(shape.indices)
    for i, draw in enumerate(_draws(_BOARD_TAG + seed + size, shape.cells, length)):
        cells[i], cells[i + draw] = cells[i + draw], cells[i]
    return cells[:length]


class Layout:
    """The boards of one seed: one for each square that a first tap may protect.

    Attributes:
        geometry: the boards' shape.
        mine_count: how many mines each of them has.
        seed: the 16 bytes of the race.
        attempt: which board of the seed's guess-free search, 0 for the seed's own.
        order: the first ``mine_count + 9`` cells of the order.

    Boards differ by the few mines that a first tap pushed out of its square:

    >>> boards = Layout(geometry(8, 4), 6, bytes(16))
    >>> boards.board(9)
    0 0 1 2 * * 2 1
    0 0 1 * 3 2 2 *
    1 1 1 2 2 1 1 1
    * 1 0 1 * 1 0 0
    >>> boards.board(24)
    0 0 1 2 * * 2 1
    0 1 2 * 3 2 2 *
    0 1 * 3 2 1 1 1
    0 1 1 2 * 1 0 0

    Raises:
        EngineError: the seed is not 16 bytes long, the attempt is out of range, or a
            seed cannot make such a board.
    """

    __slots__ = ("_first", "attempt", "geometry", "mine_count", "order", "seed")

    def __init__(self, geometry: Geometry, mines: int, seed: bytes, attempt: int = 0) -> None:
        self.geometry = geometry
        self.mine_count = mines
        self.seed = seed
        self.attempt = attempt
        self.order = order(attempt_seed(seed, attempt), geometry.width, geometry.height, mines)
        self._first: Mask = geometry.mask(self.order[:mines])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Geometry, int, bytes, int]:
        return self.geometry, self.mine_count, self.seed, self.attempt

    def __repr__(self) -> str:
        """Never the seed, which is secret while a race runs."""
        return f"Layout({self.geometry!r}, {self.mine_count}, attempt={self.attempt})"

    def mines_for(self, first_tap: Cell) -> Mask:
        """The mines of whoever begins at `first_tap`.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        self.geometry.check(first_tap)
        square = self.geometry.square[first_tap]
        pushed_out = self._first & square
        mines = self._first ^ pushed_out
        missing = pushed_out.bit_count()
        for cell in self.order[self.mine_count :]:
            if not missing:
                break
            bit = self.geometry.bit[cell]
            if not bit & square:
                mines |= bit
                missing -= 1
        return mines

    def board(self, first_tap: Cell) -> Board:
        """The board of whoever begins at `first_tap`.

        Raises:
            CellOffBoardError: the cell is not on the board.
        """
        return Board(self.geometry, self.mines_for(first_tap))


def layout(width: int, height: int, mines: int, seed: bytes, attempt: int = 0) -> Layout:
    """The `Layout` of a size, by its numbers.

    Raises:
        EngineError: as `Layout` does, or a side is not from 1 to 255.
    """
    return Layout(geometry(width, height), mines, seed, attempt)
