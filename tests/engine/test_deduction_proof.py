import pytest

from demineur.engine import View, geometry
from demineur.engine.deduction import deduce, hint
from demineur.engine.deduction_knowledge import Knowledge, Rule, conclude
from demineur.engine.deduction_proof import Proof
from demineur.engine.effort import Effort
from demineur.engine.levels import Level
from tests.engine.deduction_oracle import (
    ALL_LEVELS,
    FULL,
    Facts,
    certain_by_count,
    certain_by_numbers,
    certain_by_rules,
    drawn,
    level_runs,
    small_views,
)

PROVED = {
    Rule.SINGLE: certain_by_rules,
    Rule.SUBSET: lambda facts: certain_by_rules(facts, "subset"),
    Rule.OVERLAP: lambda facts: certain_by_rules(facts, "overlap"),
    Rule.ENUMERATION: certain_by_numbers,
    Rule.COUNT: certain_by_count,
}


def proved(view: View, numbers: list[int], rule: Rule) -> tuple[set[int], set[int]]:
    """What these numbers alone prove by the rule, in plain terms."""
    facts = Facts(view, numbers)
    if rule is Rule.COUNT:
        facts.given(*certain_by_numbers(Facts(view)))
    return PROVED[rule](facts)


def of(view: View, cell: int) -> tuple[bool, str, list[int]]:
    proof = deduce(view).proof(cell)
    assert proof is not None
    return proof.mine, proof.rule.value, view.geometry.cells_in(proof.numbers)


@pytest.mark.parametrize(
    ("text", "mines", "cell", "expected"),
    [
        ("* 1 .\n. . .", 1, 4, (False, "single", [1])),
        (". 2 .\n1 2 1", 2, 0, (True, "single", [1])),
        # The mine that the 1 in the corner has to have frees the cell under the 1 beside it.
        ("1 1 .\n* . .", 1, 2, (False, "single", [1])),
        # Two hidden cells of the 1 at the wall are two of the three of the 1 beside it.
        ("1 1 .\n. . .", 1, 5, (False, "subset", [0, 1])),
        # The 4 can share one mine with the 1, so it has all three cells that it alone touches.
        (". . . .\n. 1 4 .\n. . . .", 4, 0, (False, "overlap", [5, 6])),
        (". . . .\n. 1 4 .\n. . . .", 4, 7, (True, "overlap", [5, 6])),
        # Each pair of these four leaves it open.
        ("1 . .\n. 2 1\n. . .\n2 . .\n. . 0", 3, 2, (False, "enumeration", [0, 4, 9, 14])),
        (". 1 . .", 1, 3, (False, "count", [1])),
        (". . .", 3, 1, (True, "count", [])),
    ],
)
def test_the_simplest_rule_and_the_fewest_numbers(
    text: str, mines: int, cell: int, expected: tuple[bool, str, list[int]]
) -> None:
    assert of(drawn(text, mines), cell) == expected


@pytest.mark.parametrize("seed", range(20 if FULL else 2))
def test_proofs_stand_by_themselves(seed: int) -> None:
    seen = set()
    for view in small_views(2000 + seed, 400, cells=15):
        deductions = deduce(view)
        for cell in view.geometry.cells_in(deductions.safe | deductions.mines):
            proof = deductions.proof(cell)
            assert proof is not None
            check(view, proof)
            seen.add(proof.rule)
    assert seen >= {Rule.SINGLE, Rule.SUBSET, Rule.OVERLAP, Rule.COUNT}


def check(view: View, proof: Proof) -> None:
    shape = view.geometry
    numbers = shape.cells_in(proof.numbers)
    everything = shape.cells_in(view.opened)
    kind = int(proof.mine)
    assert proof.cell in proved(view, numbers, proof.rule)[kind]
    simpler = list(Rule)[: list(Rule).index(proof.rule)]
    assert all(proof.cell not in proved(view, everything, rule)[kind] for rule in simpler)
    for number in numbers:
        fewer = [other for other in numbers if other != number]
        assert proof.cell not in proved(view, fewer, proof.rule)[kind]
    together = set(shape.cells_in(proof.safe)), set(shape.cells_in(proof.mines))
    assert together == proved(view, numbers, proof.rule)


def concluded(view: View, numbers: int, rule: Rule) -> Knowledge:
    """What the engine finds when it may read only these numbers."""
    knowledge = Knowledge.of(view)
    if rule is Rule.COUNT:
        assert conclude(knowledge, Rule.ENUMERATION, Effort(None))
        knowledge.safe = 0
    knowledge = knowledge.with_numbers(numbers)
    assert conclude(knowledge, rule, Effort(None))
    return knowledge


@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: level.id)
def test_a_hint_on_a_level_is_right_and_small(level: Level) -> None:
    for run in level_runs(level, 3, 100 if FULL else 6):
        view = View.of(run)
        deductions = deduce(view)
        proof = hint(view)
        if not deductions.safe | deductions.mines:
            assert proof is None
            continue
        assert proof is not None
        assert run.board is not None
        assert proof.mine == bool(run.board.mines & run.geometry.bit[proof.cell])
        alone = concluded(view, proof.numbers, proof.rule)
        assert run.geometry.bit[proof.cell] & (alone.mines if proof.mine else alone.safe)
        assert (alone.safe, alone.mines & proof.mines) == (proof.safe, proof.mines)
        for number in run.geometry.cells_in(proof.numbers):
            fewer = concluded(view, proof.numbers & ~run.geometry.bit[number], proof.rule)
            assert fewer.unknown & run.geometry.bit[proof.cell]


def test_a_hint_prefers_what_is_simple_and_safe() -> None:
    proof = hint(drawn("1 . 0 .\n1 . 1 .", 1))
    assert proof is not None
    assert (proof.mine, proof.rule) == (False, Rule.SINGLE)


def test_a_hint_does_not_name_a_mine_that_carries_a_flag() -> None:
    view = drawn(". 2 .", 2)
    first = hint(view)
    assert first is not None
    assert (first.cell, first.mine) == (0, True)
    view.flag(0)
    second = hint(view)
    assert second is not None
    assert (second.cell, second.mine) == (2, True)
    view.flag(2)
    assert hint(view) is None


def test_a_hint_by_the_count_names_a_mine_that_is_still_hidden() -> None:
    proof = hint(drawn("* . .", 3))
    assert proof is not None
    assert (proof.cell, proof.mine, proof.rule, proof.numbers) == (1, True, Rule.COUNT, 0)
    assert proof.mines == 0b110


def test_a_hint_names_a_safe_cell_under_a_wrong_flag() -> None:
    view = drawn("* 1 .", 1)
    view.flag(2)
    proof = hint(view)
    assert proof is not None
    assert (proof.cell, proof.mine) == (2, False)


def test_there_is_no_hint_where_nothing_is_certain() -> None:
    assert hint(drawn(". 1 .", 1)) is None
    assert hint(View.empty(geometry(9, 9), 10)) is None
