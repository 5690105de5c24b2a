from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import (
    LEVELS,
    Board,
    EngineError,
    Layout,
    Run,
    decode_board,
    decode_run,
    encode_board,
    encode_run,
    geometry,
    layout,
)
from tests.engine.positions import boards, carried_out, intentions, seed_of

BOARD = Board.from_cells(geometry(6, 4), [3, 6, 22])


@st.composite
def runs(draw: st.DrawFn) -> Run:
    penalty = draw(st.booleans())
    source: Board | Layout = draw(boards())
    if draw(st.booleans()):
        width, height = draw(st.integers(3, 12)), draw(st.integers(3, 12))
        mines = draw(st.integers(0, (width * height - 9) // 2))
        attempt = draw(st.sampled_from([0, 1, 2**32 - 1]))
        source = layout(width, height, mines, draw(st.binary(min_size=16, max_size=16)), attempt)
    run = Run(source, penalty=penalty)
    for kind, cell in carried_out(run, draw(intentions)):
        if kind == "tap":
            run.tap(cell)
        else:
            run.flag(cell)
    return run


@given(boards())
def test_a_board_comes_back(board: Board) -> None:
    data = encode_board(board)
    assert decode_board(data) == board
    shape = board.geometry
    assert len(data) == 3 + ((shape.width + 1) * shape.height + 7) // 8


@given(runs())
def test_a_run_comes_back_and_goes_on(run: Run) -> None:
    again = decode_run(encode_run(run))
    assert again == run
    assert encode_run(again) == encode_run(run)
    for cell in run.geometry.indices:
        assert (again.tap(cell), again.status) == (run.tap(cell), run.status)
    assert again == run


@given(st.binary(max_size=80))
def test_random_bytes_are_refused_or_stand_for_themselves(data: bytes) -> None:
    _only_engine_errors(data)


@given(st.data())
def test_damaged_bytes_are_refused_or_stand_for_themselves(data: st.DataObject) -> None:
    """What decodes is the one encoding of what it decodes to, so nothing is guessed."""
    encoded = bytearray(encode_run(data.draw(runs())))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(encoded) - 1))
        encoded[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(encoded)) | st.just(len(encoded)))
    _only_engine_errors(bytes(encoded[:cut]))
    _only_engine_errors(bytes(encoded) + b"\0")


def _only_engine_errors(data: bytes) -> None:
    with suppress(EngineError):
        assert encode_run(decode_run(data)) == data
    with suppress(EngineError):
        assert encode_board(decode_board(data)) == data


def test_documented_sizes() -> None:
    for name, of_board, before, least, usual, most in (
        ("expert", 65, 26, 98, 160, 222),
        ("marathon", 408, 26, 441, 846, 1251),
    ):
        level = LEVELS[name]
        run = Run(Layout(level.geometry, level.mines, seed_of("sizes")), penalty=True)
        assert len(encode_run(run)) == before
        run.tap(0)
        assert run.board is not None
        assert len(encode_board(run.board)) == of_board
        assert len(encode_run(run)) == least
        mines = run.geometry.cells_in(run.board.mines)
        run.flag(mines[0])
        assert len(encode_run(run)) == usual
        run.tap(mines[1])
        assert len(encode_run(run)) == most


def _in_play() -> bytes:
    run = Run(BOARD, penalty=True)
    run.tap(18)
    run.flag(0)
    run.tap(6)
    return encode_run(run)


def test_the_layout_of_bytes() -> None:
    data = _in_play()
    assert data[:4] == bytes([0x12, 6, 4, 1 | 2 | 4 | 8])
    assert data[4:8] == BOARD.mines.to_bytes(4, "big")
    assert data[8:10] == (18).to_bytes(2, "big")
    assert data[10:18] == (2).to_bytes(4, "big") + (1).to_bytes(4, "big")
    assert data[22:26] == (1).to_bytes(4, "big")
    assert len(data) == 30
    seeded = encode_run(Run(layout(9, 9, 10, bytes(range(16)), 7)))
    assert seeded == bytes([0x13, 9, 9, 0]) + bytes(range(16)) + b"\0\0\0\x07\0\x0a"


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (0, 0x11, "do not hold a run"),
        (1, 0, "1 to 255 columns and rows"),
        (3, 16 | 15, "unknown marks 0x1f"),
        (3, 2 | 4 | 1, "4 bytes too many"),
        (3, 4, "before its first tap"),
        (3, 8, "before its first tap"),
        (4, 0xF0, "cells off its 6x4 board"),
        (9, 24, "cell 24 is off the 6x4 board"),
        (13, 0, "no tap was made"),
        (17, 0, "more flags stand than were set"),
        (25, 0, "should have been left out"),
        (29, 0, "should have been left out"),
    ],
)
def test_what_is_wrong_is_said(at: int, value: int, said: str) -> None:
    data = bytearray(_in_play())
    data[at] = value
    with pytest.raises(EngineError, match=said):
        decode_run(bytes(data))


def test_ends_are_found() -> None:
    data = _in_play()
    for length in range(len(data)):
        with pytest.raises(EngineError, match="cut short"):
            decode_run(data[:length])
    with pytest.raises(EngineError, match="a run has 2 bytes too many"):
        decode_run(data + b"\0\0")
    with pytest.raises(EngineError, match="do not hold a board"):
        decode_board(data)
    with pytest.raises(EngineError, match="a board has 1 bytes too many"):
        decode_board(encode_board(BOARD) + b"\0")


def test_counts_that_do_not_fit() -> None:
    run = Run(BOARD)
    run.tap(18)
    run.flag_moves = 2**32
    with pytest.raises(EngineError, match="more than 4294967295 moves"):
        encode_run(run)
