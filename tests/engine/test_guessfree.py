import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from demineur.engine import (
    LEVELS,
    Board,
    CellOffBoardError,
    EngineError,
    Layout,
    Level,
    Run,
    Status,
    View,
    geometry,
)
from demineur.engine.chance import mine_chances
from demineur.engine.deduction import deduce
from demineur.engine.guessfree import Outcome, Search, find_guess_free, is_guess_free
from demineur.engine.player import Player, Style
from tests.engine.deduction_oracle import ALL_LEVELS, FULL, Toollib, members
from tests.engine.naive import neighbours
from tests.engine.positions import seed_of


def guess_free_boards(
    width: int, height: int, mines: int, start: int
) -> Iterator[tuple[int, bool]]:
    """All boards with no mine on the start, and whether logic alone clears each, by brute force.

    Boards that look the same so far are kept together. What none of them has a mine on is safe,
    and is opened on all; then they are told apart by the numbers that this shows.
    """
    count = width * height
    around = [sum(1 << near for near in neighbours(width, height, cell)) for cell in range(count)]
    everything = (1 << count) - 1
    boards = [sum(1 << c for c in chosen) for chosen in combinations(range(count), mines)]
    alike = [([board for board in boards if not board >> start & 1], 0, 1 << start)]
    while alike:
        group, opened, fresh = alike.pop()
        opened |= fresh
        seen: dict[tuple[int, ...], list[int]] = {}
        for board in group:
            shown = tuple((board & around[cell]).bit_count() for cell in sorted(members(fresh)))
            seen.setdefault(shown, []).append(board)
        for same in seen.values():
            ever = 0
            for board in same:
                ever |= board
            safe = everything & ~ever & ~opened
            if safe:
                alike.append((same, opened, safe))
            else:
                for board in same:
                    yield board, (opened | board) == everything


@pytest.mark.parametrize(
    ("width", "height", "mines", "start"),
    [
        (3, 3, 2, 0),
        (4, 4, 3, 5),
        (5, 3, 4, 7),
        (6, 2, 3, 0),
        (9, 1, 3, 4),
        (4, 4, 8, 0),
        *([(5, 4, 4, 0), (5, 5, 4, 12), (4, 4, 5, 5), (6, 3, 5, 2), (5, 5, 5, 0)] if FULL else []),
    ],
)
def test_guess_free_is_right_in_both_directions(
    width: int, height: int, mines: int, start: int
) -> None:
    shape = geometry(width, height)
    answers = {True: 0, False: 0}
    for cells, cleared in guess_free_boards(width, height, mines, start):
        board = Board.from_cells(shape, members(cells))
        assert is_guess_free(board, start) is cleared, repr(board)
        answers[cleared] += 1
    assert all(answers.values())


@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: level.id)
def test_what_deduction_leaves_elsewhere_too_needs_a_guess(level: Level) -> None:
    shape = level.geometry
    start = shape.cells // 2
    dice = random.Random(f"{level.id} stuck")
    answers = {True: 0, False: 0}
    with Toollib() as toollib:
        for _ in range(200 if FULL else 12):
            board = Layout(shape, level.mines, dice.randbytes(16)).board(start)
            run = Run(board)
            run.tap(start)
            while safe := deduce(View.of(run)).safe:
                for cell in shape.cells_in(safe):
                    run.tap(cell)
            cleared = run.status is Status.WON
            assert is_guess_free(board, start) is cleared
            answers[cleared] += 1
            if not cleared:
                chances = toollib.chances(View.of(run))
                assert chances is not None
                assert min(chances[cell] for cell in shape.cells_in(View.of(run).hidden)) > 1e-9
    assert answers[True]


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.id)
def test_a_player_clears_guess_free_boards_without_a_guess(level: Level) -> None:
    shape = level.geometry
    dice = random.Random(f"{level.id} cleared")
    for turn in range(1000 if FULL else 40):
        marked = dice.randrange(shape.cells)
        search = find_guess_free(shape, level.mines, dice.randbytes(16), marked)
        assert search.outcome is Outcome.FOUND
        assert search.layout is not None
        run = Run(search.layout)
        player = Player(Style(pace_ms=0, flags=turn % 2 == 0), dice, start=marked)
        while move := player.next(View.of(run)):
            assert run.tap(move.cell) if move.action == "tap" else run.flag(move.cell)
            assert move.risk == 0.0
        assert (run.status, player.guesses) == (Status.WON, 0)


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.id)
def test_the_attempt_found_is_the_smallest(level: Level) -> None:
    shape = level.geometry
    for turn in range(100 if FULL else 10):
        seed = seed_of(level.id, turn)
        marked = turn * 37 % shape.cells
        search = find_guess_free(shape, level.mines, seed, marked)
        answers = [
            is_guess_free(Layout(shape, level.mines, seed, attempt).board(marked), marked)
            for attempt in range(search.attempt + 1)
        ]
        assert answers == [False] * search.attempt + [True]
        assert search.layout is not None
        assert search.layout.attempt == search.attempt


