"""Log entries: what is stored, and what is not taken for one."""

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demineur.engine import LEVELS
from demineur.race import (
    BadLog,
    Ending,
    Event,
    RoomSettings,
    create,
    decode_event,
    encode_event,
    fold,
    is_public,
)
from demineur.race import events as ev
from tests.effort import tries
from tests.race.scene import GUESS_FREE, PENALTY, SEED, Scene, finished, state_of

KINDS: tuple[type[Event], ...] = get_args(Event)

STORED: dict[bytes, Event] = {
    b'["c",7,"K7MP3QXZ",["expert","shared",true,"penalty",32,true],"p0","Zo\xc3\xab"]': ev.Created(
        7, "K7MP3QXZ", RoomSettings("expert", "shared", True, "penalty", 32, True), "p0", "Zoë"
    ),
    b'["j",7,1,"p1","Bo"]': ev.Joined(7, 1, "p1", "Bo"),
    b'["l",7,1]': ev.Left(7, 1),
    b'["n",7,1,"Bo"]': ev.Renamed(7, 1, "Bo"),
    b'["r",7,1,true]': ev.Readied(7, 1, True),
    b'["d",7,1]': ev.Dropped(7, 1),
    b'["b",7,1]': ev.Returned(7, 1),
    b'["h",7,1]': ev.HostChanged(7, 1),
    b'["s",7,["beginner","own",false,"out",8,false]]': ev.SettingsChanged(
        7, RoomSettings("beginner")
    ),
    b'["p",7,"000102030405060708090a0b0c0d0e0f",40,[0,2]]': ev.Preparing(7, SEED, 40, (0, 2)),
    b'["u",7]': ev.Unprepared(7),
    b'["k",7,"000102030405060708090a0b0c0d0e0f",3,null,3007,[0,2]]': ev.CountdownStarted(
        7, SEED, 3, None, 3_007, (0, 2)
    ),
    b'["q",7]': ev.CountdownStopped(7),
    b'["g",7,600007]': ev.Went(7, 600_007),
    b'["t",1764452100123,0,17,203]': ev.Tapped(1_764_452_100_123, 0, 17, 203),
    b'["f",1764452100123,31,2147483647,3199]': ev.Flagged(
        1_764_452_100_123, 31, 2_147_483_647, 3_199
    ),
    b'["m",7,1]': ev.ClockStarted(7, 1),
    b'["e",7,1,"timeout"]': ev.RunEnded(7, 1, Ending.TIMEOUT),
    b'["z",7]': ev.Finished(7),
    b'["a",7,1]': ev.Rematched(7, 1),
    b'["y",7,2500]': ev.Stalled(7, 2_500),
    b'["w",7]': ev.HandedOver(7),
    b'["x",7]': ev.Closed(7),
}
"""The stored form of every kind. It never changes: logs outlive the program that wrote them."""


@pytest.mark.parametrize("data", STORED, ids=lambda data: data[2:3].decode())
def test_the_stored_form_is_as_it_always_was(data: bytes) -> None:
    assert encode_event(STORED[data]) == data
    assert decode_event(data) == STORED[data]
    assert type(decode_event(data)) is type(STORED[data])


def test_every_kind_has_its_stored_form() -> None:
    assert {type(event) for event in STORED.values()} == set(KINDS)
    assert len({data[:4] for data in STORED}) == len(KINDS)


def test_endings_are_stored_by_these_words() -> None:
    assert [ending.value for ending in Ending] == ["won", "lost", "left", "absent", "timeout"]


def test_moves_and_what_only_the_shell_knows_are_not_public() -> None:
    private = {kind for kind in KINDS if not is_public(_any_of(kind))}
    assert private == {ev.Tapped, ev.Flagged, ev.ClockStarted, ev.HandedOver, ev.Closed}


def _any_of(kind: type[Event]) -> Event:
    return next(event for event in STORED.values() if type(event) is kind)


NUMBERS = st.integers(0, 2**53)
TEXTS = st.text(max_size=30)
SETTINGS = st.builds(
    RoomSettings,
    st.sampled_from(sorted(LEVELS)),
    st.just("shared"),
    st.booleans(),
    st.sampled_from(["out", "penalty"]),
    st.integers(2, 32),
    st.booleans(),
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "code": TEXTS,
    "player": TEXTS,
    "name": TEXTS,
    "seed": st.binary(min_size=16, max_size=16).map(bytes.hex),
    "ready": st.booleans(),
    "settings": SETTINGS,
    "seats": st.lists(NUMBERS, max_size=32).map(tuple),
    "ending": st.sampled_from(Ending),
    "marked": st.one_of(st.none(), NUMBERS),
}


def of_kind(kind: type[Event]) -> st.SearchStrategy[Event]:
    return st.builds(kind, *[FIELDS.get(field.name, NUMBERS) for field in fields(kind)])


EVENTS = st.one_of([of_kind(kind) for kind in KINDS])


@tries(200)
@given(EVENTS)
def test_what_is_written_is_read_again(event: Event) -> None:
    data = encode_event(event)
    again = decode_event(data)
    assert again == event
    assert type(again) is type(event)
    assert encode_event(again) == data


