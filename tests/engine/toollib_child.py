"""Answers with ms_toollib's probabilities: a JSON line of board and mines in, a list out."""

import json
import sys

import ms_toollib

if __name__ == "__main__":
    for line in sys.stdin:
        board, mines = json.loads(line)
        chances, _ = ms_toollib.cal_probability_onboard(board, mines)
        print(json.dumps([chance for row in chances for chance in row]), flush=True)