def test_known_searches_end_where_they_always_did() -> None:
    ends = {
        level.id: [
            find_guess_free(level.geometry, level.mines, seed_of("known", turn), 40).attempt
            for turn in range(8)
        ]
        for level in ALL_LEVELS
    }
    assert ends == {
        "beginner": [1, 0, 1, 1, 0, 0, 0, 0],
        "intermediate": [0, 0, 1, 0, 1, 0, 0, 2],
        "hard": [0, 1, 0, 1, 0, 0, 0, 2],
        "expert": [0, 0, 0, 0, 0, 0, 1, 0],
        "extreme": [0, 0, 0, 0, 0, 0, 0, 1],
        "marathon": [1, 0, 0, 0, 0, 0, 0, 0],
        "dense square": [4, 2, 0, 4, 0, 4, 6, 0],
        "dense wide": [0, 15, 4, 1, 4, 6, 1, 16],
    }


HARD_SEED = seed_of("several attempts", 10)
"""On Hard, started in the corner, four attempts of it need a guess."""


def test_a_search_says_how_it_ended() -> None:
    level = LEVELS["hard"]
    found = find_guess_free(level.geometry, level.mines, HARD_SEED, 0)
    assert found.outcome is Outcome.FOUND
    assert found.attempt == 4
    too_few = find_guess_free(level.geometry, level.mines, HARD_SEED, 0, max_attempts=found.attempt)
    assert (too_few.outcome, too_few.attempt, too_few.layout) == (
        Outcome.NONE,
        found.attempt,
        None,
    )
    stuck = find_guess_free(level.geometry, level.mines, HARD_SEED, 0, effort=0)
    assert (stuck.outcome, stuck.layout) == (Outcome.UNDECIDED, None)
    assert stuck.attempt <= found.attempt


def test_a_search_stops_when_asked() -> None:
    level = LEVELS["hard"]

    class Patience:
        def __init__(self, questions: int) -> None:
            self.left = questions

        def ended(self) -> bool:
            self.left -= 1
            return self.left < 0

    def search(patience: Patience) -> Search:
        return find_guess_free(
            level.geometry, level.mines, HARD_SEED, 0, should_stop=patience.ended
        )

    endless = Patience(1 << 30)
    found = search(endless)
    questions = (1 << 30) - endless.left
    assert questions > found.attempt + 1
    for allowed in range(questions):
        stopped = search(Patience(allowed))
        assert (stopped.outcome, stopped.layout) == (Outcome.STOPPED, None)
        assert stopped.attempt <= found.attempt


def test_too_little_effort_is_no_answer() -> None:
    board = Board.from_cells(geometry(2, 3), [0])
    assert is_guess_free(board, 4) is False
    assert is_guess_free(board, 4, effort=0) is None
    assert is_guess_free(board, 4, effort=None) is False


def test_boards_that_need_no_thought() -> None:
    shape = geometry(4, 3)
    assert is_guess_free(Board(shape, 0), 5) is True
    assert is_guess_free(Board(shape, shape.full ^ shape.bit[5]), 5) is True
    assert is_guess_free(Board.from_cells(shape, [5]), 5) is False
    assert is_guess_free(Board(shape, shape.full), 5) is False


def test_what_is_no_board_is_refused() -> None:
    level = LEVELS["beginner"]
    with pytest.raises(CellOffBoardError):
        is_guess_free(Board(level.geometry, 0), 81)
    with pytest.raises(CellOffBoardError):
        find_guess_free(level.geometry, 10, bytes(16), 81)
    with pytest.raises(EngineError):
        find_guess_free(level.geometry, 73, bytes(16), 0)
    with pytest.raises(EngineError):
        find_guess_free(level.geometry, 10, bytes(15), 0)


def test_a_board_that_needs_a_guess_leaves_one() -> None:
    run = Run(Board.from_cells(geometry(2, 3), [0]))
    run.tap(4)
    chances = mine_chances(View.of(run))
    assert chances is not None
    assert chances.safest()[1] == 0.5
