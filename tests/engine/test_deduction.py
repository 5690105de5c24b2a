import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import (
    Board,
    CellOffBoardError,
    EngineError,
    Geometry,
    Level,
    Run,
    View,
    geometry,
)
from demineur.engine.chance import mine_chances
from demineur.engine.deduction import deduce
from demineur.engine.deduction_knowledge import Rule
from tests.engine.deduction_oracle import (
    ALL_LEVELS,
    FULL,
    Facts,
    Toollib,
    certain_by_count,
    certain_by_numbers,
    certain_by_rules,
    drawn,
    level_runs,
    small_views,
    view_of,
)
from tests.engine.positions import boards


def cells(view: View, mask: int) -> set[int]:
    return set(view.geometry.cells_in(mask))


def found(view: View, rule: Rule = Rule.COUNT) -> tuple[set[int], set[int]]:
    deductions = deduce(view, rule=rule)
    return cells(view, deductions.safe), cells(view, deductions.mines)


@pytest.mark.parametrize("seed", range(40 if FULL else 4))
def test_everything_certain_is_found_and_nothing_else(seed: int) -> None:
    for view in small_views(seed, 400):
        assert deduce(view).complete
        assert found(view) == certain_by_count(Facts(view)), (view.geometry, view.opened)


@pytest.mark.parametrize("seed", range(20 if FULL else 2))
def test_each_rule_finds_what_it_can_prove_and_no_more(seed: int) -> None:
    for view in small_views(1000 + seed, 400, cells=15):
        facts = Facts(view)
        expected = {
            Rule.SINGLE: certain_by_rules(facts),
            Rule.SUBSET: certain_by_rules(facts, "subset"),
            Rule.OVERLAP: certain_by_rules(facts, "overlap"),
            Rule.ENUMERATION: certain_by_numbers(facts),
        }
        assert {rule: found(view, rule) for rule in expected} == expected


@pytest.mark.parametrize("part", range(8 if FULL else 1))
@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: level.id)
def test_certain_cells_are_those_of_chance_0_and_1_elsewhere(level: Level, part: int) -> None:
    with Toollib() as toollib:
        for run in level_runs(level, part, 250 if FULL else 50):
            view = View.of(run)
            chances = toollib.chances(view)
            assert chances is not None
            hidden = cells(view, view.hidden)
            safe = {cell for cell in hidden if chances[cell] < 1e-9}
            mines = {cell for cell in hidden if chances[cell] > 1 - 1e-9}
            assert deduce(view).complete
            assert found(view) == (safe, mines)
            ours = mine_chances(view)
            assert ours is not None
            for cell in hidden:
                assert ours.of(cell) == pytest.approx(chances[cell], rel=0, abs=1e-9)


revealed = st.lists(st.integers(0, 1 << 16), max_size=60)
"""Which cells of a board are open, as picks among all."""


def opened_cells(board: Board, picks: list[int]) -> int:
    return board.geometry.mask(pick % board.geometry.cells for pick in picks)


@given(boards(), revealed)
def test_what_is_certain_is_so(board: Board, picks: list[int]) -> None:
    deductions = deduce(view_of(board, opened_cells(board, picks)), effort=5_000)
    assert deductions.safe & board.mines == 0
    assert deductions.mines & board.safe == 0


@given(boards(), revealed)
def test_a_stronger_rule_finds_all_that_a_weaker_one_does(board: Board, picks: list[int]) -> None:
    view = view_of(board, opened_cells(board, picks))
    weaker = deduce(view, rule=Rule.SINGLE, effort=5_000)
    for rule in Rule:
        stronger = deduce(view, rule=rule, effort=5_000)
        assert weaker.safe & ~stronger.safe == weaker.mines & ~stronger.mines == 0
        weaker = stronger


@given(boards(), revealed, revealed)
def test_what_is_certain_stays_so(board: Board, before: list[int], more: list[int]) -> None:
    few = opened_cells(board, before)
    many = few | opened_cells(board, more)
    earlier, later = (deduce(view_of(board, cells), effort=50_000) for cells in (few, many))
    if later.complete:
        assert earlier.safe & ~many & ~later.safe == 0
        assert earlier.mines & ~many & ~later.mines == 0


def turned(board: Board, opened: int) -> list[tuple[Geometry, list[int], Board, int]]:
    """A board and its opened cells in all eight attitudes, with where each old cell went."""
    old = board.geometry
    attitudes = []
    for attitude in range(8):
        width, height = (old.width, old.height) if attitude < 4 else (old.height, old.width)
        new = geometry(width, height)
        places = []
        for cell in range(old.cells):
            row, column = divmod(cell, old.width)
            row = old.height - 1 - row if attitude & 1 else row
            column = old.width - 1 - column if attitude & 2 else column
            places.append(row * width + column if attitude < 4 else column * width + row)
        mines = [places[cell] for cell in old.cells_in(board.mines)]
        turned_open = new.mask(places[cell] for cell in old.cells_in(opened))
        attitudes.append((new, places, Board.from_cells(new, mines), turned_open))
    return attitudes


