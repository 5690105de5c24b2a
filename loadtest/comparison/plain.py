"""The game over lists of lists, as most programs have it: what bitsets are measured against.

Written with care, not slowed down: neighbours are worked out once for each size, and a
cascade keeps a stack.
"""

import random
from functools import lru_cache

MINE = -1

Rows = list[list[int]]
Place = tuple[int, int]


@lru_cache
def neighbours(width: int, height: int) -> list[list[list[Place]]]:
    """For each row and column, the places around it."""
    return [
        [
            [
                (r, c)
                for r in range(max(0, row - 1), min(height, row + 2))
                for c in range(max(0, column - 1), min(width, column + 2))
                if (r, c) != (row, column)
            ]
            for column in range(width)
        ]
        for row in range(height)
    ]


def numbers(width: int, height: int, mines: list[Place]) -> Rows:
    """The whole board; `MINE` for a mine."""
    around = neighbours(width, height)
    board = [[0] * width for _ in range(height)]
    for row, column in mines:
        board[row][column] = MINE
    for row, column in mines:
        for r, c in around[row][column]:
            if board[r][c] != MINE:
                board[r][c] += 1
    return board


def three_bv(board: Rows) -> int:
    """Openings, and numbers that no opening opens."""
    height, width = len(board), len(board[0])
    around = neighbours(width, height)
    opened = [[False] * width for _ in range(height)]
    count = 0
    for row in range(height):
        for column in range(width):
            if board[row][column] == 0 and not opened[row][column]:
                count += 1
                opened[row][column] = True
                stack = [(row, column)]
                while stack:
                    r, c = stack.pop()
                    for y, x in around[r][c]:
                        if not opened[y][x]:
                            opened[y][x] = True
                            if board[y][x] == 0:
                                stack.append((y, x))
    return count + sum(
        board[row][column] > 0 and not opened[row][column]
        for row in range(height)
        for column in range(width)
    )


def laid(width: int, height: int, mines: int, first: Place) -> Rows:
    """A random board with nothing around `first`."""
    kept = {first, *neighbours(width, height)[first[0]][first[1]]}
    places = [(r, c) for r in range(height) for c in range(width) if (r, c) not in kept]
    return numbers(width, height, random.sample(places, mines))


class PlainGame:
    """A run over a board of numbers."""

    def __init__(self, board: Rows) -> None:
        self.board = board
        self.height, self.width = len(board), len(board[0])
        self.around = neighbours(self.width, self.height)
        self.opened = [[False] * self.width for _ in range(self.height)]
        self.flagged = [[False] * self.width for _ in range(self.height)]
        self.left = sum(number != MINE for row in board for number in row)
        self.status = "playing"

    def flag(self, row: int, column: int) -> None:
        """Set or lift a flag."""
        if self.status == "playing" and not self.opened[row][column]:
            self.flagged[row][column] = not self.flagged[row][column]

    def tap(self, row: int, column: int) -> None:
        """Open, or chord."""
        if self.status != "playing" or self.flagged[row][column]:
            return
        if not self.opened[row][column]:
            self._open([(row, column)])
            return
        around = self.around[row][column]
        if sum(self.flagged[r][c] for r, c in around) == self.board[row][column]:
            self._open([(r, c) for r, c in around if not self.flagged[r][c]])

    def _open(self, stack: list[Place]) -> None:
        lost = False
        while stack:
            row, column = stack.pop()
            if self.opened[row][column]:
                continue
            number = self.board[row][column]
            if number == MINE:
                lost = True
                continue
            self.opened[row][column] = True
            self.flagged[row][column] = False
            self.left -= 1
            if number == 0:
                stack.extend(self.around[row][column])
        if lost:
            self.status = "lost"
        elif not self.left:
            self.status = "won"
