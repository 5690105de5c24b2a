"""Events to and from the bytes of a log entry: a JSON array, the kind first, then the fields.

A move is about 30 bytes: ``["t",1764452100123,0,17,203]``. The letters are part of the stored
format: a letter is never given to another kind, fields are only added at the end.
"""

from dataclasses import astuple, fields
from typing import Any

import orjson

from demineur.race import events as ev
from demineur.race.errors import BadLog, Refused
from demineur.race.settings import RoomSettings

_KINDS: dict[str, type[ev.Event]] = {
    "c": ev.Created,
    "j": ev.Joined,
    "l": ev.Left,
    "n": ev.Renamed,
    "r": ev.Readied,
    "d": ev.Dropped,
    "b": ev.Returned,
    "h": ev.HostChanged,
    "s": ev.SettingsChanged,
    "p": ev.Preparing,
    "u": ev.Unprepared,
    "k": ev.CountdownStarted,
    "q": ev.CountdownStopped,
    "g": ev.Went,
    "t": ev.Tapped,
    "f": ev.Flagged,
    "m": ev.ClockStarted,
    "e": ev.RunEnded,
    "z": ev.Finished,
    "a": ev.Rematched,
    "y": ev.Stalled,
    "x": ev.Closed,
}
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}
_NAMES = {kind: tuple(f.name for f in fields(kind)) for kind in _LETTERS}


def encode_event(event: ev.Event) -> bytes:
    """Return the event as the bytes of one log entry."""
    kind = type(event)
    if kind is ev.Tapped or kind is ev.Flagged:
        return b'["%c",%d,%d,%d,%d]' % (
            116 if kind is ev.Tapped else 102,
            event.at_ms,
            event.seat,  # type: ignore[union-attr]
            event.n,  # type: ignore[union-attr]
            event.cell,  # type: ignore[union-attr]
        )
    values = [getattr(event, name) for name in _NAMES[kind]]
    return orjson.dumps([_LETTERS[kind], *map(_plain, values)])


def _plain(value: Any) -> Any:
    return list(astuple(value)) if isinstance(value, RoomSettings) else value


def decode_event(data: bytes) -> ev.Event:
    """Return the event of one log entry, or raise ``BadLog``."""
    try:
        letter, *values = orjson.loads(data)
        kind = _KINDS[letter]
        return kind(*map(_rich, _NAMES[kind], values))
    except (ValueError, KeyError, TypeError, Refused) as error:
        raise BadLog(f"not a log entry: {error}") from error


def _rich(name: str, value: Any) -> Any:
    match name:
        case "settings":
            return RoomSettings(*value).checked()
        case "seats":
            return tuple(value)
        case "ending":
            return ev.Ending(value)
        case _:
            return value
