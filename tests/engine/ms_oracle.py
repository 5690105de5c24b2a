"""Run as a program: what ms_toollib, another Minesweeper library, says of boards.

It is a child process because that library may abort the process that loads it. Standard
input: a JSON array of boards, each a list of rows with 1 for a mine. Standard output: for
each board its numbers (-1 for a mine), 3BV, openings and islands.
"""

import json
import sys


def main() -> None:
    import ms_toollib

    answers = []
    for rows in json.load(sys.stdin):
        numbers = ms_toollib.cal_board_numbers([[-cell for cell in row] for row in rows])
        board = ms_toollib.Board(numbers)
        answers.append(
            {
                "numbers": [list(row) for row in numbers],
                "three_bv": ms_toollib.cal_bbbv(numbers),
                "openings": board.op,
                "islands": board.isl,
            }
        )
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
