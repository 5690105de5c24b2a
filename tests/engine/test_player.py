import random

import pytest

from demineur.engine import (
    LEVELS,
    CellOffBoardError,
    EngineError,
    Layout,
    Level,
    Run,
    Status,
    View,
    geometry,
    segments,
)
from demineur.engine.chance import mine_chances
from demineur.engine.player import Action, Move, Player, Style
from tests.engine.deduction_oracle import ALL_LEVELS, drawn
from tests.engine.positions import seed_of


def make(run: Run, move: Move) -> int:
    if move.action is Action.FLAG:
        assert run.flag(move.cell)
        return 0
    revealed = run.tap(move.cell)
    assert revealed
    return revealed


def play(run: Run, player: Player) -> list[Move]:
    moves = []
    while run.status in (Status.READY, Status.PLAYING):
        move = player.next(View.of(run))
        assert move is not None
        make(run, move)
        moves.append(move)
    return moves


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: level.id)
def test_only_guesses_ever_hit_a_mine(level: Level, flags: bool) -> None:
    for turn in range(6):
        run = Run(Layout(level.geometry, level.mines, seed_of(level.id, turn)), penalty=True)
        player = Player(Style(pace_ms=0, flags=flags), random.Random(turn))
        guesses = exploded = 0
        while run.status is not Status.WON:
            view = View.of(run)
            chances = mine_chances(view)
            move = player.next(view)
            assert move is not None
            before = run.exploded
            make(run, move)
            if move.action is Action.FLAG:
                assert run.board is not None
                assert run.flags & ~run.board.mines == 0
            elif move.risk:
                assert chances is not None
                assert (chances.of(move.cell), move.risk) == (chances.safest()[1],) * 2
                guesses += view.opened > 0
                exploded += run.exploded != before
            else:
                assert run.exploded == before
        assert player.guesses == guesses >= exploded == run.exploded.bit_count()
        assert player.next(View.of(run)) is None
        assert flags or not run.flag_moves


def test_flags_are_set_where_a_chord_pays() -> None:
    level = LEVELS["expert"]
    taps = {}
    for flags in (False, True):
        run = Run(Layout(level.geometry, level.mines, seed_of("expert", 3)), penalty=True)
        moves = play(run, Player(Style(flags=flags), random.Random(5), start=0))
        taps[flags] = len(moves)
        chords = [move for move in moves if move.action is Action.TAP]
        assert len(chords) == run.taps
        assert bool(run.flag_moves) is flags
    assert taps[True] < taps[False]


def test_a_mine_is_flagged_and_then_the_number_chorded() -> None:
    view = drawn(". 1 . .\n1 1 . .\n0 0 1 .", 2)
    player = Player(Style(pace_ms=0), random.Random(1))
    assert player.next(view) == Move(Action.FLAG, 0, 0)
    view.flag(0)
    assert player.next(view) == Move(Action.TAP, 1, 0)


def test_an_exploded_mine_is_as_good_as_a_flag() -> None:
    view = drawn("* 1 . .\n1 1 . .\n0 0 1 .", 2)
    assert Player(Style(pace_ms=0), random.Random(1)).next(view) == Move(Action.TAP, 1, 0)


def test_a_player_without_flags_only_taps_hidden_cells() -> None:
    view = drawn(". 1 . .\n1 1 . .\n0 0 1 .", 2)
    move = Player(Style(pace_ms=0, flags=False), random.Random(1)).next(view)
    assert move == Move(Action.TAP, 2, 0)


def test_a_chord_for_one_cell_is_not_worth_a_flag() -> None:
    # 0 is a mine, and of the cells around any number 2 alone is safe.
    view = drawn(". 1 . .\n1 1 1 .\n0 0 1 .", 2)
    move = Player(Style(pace_ms=0), random.Random(1)).next(view)
    assert move == Move(Action.TAP, 2, 0)


@pytest.mark.parametrize("level", [LEVELS["beginner"], LEVELS["hard"]], ids=lambda level: level.id)
def test_a_view_made_from_what_was_sent_is_enough(level: Level) -> None:
    run = Run(Layout(level.geometry, level.mines, seed_of("sent")), penalty=True)
    view = View.empty(level.geometry, level.mines)
    player = Player(Style(), random.Random(2))
    while move := player.next(view):
        revealed = make(run, move)
        if move.action is Action.FLAG:
            view.flag(move.cell)
        else:
            view.add(segments(run, revealed))
    assert run.status is Status.WON
    assert view.opened == run.opened


def test_the_same_source_gives_the_same_moves() -> None:
    level = LEVELS["hard"]
    style = Style(pace_ms=300, error_rate=0.1)
    games = []
    for source in (7, 7, 8):
        run = Run(Layout(level.geometry, level.mines, seed_of("same")), penalty=True)
        games.append(play(run, Player(style, random.Random(source))))
    assert games[0] == games[1]
    assert games[0] != games[2]


