"""Events to and from the bytes of a log entry: a JSON array, the kind first, then the fields.

A move is about 30 bytes: ``["t",1764452100123,0,17,203]``. The letters are part of the stored
format: a letter is never given to another kind, fields are only added at the end.
"""

from collections.abc import Callable
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
    "w": ev.HandedOver,
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
    """Return the event of one log entry, or raise ``BadLog``.

    Every field is of its type and every number at least 0. Fields that a later version added
    at the end are passed over.
    """
    try:
        letter, *values = _array(orjson.loads(data))
        kind, readers = _READERS[letter]
        return kind(*[read(value) for read, value in zip(readers, values, strict=False)])
    except (ValueError, KeyError, TypeError, Refused) as error:
        raise BadLog(f"not a log entry: {error}") from error


def _array(value: Any) -> list[Any]:
    if type(value) is not list:
        raise BadLog("an array was expected")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise BadLog("a number was expected")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise BadLog("a text was expected")
    return value


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise BadLog("true or false was expected")
    return value


def _settings(value: Any) -> RoomSettings:
    settings = RoomSettings(*_array(value)).checked()
    _number(settings.players)
    _truth(settings.guess_free)
    _truth(settings.listed)
    return settings


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "code": _text,
    "player": _text,
    "name": _text,
    "seed": _text,
    "ready": _truth,
    "settings": _settings,
    "seats": lambda value: tuple(map(_number, _array(value))),
    "ending": ev.Ending,
    "marked": lambda value: None if value is None else _number(value),
}
"""How a field of this name is read; all others are numbers."""

_READERS: dict[str, tuple[type[ev.Event], tuple[Callable[[Any], Any], ...]]] = {
    letter: (kind, tuple(_FIELDS.get(name, _number) for name in _NAMES[kind]))
    for letter, kind in _KINDS.items()
}
