"""``Outbox``: frames leave in the order in which they were made, and not before what they tell
is stored.

Law of this module: a frame that tells of an event is never handed to a connection before the
store has said that it holds the event. What was never stored is never told: ``discard`` drops
it, and returns whose moves it would have answered.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol


class Receiver(Protocol):
    """Who frames are sent to."""

    answered_n: int
    done_n: int

    def send(self, frame: bytes) -> None:
        """Send a frame."""

    def send_droppable(self, frame: bytes) -> bool:
        """Send a frame that a slow receiver may miss."""


class Letter(NamedTuple):
    """One frame and who gets it."""

    receivers: tuple[Receiver, ...]
    frame: bytes
    droppable: bool = False


class Answer(NamedTuple):
    """Whose move, of which counter, a parcel answers."""

    receiver: Receiver
    n: int
    made: bool
    """Whether the move had an effect, which the log then holds."""


class _Parcel:
    __slots__ = ("after", "answer", "letters", "ready")

    def __init__(
        self,
        letters: list[Letter],
        answer: Answer | None,
        after: Callable[[], None] | None,
        ready: bool,
    ) -> None:
        self.letters = letters
        self.answer = answer
        self.after = after
        self.ready = ready


class Outbox:
    """The frames of one room that wait for the store, first in, first out."""

    __slots__ = ("_on_failure", "_parcels")

    def __init__(self, on_failure: Callable[[BaseException], None]) -> None:
        self._parcels: deque[_Parcel] = deque()
        self._on_failure = on_failure

    def __len__(self) -> int:
        return len(self._parcels)

    def put(
        self,
        letters: list[Letter],
        *,
        stored: asyncio.Future[None] | None = None,
        answer: Answer | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        """Send ``letters`` once ``stored`` is done and all that was put before has left.

        ``after`` is called right after the letters have left.
        """
        if stored is None and not self._parcels:
            _hand_out(letters, answer, after)
            return
        parcel = _Parcel(letters, answer, after, stored is None)
        self._parcels.append(parcel)
        if stored is not None:
            stored.add_done_callback(lambda future: self._stored(parcel, future))

    def discard(self) -> list[Answer]:
        """Forget all that waits; return whose moves stay without an answer."""
        answers = [parcel.answer for parcel in self._parcels if parcel.answer is not None]
        self._parcels.clear()
        return answers

    def _stored(self, parcel: _Parcel, future: asyncio.Future[None]) -> None:
        error = asyncio.CancelledError() if future.cancelled() else future.exception()
        if error is not None:
            self._on_failure(error)
            return
        parcel.ready = True
        while self._parcels and self._parcels[0].ready:
            first = self._parcels.popleft()
            _hand_out(first.letters, first.answer, first.after)


def _hand_out(
    letters: list[Letter], answer: Answer | None, after: Callable[[], None] | None
) -> None:
    for receivers, frame, droppable in letters:
        for receiver in receivers:
            if droppable:
                receiver.send_droppable(frame)
            else:
                receiver.send(frame)
    if answer is not None:
        answer.receiver.done_n = answer.n
        if answer.made:
            answer.receiver.answered_n = answer.n
    if after is not None:
        after()