def test_the_first_tap_is_where_it_is_told() -> None:
    view = View.empty(geometry(9, 9), 10)
    move = Player(Style(), random.Random(0), start=40).next(view)
    assert move is not None
    assert (move.action, move.cell, move.risk) == (Action.TAP, 40, 0.0)
    with pytest.raises(CellOffBoardError):
        Player(Style(), random.Random(0), start=81).next(view)
    anywhere = {
        move.cell
        for turn in range(200)
        if (move := Player(Style(), random.Random(turn)).next(view)) is not None
    }
    assert len(anywhere) > 50


def test_a_pace_is_kept_on_average() -> None:
    level = LEVELS["marathon"]
    run = Run(Layout(level.geometry, level.mines, seed_of("pace")), penalty=True)
    delays = [move.delay_ms for move in play(run, Player(Style(pace_ms=400), random.Random(3)))]
    assert all(200 <= delay <= 600 for delay in delays)
    assert sum(delays) / len(delays) == pytest.approx(400, rel=0.1)
    assert len(set(delays)) > 50


def test_slips_are_as_many_as_the_error_rate_says() -> None:
    level = LEVELS["expert"]
    slips = moves = 0
    for turn in range(8):
        run = Run(Layout(level.geometry, level.mines, seed_of("slips", turn)), penalty=True)
        game = play(run, Player(Style(pace_ms=0, error_rate=0.2), random.Random(turn)))
        moves += len(game)
        slips += sum(move.slip for move in game)
    assert slips / moves == pytest.approx(0.2, abs=0.06)


def test_a_slip_lands_beside_the_cell_that_was_meant() -> None:
    view = drawn("* 1 . . .\n1 1 . . .", 2)
    meant = Player(Style(pace_ms=0, flags=False), random.Random(0)).next(view)
    assert meant is not None
    for turn in range(20):
        player = Player(Style(pace_ms=0, flags=False, error_rate=1.0), random.Random(turn))
        move = player.next(view)
        assert move is not None
        assert move.slip
        assert move.action is Action.TAP
        shape = view.geometry
        assert shape.bit[move.cell] & shape.around[meant.cell] & view.hidden


def test_a_wrong_flag_is_lifted_first() -> None:
    view = drawn("* 1 .\n1 1 .", 1)
    view.flag(2)
    for flags in (False, True):
        move = Player(Style(flags=flags), random.Random(0)).next(view)
        assert move is not None
        assert (move.action, move.cell) == (Action.FLAG, 2)


def test_a_flag_on_the_cell_to_guess_is_lifted_first() -> None:
    view = drawn(". 1 .", 1)
    view.flag(0)
    view.flag(2)
    player = Player(Style(pace_ms=0), random.Random(0))
    lifted = player.next(view)
    assert lifted is not None
    assert (lifted.action, lifted.risk, player.guesses) == (Action.FLAG, 0.0, 0)
    view.flag(lifted.cell)
    while (guess := player.next(view)) and guess.action is Action.FLAG:
        view.flag(guess.cell)
    assert guess is not None
    assert (guess.risk, player.guesses) == (0.5, 1)


def test_without_effort_it_plays_by_a_rule_of_thumb() -> None:
    level = LEVELS["hard"]
    guesses = 0
    for turn in range(8):
        run = Run(Layout(level.geometry, level.mines, seed_of("thumb", turn)), penalty=True)
        player = Player(Style(pace_ms=0), random.Random(turn), effort=0)
        play(run, player)
        guesses += player.guesses
        assert run.status is Status.WON
    assert guesses


def test_the_rule_of_thumb_takes_the_worst_number_beside_a_cell() -> None:
    # The 2 of the corner says 2/3 of each of its cells; elsewhere 2 of 7.
    view = drawn("2 . . .\n. . . .\n. . . .", 4)
    player = Player(Style(pace_ms=0), random.Random(0), effort=0)
    move = player.next(view)
    assert move is not None
    assert move.cell not in {1, 4, 5}
    assert move.risk == pytest.approx(4 / 11)


def test_nothing_is_left_to_do_when_only_mines_are_hidden() -> None:
    assert Player(Style(), random.Random(0)).next(drawn("1 .", 1)) is None
    assert Player(Style(), random.Random(0)).next(drawn("* 2 .", 2)) is None


@pytest.mark.parametrize("style", [{"pace_ms": -1}, {"error_rate": -0.1}, {"error_rate": 1.1}])
def test_a_style_out_of_range_is_refused(style: dict[str, float]) -> None:
    with pytest.raises(EngineError):
        Style(**style)  # type: ignore[arg-type]
