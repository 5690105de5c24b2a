import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import (
    Board,
    CellOffBoardError,
    EngineError,
    Run,
    View,
    geometry,
    layout,
    segments,
)
from tests.engine.positions import boards, carried_out, intentions

# 1 1 1 * 1 0
# * 1 1 1 1 0
# 1 1 0 1 1 1
# 0 0 0 1 * 1
BOARD = Board.from_cells(geometry(6, 4), [3, 6, 22])


@given(boards(), intentions, st.booleans())
def test_what_was_sent_is_what_the_player_sees(
    board: Board, meant: list[tuple[str, int]], penalty: bool
) -> None:
    """A view that is built from segments alone is at every move the view of the run."""
    run = Run(board, penalty=penalty)
    seen = View.empty(run.geometry, run.mine_count)
    numbers = board.numbers()
    for kind, cell in carried_out(run, meant):
        if kind == "tap":
            revealed = run.tap(cell)
            sent = segments(run, revealed)
            assert seen.add(sent) == revealed
            assert [(at, mark) for start, text in sent for at, mark in enumerate(text, start)] == [
                (at, numbers[at]) for at in run.geometry.cells_in(revealed)
            ]
        elif run.flag(cell):
            assert seen.flag(cell)
        of_run = View.of(run)
        for name in View.__slots__:
            assert getattr(seen, name) == getattr(of_run, name)
        assert seen.hidden == run.geometry.full & ~(run.opened | run.exploded)
        for at in run.geometry.indices:
            is_open = run.opened & run.geometry.bit[at]
            assert seen.number(at) == (int(numbers[at]) if is_open else None)


def test_segments_are_stretches_of_rows() -> None:
    run = Run(BOARD, penalty=True)
    run.tap(18)
    assert segments(run, run.opened) == [(7, "111"), (12, "1101"), (18, "0001")]
    exploded = run.tap(6)
    assert segments(run, exploded) == [(6, "*")]
    assert segments(run, run.opened | run.exploded)[0] == (6, "*111")


def test_nothing_revealed_is_no_segment() -> None:
    assert segments(Run(BOARD), 0) == []
    assert segments(Run(layout(9, 9, 10, bytes(16))), 0) == []


@pytest.mark.parametrize("cell", [0, 3, 6, 23])
def test_the_content_of_a_hidden_cell_cannot_be_asked_for(cell: int) -> None:
    run = Run(BOARD)
    run.tap(18)
    run.flag(6)
    hidden = BOARD.geometry.bit[cell]
    for mask in (hidden, run.opened | hidden, -1, BOARD.geometry.full << 7):
        with pytest.raises(EngineError, match="not open"):
            segments(run, mask)
    assert View.of(run).number(cell) is None


def test_a_lost_run_tells_only_the_mine_that_exploded() -> None:
    run = Run(BOARD)
    run.tap(18)
    run.tap(3)
    view = View.of(run)
    assert view.geometry.cells_in(view.exploded) == [3]
    for cell in (6, 22):
        with pytest.raises(EngineError, match="not open"):
            segments(run, BOARD.geometry.bit[cell])


def test_a_view_before_the_first_tap() -> None:
    view = View.of(Run(layout(9, 9, 10, bytes(16))))
    assert (view.opened, view.planes, view.mine_count) == (0, (0, 0, 0, 0), 10)
    assert view.hidden == view.geometry.full


def test_a_player_may_flag_hidden_cells_only() -> None:
    view = View.empty(geometry(3, 1), 1)
    view.add([(1, "1")])
    assert view.flag(0)
    assert view.flags == 0b001
    assert view.flag(0)
    assert view.flags == 0
    assert not view.flag(1)
    with pytest.raises(CellOffBoardError):
        view.flag(3)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ((-1, "1"), "off the 6x4 board"),
        ((24, "1"), "off the 6x4 board"),
        ((5, "11"), "the segment at cell 5 does not fit its row"),
        ((0, ""), "the segment at cell 0 does not fit its row"),
        ((3, "19"), "cell 4 cannot hold '9'"),
        ((3, "1\n"), "cell 4 cannot hold"),
        ((3, "٣"), "cell 3 cannot hold"),
    ],
)
def test_segments_that_cannot_be_are_refused(sent: tuple[int, str], said: str) -> None:
    view = View.empty(geometry(6, 4), 3)
    with pytest.raises(EngineError, match=said):
        view.add([(0, "11"), sent])
    assert (view.opened, view.planes, view.exploded) == (0, (0, 0, 0, 0), 0)
