"""The rules written the plain way, cell by cell, to hold the engine against.

Nothing of the engine is imported here. Where the engine shifts whole boards, this walks
lists; where it counts regions at once, this floods them one by one.
"""

from collections.abc import Iterable
from hashlib import sha256


def neighbours(width: int, height: int, cell: int) -> list[int]:
    row, column = divmod(cell, width)
    return [
        r * width + c
        for r in range(max(0, row - 1), min(height, row + 2))
        for c in range(max(0, column - 1), min(width, column + 2))
        if (r, c) != (row, column)
    ]


class NaiveBoard:
    def __init__(self, width: int, height: int, mines: Iterable[int]) -> None:
        self.width = width
        self.height = height
        self.mines = set(mines)
        self.cells = range(width * height)
        self.around = [neighbours(width, height, cell) for cell in self.cells]
        self.number = [sum(near in self.mines for near in self.around[c]) for c in self.cells]

    def numbers(self) -> str:
        return "".join("*" if c in self.mines else str(self.number[c]) for c in self.cells)

    def zeros(self) -> set[int]:
        return {c for c in self.cells if c not in self.mines and self.number[c] == 0}

    def cascade(self, cell: int) -> set[int]:
        opened, waiting = {cell}, [cell]
        while waiting:
            at = waiting.pop()
            if self.number[at] == 0:
                fresh = set(self.around[at]) - opened
                opened |= fresh
                waiting += fresh
        return opened

    def regions(self, cells: set[int]) -> list[set[int]]:
        left, found = set(cells), []
        while left:
            region = {left.pop()}
            waiting = list(region)
            while waiting:
                fresh = set(self.around[waiting.pop()]) & left
                left -= fresh
                region |= fresh
                waiting += fresh
            found.append(region)
        return found

    def isolated(self) -> set[int]:
        opened: set[int] = set()
        for zero in self.zeros():
            opened |= {zero, *self.around[zero]}
        return {c for c in self.cells if c not in self.mines} - opened

    def openings(self) -> int:
        return len(self.regions(self.zeros()))

    def islands(self) -> int:
        return len(self.regions(self.isolated()))

    def three_bv(self) -> int:
        return self.openings() + len(self.isolated())

    def three_bv_solved(self, opened: set[int]) -> int:
        openings = sum(bool(region & opened) for region in self.regions(self.zeros()))
        return openings + len(self.isolated() & opened)


class NaiveRun:
    """A run on an explicit board."""

    def __init__(self, board: NaiveBoard, *, penalty: bool = False) -> None:
        self.board = board
        self.penalty = penalty
        self.opened: set[int] = set()
        self.flags: set[int] = set()
        self.exploded: set[int] = set()
        self.status = "ready"
        self.taps = 0
        self.flag_moves = 0

    def tap(self, cell: int) -> set[int]:
        """What the tap revealed, exploded mines included."""
        if self.status in ("won", "lost") or cell in self.flags | self.exploded:
            return set()
        targets = [cell]
        if cell in self.opened:
            around = self.board.around[cell]
            marked = self.flags | self.exploded
            if sum(near in marked for near in around) != self.board.number[cell]:
                return set()
            targets = [near for near in around if near not in marked | self.opened]
            if not targets:
                return set()
        before = self.opened | self.exploded
        for target in targets:
            if target in self.board.mines:
                self.exploded.add(target)
            else:
                self.opened |= self.board.cascade(target)
        self.flags -= self.opened
        self.taps += 1
        self._end()
        return (self.opened | self.exploded) - before

    def _end(self) -> None:
        self.status = "playing"
        if len(self.opened) + len(self.board.mines) == len(self.board.cells):
            self.status = "won"
        if self.exploded and not self.penalty:
            self.status = "lost"

    def flag(self, cell: int) -> bool:
        if self.status != "playing" or cell in self.opened | self.exploded:
            return False
        self.flags ^= {cell}
        self.flag_moves += 1
        return True

    def mine_counter(self) -> int | None:
        if self.status == "ready":
            return None
        marked = self.flags | self.exploded if self.penalty else self.flags
        return len(self.board.mines) - len(marked)


def naive_order(seed: bytes, width: int, height: int, mines: int) -> list[int]:
    """The order of a seed, word by word as its definition has it."""
    count = width * height
    cells = list(range(count))
    stream = b""
    block = used = 0
    for i in range(min(count, mines + 9)):
        bound = count - i
        limit = 2**32 // bound * bound
        while True:
            while len(stream) < used + 4:
                numbers = ((width, 2), (height, 2), (mines, 2), (block, 4))
                tail = b"".join(number.to_bytes(size, "big") for number, size in numbers)
                stream += sha256(b"demineur/board/1" + seed + tail).digest()
                block += 1
            word = int.from_bytes(stream[used : used + 4], "big")
            used += 4
            if word < limit:
                break
        j = i + word % bound
        cells[i], cells[j] = cells[j], cells[i]
    return cells[: min(count, mines + 9)]


def naive_mines(seed: bytes, width: int, height: int, mines: int, first_tap: int) -> list[int]:
    square = {first_tap, *neighbours(width, height, first_tap)}
    cells = naive_order(seed, width, height, mines)
    return sorted([cell for cell in cells if cell not in square][:mines])
