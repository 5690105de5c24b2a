from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demineur.engine import (
    LEVELS,
    CellOffBoardError,
    EngineError,
    Layout,
    Level,
    attempt_seed,
    commitment,
    geometry,
    layout,
    order,
    seeding,
)
from tests.engine.naive import naive_mines, naive_order
from tests.engine.positions import seed_of, vectors

SEED = bytes(range(16))

sizes = st.tuples(st.integers(1, 40), st.integers(1, 40)).filter(lambda s: s[0] * s[1] >= 9)


@st.composite
def seeded(draw: st.DrawFn) -> tuple[bytes, int, int, int, int]:
    width, height = draw(sizes)
    cells = width * height
    mines = draw(st.integers(0, cells - 9))
    return (
        draw(st.binary(min_size=16, max_size=16)),
        width,
        height,
        mines,
        draw(st.integers(0, cells - 1)),
    )


@given(seeded())
def test_order_and_mines_are_those_of_the_definition(
    case: tuple[bytes, int, int, int, int],
) -> None:
    seed, width, height, mines, first_tap = case
    assert order(seed, width, height, mines) == naive_order(seed, width, height, mines)
    boards = layout(width, height, mines, seed)
    found = boards.mines_for(first_tap)
    assert boards.geometry.cells_in(found) == naive_mines(seed, width, height, mines, first_tap)
    assert boards.board(first_tap).mines == found
    assert found.bit_count() == mines
    assert not found & boards.geometry.square[first_tap]


def test_words_that_are_passed_over() -> None:
    """On a full 255 x 255 board one seed in five meets such a word."""
    passed_over = 0
    for number in range(12):
        seed = seed_of("passed over", number)
        blocks = -(-65025 // 8)
        words = seeding._words(b"demineur/board/1" + seed + b"\0\xff\0\xff\xfd\xf8", 0, blocks)
        passed_over += any(
            word >= 2**32 - 2**32 % (65025 - i) for i, word in enumerate(words[:65025])
        )
        if passed_over < 3:
            assert order(seed, 255, 255, 65016) == naive_order(seed, 255, 255, 65016)
    assert passed_over >= 1


def test_a_word_in_the_last_block_that_is_passed_over() -> None:
    """The stream is then longer than the blocks that are drawn at first."""
    seed = bytes(16)
    blocks = iter([(0, 2**32 - 1, 5, 6, 7, 8, 9, 10), (11, 12, 13, 14, 15, 16, 17, 18)])

    def words(prefix: bytes, first: int, count: int) -> tuple[int, ...]:
        assert (first, count) in ((0, 1), (1, 1))
        return next(blocks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeding, "_words", words)
        draws = seeding._draws(seed, 12, 8)
    assert draws == [0, 5, 6, 7, 8 % 8, 9 % 7, 10 % 6, 11 % 5]


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS.keys())
def test_a_first_tap_moves_at_most_nine_mines(level: Level) -> None:
    shape = level.geometry
    corners = [0, level.width - 1, shape.cells - level.width, shape.cells - 1]
    edges = [level.width // 2, level.width * (level.height // 2), corners[3] - 1]
    for number in range(500):
        boards = Layout(shape, level.mines, seed_of(level.id, number))
        inside = int.from_bytes(seed_of("tap", number)[:2], "big") % shape.cells
        taps = [*corners, *edges, inside, (inside + 1) % shape.cells]
        masks = [boards.mines_for(tap) for tap in taps]
        for tap, mines in zip(taps, masks, strict=True):
            assert mines.bit_count() == level.mines
            assert not mines & shape.square[tap]
            assert mines == boards.mines_for(tap)
        for mines in masks:
            for other in masks:
                assert (mines & ~other).bit_count() <= 9
                assert (other & ~mines).bit_count() <= 9


def test_two_players_with_the_same_first_tap_have_the_same_board() -> None:
    for number in range(200):
        seed = seed_of("same", number)
        level = list(LEVELS.values())[number % 6]
        tap = number * 37 % level.geometry.cells
        mine = Layout(level.geometry, level.mines, seed).board(tap)
        yours = Layout(level.geometry, level.mines, seed).board(tap)
        assert mine == yours


def test_no_room_to_spare() -> None:
    boards = layout(9, 9, 72, SEED)
    for tap in range(81):
        board = boards.board(tap)
        assert board.mine_count == 72
        assert not board.mines & boards.geometry.square[tap]
    assert boards.board(40).safe == boards.geometry.square[40]


def test_commitments() -> None:
    for vector in vectors("boards")[:6]:
        assert commitment(bytes.fromhex(vector["seed"])) == vector["commitment"]
    assert commitment(SEED) == sha256(SEED).hexdigest()


def test_attempts() -> None:
    assert attempt_seed(SEED, 0) == SEED
    for attempt in (1, 2, 258, 2**32 - 1):
        digest = sha256(b"demineur/attempt/1" + SEED + attempt.to_bytes(4, "big")).digest()
        assert attempt_seed(SEED, attempt) == digest[:16]
        made = Layout(geometry(9, 9), 10, SEED, attempt)
        assert made.order == order(digest[:16], 9, 9, 10)
        assert (made.seed, made.attempt) == (SEED, attempt)


@pytest.mark.parametrize("seed", [b"", bytes(15), bytes(17)])
def test_seeds_are_16_bytes(seed: bytes) -> None:
    for use in (
        lambda: commitment(seed),
        lambda: attempt_seed(seed, 0),
        lambda: order(seed, 9, 9, 10),
        lambda: layout(9, 9, 10, seed),
    ):
        with pytest.raises(EngineError, match=f"^a seed has 16 bytes, not {len(seed)}$"):
            use()


def test_what_a_seed_cannot_make_is_refused() -> None:
    with pytest.raises(EngineError, match=r"^a 9x9 board holds 0 to 72 mines, not 73$"):
        order(SEED, 9, 9, 73)
    with pytest.raises(EngineError, match=r"^an attempt is from 0 to 4294967295, not -1$"):
        layout(9, 9, 10, SEED, -1)
    with pytest.raises(EngineError, match=r"not 4294967296$"):
        attempt_seed(SEED, 2**32)
    for cell in (-1, 81):
        with pytest.raises(CellOffBoardError):
            layout(9, 9, 10, SEED).mines_for(cell)


def test_layouts_are_equal_by_what_they_are_made_from() -> None:
    made = layout(9, 9, 10, SEED)
    assert made == layout(9, 9, 10, SEED)
    assert hash(made) == hash(layout(9, 9, 10, SEED))
    others = (layout(9, 9, 11, SEED), layout(9, 10, 10, SEED), layout(9, 9, 10, SEED, 1))
    assert made not in others
    assert made != layout(9, 9, 10, bytes(16))
    assert made != "layout"


def test_a_layout_does_not_show_its_seed() -> None:
    made = layout(9, 9, 10, SEED, 3)
    assert repr(made) == "Layout(geometry(9, 9), 10, attempt=3)"
    assert SEED.hex() not in str(made)


@settings(max_examples=25)
@given(st.binary(min_size=16, max_size=16), st.integers(0, 3199))
def test_marathon_is_that_of_the_definition(seed: bytes, first_tap: int) -> None:
    level = LEVELS["marathon"]
    made = Layout(level.geometry, level.mines, seed)
    expected = naive_mines(seed, level.width, level.height, level.mines, first_tap)
    assert level.geometry.cells_in(made.mines_for(first_tap)) == expected
