import pytest

from demineur.engine import EngineError
from demineur.engine.deduction_knowledge import Knowledge, Reaches, Rule, conclude
from demineur.engine.effort import Effort, SearchStoppedError
from tests.engine.deduction_oracle import drawn


def test_a_copy_with_fewer_numbers_leaves_the_original_alone() -> None:
    whole = Knowledge.of(drawn(". 1 1 .", 2))
    part = whole.with_numbers(0b0010)
    part.settle()
    assert part.mines == 0b0001
    assert (whole.mines, whole.unknown, whole.numbers) == (0, 0b1001, 0b0110)
    whole.settle()
    assert whole.mines == 0b1001


def test_small_components_are_looked_at_before_a_huge_one() -> None:
    knowledge = Knowledge.of(drawn(". 1 . 1 . 1 . 1 . 1 . 1 . . . 1 .", 5))
    known: Reaches = {}
    assert not knowledge.reach(Effort(40), known)
    assert list(known) == [(1 << 15, 1 << 14 | 1 << 16)]
    assert knowledge.reach(Effort(200), known)
    assert len(known) == 2


def test_components_are_enumerated_again_only_when_they_changed() -> None:
    knowledge = Knowledge.of(drawn(". 1 . 1 . . . 1 .", 3))
    known: Reaches = {}
    assert knowledge.reach(Effort(None), known)
    before = dict(known)
    knowledge.learn(1 << 6, 1 << 8)
    assert knowledge.reach(Effort(None), known)
    assert len(known) == 1
    assert all(before[group] is reach for group, reach in known.items())


def test_what_is_proved_both_ways_fits_no_layout() -> None:
    with pytest.raises(EngineError):
        Knowledge.of(drawn(". . .", 1)).learn(0b011, 0b110)


def test_a_caller_can_stop_an_enumeration() -> None:
    knowledge = Knowledge.of(drawn(". 1 . 1 . . . 1 .", 3))
    with pytest.raises(SearchStoppedError):
        conclude(knowledge, Rule.COUNT, Effort(None, lambda: True))


def test_rules_are_ordered_from_the_simplest() -> None:
    assert [rule.value for rule in Rule] == ["single", "subset", "overlap", "enumeration", "count"]
