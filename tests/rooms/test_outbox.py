"""Frames leave in order, and not before what they tell is stored."""

import asyncio

import pytest

from demineur.rooms.outbox import Answer, Letter, Outbox


class Ear:
    """A receiver that keeps what it hears; deaf ones miss what may be missed."""

    def __init__(self, *, deaf: bool = False) -> None:
        self.heard: list[bytes] = []
        self.answered_n = self.done_n = 0
        self._deaf = deaf

    def send(self, frame: bytes) -> None:
        self.heard.append(frame)

    def send_droppable(self, frame: bytes) -> bool:
        if not self._deaf:
            self.heard.append(frame)
        return not self._deaf


class Shelf:
    """An outbox, and the appends that it waits for."""

    def __init__(self) -> None:
        self.ear = Ear()
        self.failures: list[BaseException] = []
        self.outbox = Outbox(self.failures.append)

    def put(self, frame: bytes, *, stored: asyncio.Future[None] | None = None, n: int = 0) -> None:
        answer = Answer(self.ear, n, True) if n else None
        self.outbox.put([Letter((self.ear,), frame)], stored=stored, answer=answer)


@pytest.fixture
async def shelf() -> Shelf:
    return Shelf()


def append() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


async def test_what_tells_of_nothing_stored_leaves_at_once(shelf: Shelf) -> None:
    shelf.put(b"a")
    assert shelf.ear.heard == [b"a"]


async def test_nothing_overtakes_what_waits(shelf: Shelf) -> None:
    first, second = append(), append()
    shelf.put(b"1", stored=first, n=1)
    shelf.put(b"2", stored=second, n=2)
    shelf.put(b"3")
    second.set_result(None)
    await asyncio.sleep(0)
    assert (shelf.ear.heard, shelf.ear.answered_n, len(shelf.outbox)) == ([], 0, 3)
    first.set_result(None)
    await asyncio.sleep(0)
    assert (shelf.ear.heard, shelf.ear.answered_n) == ([b"1", b"2", b"3"], 2)
    assert len(shelf.outbox) == 0


async def test_what_was_never_stored_is_never_told(shelf: Shelf) -> None:
    lost, later = append(), append()
    shelf.put(b"1", stored=lost, n=1)
    shelf.put(b"2", stored=later, n=2)
    lost.set_exception(OSError("gone"))
    await asyncio.sleep(0)
    assert [str(error) for error in shelf.failures] == ["gone"]
    assert [answer.n for answer in shelf.outbox.discard()] == [1, 2]
    later.set_result(None)
    await asyncio.sleep(0)
    assert shelf.ear.heard == []


async def test_a_cancelled_append_is_a_failed_one(shelf: Shelf) -> None:
    stored = append()
    shelf.put(b"1", stored=stored)
    stored.cancel()
    await asyncio.sleep(0)
    assert [type(error) for error in shelf.failures] == [asyncio.CancelledError]


async def test_what_comes_after_is_called_once_the_letters_have_left(shelf: Shelf) -> None:
    stored = append()
    seen: list[list[bytes]] = []
    shelf.outbox.put(
        [Letter((shelf.ear,), b"1")], stored=stored, after=lambda: seen.append([*shelf.ear.heard])
    )
    assert seen == []
    stored.set_result(None)
    await asyncio.sleep(0)
    assert seen == [[b"1"]]


async def test_a_slow_receiver_misses_what_may_be_missed(shelf: Shelf) -> None:
    deaf = Ear(deaf=True)
    shelf.outbox.put([Letter((shelf.ear, deaf), b"p", droppable=True), Letter((deaf,), b"e")])
    assert (shelf.ear.heard, deaf.heard) == ([b"p"], [b"e"])