def test_a_field_that_a_later_version_added_is_passed_over() -> None:
    assert decode_event(b'["l",7,1,{"why":"tired"}]') == ev.Left(7, 1)


GARBAGE = {
    "nothing": b"",
    "no JSON": b"[",
    "no UTF-8": b'["l",7,"\xff"]',
    "no array": b'{"l":7}',
    "a text whose letters fit": b'"l71"',
    "an object whose keys fit": b'{"l":0,"7":0,"1":0}',
    "an empty array": b"[]",
    "an unknown letter": b'["?",7]',
    "a letter that is no text": b"[[],7]",
    "a field too few": b'["l",7]',
    "a number that is text": b'["l",7,"1"]',
    "a number that is true": b'["l",7,true]',
    "a number that is none": b'["l",7,null]',
    "a number with a fraction": b'["l",7.5,1]',
    "a negative number": b'["l",-7,1]',
    "a number without bound": b'["l",7,1e400]',
    "a text that is a number": b'["n",7,1,2]',
    "true that is a number": b'["r",7,1,1]',
    "an unknown ending": b'["e",7,1,"bored"]',
    "seats that are no array": b'["k",7,"00",0,null,7,"01"]',
    "a seat that is text": b'["k",7,"00",0,null,7,["0"]]',
    "a mark that is text": b'["k",7,"00",0,"4",7,[0]]',
    "settings that are no array": b'["s",7,{"beginner":1}]',
    "settings of an unknown level": b'["s",7,["nightmare"]]',
    "settings of a level without end": b'["s",7,[["beginner"]]]',
    "settings that cannot be": b'["s",7,["beginner","own",true]]',
    "settings with a wrong truth": b'["s",7,["beginner","shared",1]]',
    "settings with a fraction": b'["s",7,["beginner","own",false,"out",2.5]]',
    "settings too many": b'["s",7,["beginner","own",false,"out",2,false,1]]',
    "nested without end": b"[" * 100_000,
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_no_entry(data: bytes) -> None:
    with pytest.raises(BadLog):
        decode_event(data)


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 2**40),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.sampled_from(["beginner", "own", "out", "won", SEED, "K7MP3QXZ"]),
    ),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
LETTERS = st.sampled_from([data[2:3].decode() for data in STORED])
ENTRIES = st.one_of(
    st.binary(max_size=60),
    JSON.map(json.dumps).map(str.encode),
    st.tuples(LETTERS, st.lists(JSON, max_size=7)).map(
        lambda entry: json.dumps([entry[0], *entry[1]]).encode()
    ),
)


@tries(250)
@given(ENTRIES)
def test_whatever_comes_is_an_entry_or_a_bad_log(data: bytes) -> None:
    try:
        event = decode_event(data)
    except BadLog:
        return
    assert decode_event(encode_event(event)) == event


@tries(200)
@given(st.lists(EVENTS, max_size=8), st.sampled_from([Scene, lambda: finished(2, PENALTY)]))
def test_any_log_folds_or_is_a_bad_log(more: list[Event], scene: Callable[[], Scene]) -> None:
    log = [*scene().log, *more]
    try:
        room = fold(log)
    except BadLog:
        return
    assert room.version == len(log)


@pytest.mark.parametrize("log", [[], [ev.Finished(7)], [ev.Tapped(7, 0, 1, 1)]], ids=repr)
def test_a_log_begins_with_the_rooms_creation(log: list[Event]) -> None:
    with pytest.raises(BadLog):
        fold(log)
    for event in log:
        with pytest.raises(BadLog):
            create(event)


CREATED = ev.Created(7, "K7MP3QXZ", GUESS_FREE, "p0", "Player 0")
NOT_HERE: dict[str, Event] = {
    "a second creation": CREATED,
    "a seat that is not there": ev.Left(7, 1),
    "a tap without a run": ev.Tapped(7, 0, 1, 0),
    "a flag without a run": ev.Flagged(7, 0, 1, 0),
    "go without a round": ev.Went(7, 8),
    "the end of no round": ev.Finished(7),
    "a seed that is none": ev.CountdownStarted(7, "zz", 0, None, 8, (0,)),
    "a seed too short": ev.CountdownStarted(7, "00", 0, None, 8, (0,)),
    "an attempt beyond all": ev.CountdownStarted(7, SEED, 2**32, None, 8, (0,)),
}


@pytest.mark.parametrize("event", NOT_HERE.values(), ids=NOT_HERE)
def test_an_event_that_cannot_follow_is_a_bad_log(event: Event) -> None:
    with pytest.raises(BadLog):
        fold([CREATED, event])


def test_a_move_off_the_board_is_a_bad_log() -> None:
    scene = Scene()
    started = ev.CountdownStarted(7, SEED, 0, None, 8, (0,))
    for move in (ev.Tapped(9, 0, 1, 81), ev.Tapped(9, 0, 1, 10**9), ev.Flagged(9, 0, 1, 81)):
        with pytest.raises(BadLog):
            fold([*scene.log, started, ev.Went(8, 9), move])


def test_a_whole_log_makes_the_room_again() -> None:
    scene = finished(3, PENALTY)
    log = [decode_event(encode_event(event)) for event in scene.log]
    assert state_of(fold(log)) == state_of(scene.room)