@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: level.id)
def test_a_turned_position_gives_turned_deductions(level: Level) -> None:
    for run in level_runs(level, 2, 40 if FULL else 4):
        assert run.board is not None
        view = View.of(run)
        for rule in Rule:
            plain = deduce(view, rule=rule)
            for shape, places, board, opened in turned(run.board, run.opened):
                deductions = deduce(view_of(board, opened), rule=rule)
                for before, after in (
                    (plain.safe, deductions.safe),
                    (plain.mines, deductions.mines),
                ):
                    moved = [places[cell] for cell in run.geometry.cells_in(before)]
                    assert shape.mask(moved) == after
                assert plain.complete == deductions.complete


def test_flags_are_not_believed() -> None:
    view = drawn("1 2 2 1\n. . . .", 2)
    before = found(view)
    for cell in range(4, 8):
        view.flag(cell)
    assert found(view) == before == ({4, 7}, {5, 6})


def test_an_exploded_mine_counts_as_one_and_is_not_news() -> None:
    assert found(drawn("1 1 .\n* 1 .\n. 1 .", 1)) == ({2, 5, 6, 8}, set())
    assert found(drawn("* 2 .\n. . .", 2)) == (set(), set())
    assert found(drawn("* 3\n. .", 3)) == (set(), {2, 3})


@pytest.mark.parametrize(
    ("row", "mines", "safe", "mined"),
    [
        ("1 . . .", 1, {2, 3}, {1}),
        ("1 . . .", 2, set(), {1}),
        ("1 . . .", 3, set(), {1, 2, 3}),
        (". 1 . . . 1 .", 2, {3}, set()),
        (". 1 . . . 1 .", 3, set(), {3}),
        (". . .", 0, {0, 1, 2}, set()),
        (". . .", 3, set(), {0, 1, 2}),
        (". . .", 1, set(), set()),
    ],
)
def test_the_number_of_mines_settles_what_no_number_touches(
    row: str, mines: int, safe: set[int], mined: set[int]
) -> None:
    assert found(drawn(row, mines)) == (safe, mined)


def test_the_number_of_mines_chooses_among_layouts_of_different_size() -> None:
    # One mine serves both numbers, or each has its own.
    between = ". . .\n1 . 1\n. . ."
    assert found(drawn(between, 1)) == ({0, 2, 6, 8}, set())
    assert found(drawn(between, 2)) == ({1, 4, 7}, set())


@pytest.mark.parametrize(
    ("text", "mines"),
    [
        ("1 1", 1),
        ("2 .", 1),
        ("* 0 .", 1),
        ("1 . 0", 1),
        ("1 .", 0),
        ("1 . .", 4),
        ("1 . 3 . .", 3),
        ("1 . . .\n. . . 3\n. . . .", 1),
    ],
)
def test_a_view_that_fits_no_layout_is_refused(text: str, mines: int) -> None:
    with pytest.raises(EngineError):
        deduce(drawn(text, mines))


def lattice(width: int, height: int) -> Run:
    """Every other cell of every other row open: a frontier that is wide in both directions."""
    shape = geometry(width, height)
    numbers = [row * width + at for row in range(0, height, 2) for at in range(0, width, 2)]
    rest = sorted(set(range(shape.cells)) - set(numbers))
    run = Run(Board.from_cells(shape, random.Random(0).sample(rest, len(rest) // 2)))
    for cell in numbers:
        run.tap(cell)
    return run


@pytest.mark.parametrize(("width", "height"), [(40, 20), (80, 40), (255, 255)])
def test_a_hopeless_view_is_answered_with_what_is_known(width: int, height: int) -> None:
    run = lattice(width, height)
    assert run.board is not None
    deductions = deduce(View.of(run), effort=20_000)
    assert not deductions.complete
    assert deductions.safe & run.board.mines == 0
    assert deductions.mines & run.board.safe == 0
    assert deductions.safe | deductions.mines
    assert mine_chances(View.of(run), effort=20_000) is None


def test_effort_is_counted_so_the_same_question_has_one_answer() -> None:
    view = View.of(lattice(15, 15))
    partly, wholly = deduce(view, effort=3_000), deduce(view, effort=None)
    assert (partly.complete, wholly.complete) == (False, True)
    assert partly.safe | wholly.safe == wholly.safe != partly.safe
    assert partly.mines | wholly.mines == wholly.mines != partly.mines
    again = deduce(view, effort=3_000)
    assert (again.safe, again.mines) == (partly.safe, partly.mines)


def test_without_effort_the_cheap_rules_still_answer() -> None:
    for view in small_views(3, 200):
        cheap, all_rules = deduce(view, rule=Rule.OVERLAP), deduce(view, effort=0)
        assert cheap.safe & ~all_rules.safe == 0
        assert cheap.mines & ~all_rules.mines == 0
        if all_rules.complete:
            assert found(view) == (cells(view, all_rules.safe), cells(view, all_rules.mines))


def test_complete_means_that_nothing_is_left_in_doubt_or_all_was_tried() -> None:
    assert deduce(drawn("1 .", 1), rule=Rule.SINGLE).complete
    assert not deduce(drawn("1 . .", 1), rule=Rule.SINGLE).complete
    assert deduce(drawn("1 . .\n. . .", 1)).complete


def test_a_proof_is_asked_for_by_cell() -> None:
    deductions = deduce(drawn("1 . .\n. . .", 1))
    assert deductions.proof(0) is None
    assert deductions.proof(1) is None
    proof = deductions.proof(2)
    assert proof is not None
    assert (proof.mine, proof.rule) == (False, Rule.COUNT)
    with pytest.raises(CellOffBoardError):
        deductions.proof(6)
