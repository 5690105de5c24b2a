"""Whole games that people played, move by move."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demineur.engine import Board, Geometry, Run, RunFile, Status, read_run_file
from loadtest.comparison import plain, rivals
from loadtest.comparison.boards import as_rows
from loadtest.comparison.measuring import Batch, Measure, Row, Work

REPLAYS = Path(__file__).parents[2] / "tests" / "vectors" / "replays.json"

MS_STATES = {3: Status.WON, 4: Status.LOST}
"""What ms_toollib calls the end of a game."""


class RealGame:
    """One game, and its moves as each engine wants them."""

    def __init__(self, run_file: RunFile) -> None:
        board = run_file.board()
        assert board is not None
        self.geometry: Geometry = board.geometry
        self.mines = board.mines
        self.rows = as_rows(board)
        self.moves = [(move.kind, move.cell) for move in run_file.moves]
        width = run_file.width
        self.places = [(kind, *divmod(cell, width)) for kind, cell in self.moves]
        self.events = rivals.ms_events(self.rows, self.moves)

    def play(self) -> Run:
        """With this engine, the board made from its mines."""
        run = Run(Board(self.geometry, self.mines))
        for kind, cell in self.moves:
            if kind == "tap":
                run.tap(cell)
            else:
                run.flag(cell)
        return run

    def play_plainly(self) -> plain.PlainGame:
        """With lists of lists, the numbers being given."""
        game = plain.PlainGame(self.rows)
        for kind, row, column in self.places:
            if kind == "tap":
                game.tap(row, column)
            else:
                game.flag(row, column)
        return game

    def play_with_ms_toollib(self, ms: Any) -> Any:
        """With ms_toollib, the numbers being given."""
        game = ms.MinesweeperBoard(self.rows)
        step = game.step
        for event, place in self.events:
            step(event, place)
        return game

    def minegauler_player(self, core: Any) -> Work:
        """A function that plays with minegauler, on a minefield that is given."""
        minefield = rivals.minegauler_minefield(core, self.rows)
        calls = rivals.minegauler_moves(core, self.rows, self.moves)
        return lambda: rivals.minegauler_play(core, minefield, calls)


def rows(measure: Measure) -> Iterator[Row]:
    """The rows of this subject."""
    games = [RealGame(read_run_file(document)) for document in json.loads(REPLAYS.read_text())]
    for game in games:
        assert game.play_plainly().status == game.play().status
    moves = sum(len(game.moves) for game in games)
    others = {"plain lists": Batch(lambda: [game.play_plainly() for game in games], moves)}
    if ms := rivals.ms_toollib():
        for game in games:
            state = game.play_with_ms_toollib(ms).game_board_state
            assert MS_STATES[state] == game.play().status
        others["ms_toollib"] = Batch(
            lambda: [game.play_with_ms_toollib(ms) for game in games], moves
        )
    if core := rivals.minegauler():
        players = [game.minegauler_player(core) for game in games]
        for game, play in zip(games, players, strict=True):
            assert str(play()).endswith(game.play().status.name)
        others["minegauler"] = Batch(lambda: [play() for play in players], moves)
    yield measure.row(
        "a move of a whole real game",
        Batch(lambda: [game.play() for game in games], moves),
        others,
        goal=0.8,
    )
