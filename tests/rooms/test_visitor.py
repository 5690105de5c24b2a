"""A connection is held for as long as there is a reason to."""

from typing import Any, cast

from demineur.net import Connection
from demineur.protocol import CloseCode
from demineur.rooms.visitor import Hold, Latch, Visitor


class Line:
    """What a visitor does with a connection."""

    def __init__(self) -> None:
        self.is_held = False
        self.frames: list[bytes] = []
        self.code: int | None = None

    def hold(self) -> None:
        self.is_held = True

    def release(self) -> None:
        self.is_held = False

    def send(self, frame: bytes) -> None:
        self.frames.append(frame)

    def close(self, code: int, reason: str) -> None:
        self.code = code


def held_line() -> tuple[Line, Any]:
    line = Line()
    return line, Latch(cast("Connection", line))


def test_one_reason_does_not_let_go_what_another_holds() -> None:
    line, latch = held_line()
    latch.hold(Hold.AWAITING)
    latch.hold(Hold.FROZEN)
    latch.release(Hold.AWAITING)
    assert line.is_held
    latch.release(Hold.AWAITING)
    assert line.is_held
    latch.release(Hold.FROZEN)
    assert not line.is_held


def test_a_reason_counts_once() -> None:
    line, latch = held_line()
    latch.hold(Hold.FROZEN)
    latch.hold(Hold.FROZEN)
    latch.release(Hold.FROZEN)
    assert not line.is_held


def test_an_end_is_told_and_holds_nothing_back() -> None:
    line, latch = held_line()
    visitor = Visitor(latch, "p1", "Zoë")
    visitor.hold(Hold.MOVING)
    visitor.end(CloseCode.RESTART, retry_ms=0)
    assert line.code == 1012
    assert b'"code":1012' in line.frames[0]
    assert b'"retry_ms":0' in line.frames[0]
    assert not line.is_held
