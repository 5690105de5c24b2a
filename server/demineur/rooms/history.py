"""``History``: what a room has told lately, to give a returning client just what it missed.

Public events by their version and, for each seat, the answers to its moves of this round.
Both are bounded; where the gap can't be proved complete the client gets a snapshot.
"""

from collections import deque

from demineur import protocol as wire
from demineur.engine import Mask
from demineur.race import Event, Room, Step, is_public
from demineur.race import events as ev
from demineur.rooms.publish import moved, public_event

EVENTS_KEPT = 256
"""A minute or more of a lively room; a longer absence is a snapshot's."""
MOVES_KEPT = 64
"""Two seconds of the fastest player: what can be unanswered when a line breaks."""


class History:
    """The last public events and answers of one room."""

    __slots__ = ("_events", "_moves", "round")

    def __init__(self) -> None:
        self._events: deque[wire.Event] = deque(maxlen=EVENTS_KEPT)
        self._moves: dict[int, deque[wire.Moved]] = {}
        self.round = 0
        """Public version of the last countdown; 0 before the first."""

    def observe(self, room: Room, step: Step) -> wire.Event | None:
        """Take in an event right after it was applied; return what everybody is told of it."""
        event = step.event
        if not is_public(event):
            return None
        if isinstance(event, ev.CountdownStarted):
            self._moves = {}
            self.round = room.public_version
        told = public_event(room, event)
        if told is None:
            return None
        message = wire.Event(v=room.public_version, event=told)
        self._events.append(message)
        return message

    def replayed(self, room: Room, event: Event, opened: Mask) -> None:
        """Take in an event of a log that is being folded, right after it was applied."""
        self.observe(room, Step(event, opened))
        if isinstance(event, ev.Tapped | ev.Flagged):
            seat = room.seats[event.seat]
            flag = event.cell if isinstance(event, ev.Flagged) else None
            self.answered(event.seat, moved(seat, event.n, event.at_ms, opened, flag))

    def answered(self, seat: int, message: wire.Moved) -> None:
        """Keep the answer to a move that is in the log."""
        moves = self._moves.get(seat)
        if moves is None:
            moves = self._moves[seat] = deque(maxlen=MOVES_KEPT)
        moves.append(message)

    def events_since(self, version: int, latest: int) -> list[wire.Event] | None:
        """Return all public events after ``version``; None if some are no longer kept."""
        if version > latest:
            return None
        missed = [event for event in self._events if event.v > version]
        return missed if len(missed) == latest - version else None

    def moves_since(self, seat: int, version: int, n: int) -> list[wire.Moved] | None:
        """Return all answers of this round after move ``n``; None if some are no longer kept.

        A client that last saw a ``version`` before this round's countdown has none of them.
        """
        moves = self._moves.get(seat)
        if not moves:
            return []
        if version < self.round:
            n = 0
        complete = len(moves) < MOVES_KEPT or moves[0].n <= n
        return [move for move in moves if move.n > n] if complete else None
