"""A room as a pure state machine: commands in, events out, and the log folded is the state.

Law of this package: time and randomness are arguments, nothing awaits, nothing knows Redis, a
socket or a frame. ``handle`` is what a shell calls; ``decide``, ``apply`` and ``due`` are its
parts. Rules in brackets (R16) are those of ``docs/rules.md``.
"""

from demineur.race.apply import apply, create, fold, is_public
from demineur.race.codec import decode_event, encode_event
from demineur.race.deadlines import NEVER_MS, due, next_due_ms
from demineur.race.decide import Handled, Step, creation, decide, handle
from demineur.race.errors import BadLog, Reason, Refused
from demineur.race.events import Ending, Event
from demineur.race.settings import RoomSettings
from demineur.race.standings import standings
from demineur.race.state import Phase, Place, RaceResult, Room, Round, Seat
from demineur.race.timers import timer

__all__ = [
    "NEVER_MS",
    "BadLog",
    "Ending",
    "Event",
    "Handled",
    "Phase",
    "Place",
    "RaceResult",
    "Reason",
    "Refused",
    "Room",
    "RoomSettings",
    "Round",
    "Seat",
    "Step",
    "apply",
    "create",
    "creation",
    "decide",
    "decode_event",
    "due",
    "encode_event",
    "fold",
    "handle",
    "is_public",
    "next_due_ms",
    "standings",
    "timer",
]
