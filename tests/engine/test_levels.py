import pytest

from demineur.engine import LEVELS, EngineError, check_board


def test_the_six_levels() -> None:
    assert [(level.id, level.width, level.height, level.mines) for level in LEVELS.values()] == [
        ("beginner", 9, 9, 10),
        ("intermediate", 16, 10, 25),
        ("hard", 20, 12, 40),
        ("expert", 30, 16, 60),
        ("extreme", 40, 20, 60),
        ("marathon", 80, 40, 240),
    ]
    for name, level in LEVELS.items():
        assert name == level.id
        assert (level.geometry.width, level.geometry.height) == (level.width, level.height)
        check_board(level.width, level.height, level.mines)


@pytest.mark.parametrize(
    ("width", "height", "mines"),
    [(9, 9, 72), (9, 9, 0), (3, 3, 0), (1, 9, 0), (9, 1, 0), (255, 255, 65016), (1, 255, 246)],
)
def test_boards_that_a_seed_can_make(width: int, height: int, mines: int) -> None:
    check_board(width, height, mines)


@pytest.mark.parametrize(
    ("width", "height", "mines", "said"),
    [
        (9, 9, 73, "a 9x9 board holds 0 to 72 mines, not 73"),
        (9, 9, -1, "a 9x9 board holds 0 to 72 mines, not -1"),
        (3, 3, 1, "a 3x3 board holds 0 to 0 mines, not 1"),
        (1, 8, 0, "a 1x8 board is too small for a protected tap: it has fewer than 9 cells"),
        (1, 1, 0, "a 1x1 board is too small for a protected tap: it has fewer than 9 cells"),
        (256, 2, 0, "a board has 1 to 255 columns and rows, not 256x2"),
    ],
)
def test_boards_that_it_cannot(width: int, height: int, mines: int, said: str) -> None:
    with pytest.raises(EngineError) as refused:
        check_board(width, height, mines)
    assert str(refused.value) == said
