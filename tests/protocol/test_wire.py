"""``decode`` and ``encode``: every message, every fault, and nothing that gets through."""

import json
from dataclasses import dataclass
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from demineur import protocol as wire
from demineur.protocol import ClientMessage, ErrorCode, Fault, decode, encode
from tests.effort import tries

EXPERT = wire.Settings(level="expert")
ALL_SET = wire.Settings(
    level="marathon", start="shared", guess_free=True, mine="penalty", players=32, listed=True
)
UNDERSTOOD: dict[str, ClientMessage] = {
    '{"t":"hello"}': wire.Hello(t="hello"),
    '{"t":"hello","token":null,"name":null}': wire.Hello(t="hello"),
    '{"t":"hello","token":"abc","name":"Zo\\u00eb"}': wire.Hello(
        t="hello", token="abc", name="Zoë"
    ),
    '{"t":"create","settings":{"level":"expert"}}': wire.Create(t="create", settings=EXPERT),
    '{"t":"create","settings":{"level":"marathon","start":"shared","guess_free":true,'
    '"mine":"penalty","players":32,"listed":true}}': wire.Create(t="create", settings=ALL_SET),
    '{"t":"join"}': wire.Join(t="join"),
    '{"t":"join","role":"spectator","since":0,"n":2147483647}': wire.Join(
        t="join", role="spectator", since=0, n=2**31 - 1
    ),
    '{"t":"rename","name":"Bo"}': wire.Rename(t="rename", name="Bo"),
    '{"t":"ready","ready":false}': wire.Ready(t="ready", ready=False),
    '{"t":"settings","settings":{"level":"expert"}}': wire.SettingsChange(
        t="settings", settings=EXPERT
    ),
    '{"t":"start"}': wire.Start(t="start"),
    ' {\n"c" : 64 , "n":1,"t":"tap"} ': wire.Tap(t="tap", n=1, c=64),
    '{"t":"flag","n":2147483647,"c":65024}': wire.Flag(t="flag", n=2**31 - 1, c=65_024),
    '{"t":"leave"}': wire.Leave(t="leave"),
    '{"t":"rematch"}': wire.Rematch(t="rematch"),
    '{"t":"ping","at":0}': wire.Ping(t="ping", at=0),
    '{"t":"ping","at":1234.5}': wire.Ping(t="ping", at=1234.5),
    '{"t":"ping","at":9007199254740992}': wire.Ping(t="ping", at=2.0**53),
}
KINDS: tuple[type[BaseModel], ...] = get_args(get_args(ClientMessage)[0])


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_message_is_understood(text: str) -> None:
    for frame in (text, text.encode()):
        message = decode(frame)
        assert message == UNDERSTOOD[text]
        assert type(message) is type(UNDERSTOOD[text])


def test_every_kind_is_tried() -> None:
    assert {type(message) for message in UNDERSTOOD.values()} == set(KINDS)


def test_what_is_left_out_is_as_documented() -> None:
    settings = EXPERT.model_dump()
    assert settings == {
        "level": "expert",
        "start": "own",
        "guess_free": False,
        "mine": "out",
        "players": 8,
        "listed": False,
    }
    assert wire.Join(t="join").role == "player"


def test_a_message_cannot_be_changed() -> None:
    tap = wire.Tap(t="tap", n=1, c=1)
    with pytest.raises(ValidationError):
        tap.n = 2  # type: ignore[misc]


def test_of_a_key_that_comes_twice_the_last_counts_everywhere() -> None:
    assert decode('{"t":"tap","n":1,"n":2,"c":3}') == wire.Tap(t="tap", n=2, c=3)
    assert decode('{"t":"tap","t":"flag","n":1,"c":3}') == wire.Flag(t="flag", n=1, c=3)
    assert fault('{"t":"tap","n":1,"n":2,"c":-3}').n == 2
    assert fault('{"t":"tap","n":1,"c":3,"c":-3}').code is ErrorCode.BAD_FIELD


def fault(frame: str | bytes) -> Fault:
    with pytest.raises(Fault) as raised:
        decode(frame)
    return raised.value


NOT_JSON: dict[str, str | bytes] = {
    "nothing": "",
    "white space": " \n",
    "a word": "hello",
    "half an object": '{"t":"start"',
    "two objects": '{"t":"start"}{"t":"start"}',
    "something after": '{"t":"start"} x',
    "a null after": '{"t":"start"}\0',
    "a trailing comma": '{"t":"start",}',
    "single quotes": "{'t':'start'}",
    "a comment": '{"t":"start"/**/}',
    "a byte order mark": b'\xef\xbb\xbf{"t":"start"}',
    "UTF-16": '{"t":"start"}'.encode("utf-16"),
    "no UTF-8": b'{"t":"rename","name":"\xff"}',
    "overlong UTF-8": b'{"t":"rename","name":"\xc0\xaf"}',
    "half a character, escaped": '{"t":"rename","name":"\\ud800"}',
    "half a character, raw": '{"t":"rename","name":"\ud800"}',
    "half a character, encoded": b'{"t":"rename","name":"\xed\xa0\x80"}',
    "a raw control character": '{"t":"rename","name":"\x01"}',
    "an array": '[{"t":"start"}]',
    "a number": "1",
    "a text": '"start"',
    "null": "null",
    "arrays without end": "[" * 100_000,
    "objects without end": '{"t":' * 100_000,
    "deep but closed": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "deep inside a field": '{"t":"hello","token":' + "[" * 5_000 + "]" * 5_000 + "}",
    "a number of 10,000 digits": '{"t":"tap","c":1,"n":' + "9" * 10_000 + "}",
    "a megabyte": "x" * 1_000_000,
}


@pytest.mark.parametrize("frame", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_not_one_json_object_is_called_so(frame: str | bytes) -> None:
    refused = fault(frame)
    assert refused.code is ErrorCode.NOT_JSON
    assert refused.n is None


UNKNOWN = [
    "{}",
    '{"t":null}',
    '{"t":7}',
    '{"t":["tap"]}',
    '{"t":{}}',
    '{"t":"START"}',
    '{"T":"tap"}',
]


@pytest.mark.parametrize("frame", [*UNKNOWN, '{"t":"START"}', '{"t":"welcome"}', '{"t":""}'])
def test_an_unknown_kind_is_called_so(frame: str) -> None:
    assert fault(frame).code is ErrorCode.UNKNOWN_KIND


@dataclass(frozen=True)
class Bad:
    """A frame with a bad field, and what the text must name."""

    frame: str
    names: str


BIG = "1" * 400
BAD_FIELDS = [
    Bad('{"t":"tap","c":1}', "n:"),
    Bad('{"t":"tap","n":1}', "c:"),
    Bad('{"t":"tap","n":0,"c":1}', "n:"),
    Bad('{"t":"tap","n":2147483648,"c":1}', "n:"),
    Bad('{"t":"tap","n":1.0,"c":1}', "n:"),
    Bad('{"t":"tap","n":1e5000,"c":1}', "n:"),
    Bad('{"t":"tap","n":NaN,"c":1}', "n:"),
    Bad('{"t":"tap","n":true,"c":1}', "n:"),
    Bad('{"t":"tap","n":"1","c":1}', "n:"),
    Bad('{"t":"tap","n":null,"c":1}', "n:"),
    Bad('{"t":"tap","n":1,"c":-1}', "c:"),
    Bad('{"t":"tap","n":1,"c":65025}', "c:"),
    Bad(f'{{"t":"tap","n":1,"c":{BIG}}}', "c:"),
    Bad('{"t":"flag","n":1,"c":[1]}', "c:"),
    Bad('{"t":"ready"}', "ready:"),
    Bad('{"t":"ready","ready":1}', "ready:"),
    Bad('{"t":"ready","ready":"true"}', "ready:"),
    Bad('{"t":"ping"}', "at:"),
    Bad('{"t":"ping","at":NaN}', "at:"),
    Bad('{"t":"ping","at":Infinity}', "at:"),
    Bad('{"t":"ping","at":-Infinity}', "at:"),
    Bad('{"t":"ping","at":-1}', "at:"),
    Bad(f'{{"t":"ping","at":{BIG}}}', "at:"),
    Bad('{"t":"ping","at":true}', "at:"),
    Bad('{"t":"ping","at":"1"}', "at:"),
    Bad('{"t":"hello","token":7}', "token:"),
    Bad(f'{{"t":"hello","token":"{"a" * 201}"}}', "token:"),
    Bad('{"t":"hello","name":[]}', "name:"),
    Bad('{"t":"rename"}', "name:"),
    Bad('{"t":"rename","name":null}', "name:"),
    Bad('{"t":"join","role":"host"}', "role:"),
    Bad('{"t":"join","since":-1}', "since:"),
    Bad('{"t":"join","n":2147483648}', "n:"),
    Bad('{"t":"create"}', "settings:"),
    Bad('{"t":"create","settings":null}', "settings:"),
    Bad('{"t":"create","settings":{}}', "settings.level:"),
    Bad('{"t":"create","settings":{"level":"nightmare"}}', "settings.level:"),
    Bad('{"t":"create","settings":{"level":"expert","players":1}}', "settings.players:"),
    Bad('{"t":"create","settings":{"level":"expert","players":33}}', "settings.players:"),
    Bad('{"t":"create","settings":{"level":"expert","mine":"shrug"}}', "settings.mine:"),
    Bad('{"t":"settings","settings":{"level":"expert","start":1}}', "settings.start:"),
    Bad('{"t":"settings","settings":{"level":"expert","listed":0}}', "settings.listed:"),
    Bad('{"t":"settings","settings":{"level":"expert","guess_free":null}}', "settings.guess_free:"),
    Bad('{"t":"start","now":true}', "field"),
    Bad('{"t":"start","":1}', "field"),
    Bad('{"t":"tap","n":1,"c":1,"C":1}', "field"),
    Bad('{"t":"create","settings":{"level":"expert","seed":"00"}}', "field"),
]


@pytest.mark.parametrize("bad", BAD_FIELDS, ids=lambda bad: bad.frame[:60])
def test_a_bad_field_is_named(bad: Bad) -> None:
    refused = fault(bad.frame)
    assert refused.code is ErrorCode.BAD_FIELD
    assert bad.names in refused.text
    assert len(refused.text) < 200


def test_every_required_field_is_missed() -> None:
    for text, message in UNDERSTOOD.items():
        frame = json.loads(text)
        for name, field in type(message).model_fields.items():
            if name != "t" and field.is_required():
                without = {key: value for key, value in frame.items() if key != name}
                refused = fault(json.dumps(without))
                assert (refused.code, refused.text.split(":")[0]) == (ErrorCode.BAD_FIELD, name)


@pytest.mark.parametrize(
    ("frame", "n"),
    [
        ('{"t":"tap","n":7,"c":-1}', 7),
        ('{"t":"flag","n":2147483647}', 2**31 - 1),
        ('{"t":"tapp","n":7,"c":1}', 7),
        ('{"t":"tap","n":0,"c":1}', None),
        ('{"t":"tap","n":"7","c":1}', None),
        ('{"t":"tap","n":7.0,"c":1}', None),
        ('{"t":"tap","n":true,"c":1}', None),
        ('{"t":"tap","n":2147483648,"c":1}', None),
        ('{"t":"start","x":1}', None),
        ('{"t":"join","n":7,"since":-1}', None),
    ],
)
def test_a_fault_names_the_move_that_it_refuses(frame: str, n: int | None) -> None:
    assert fault(frame).n == n


def test_a_frame_of_many_faults_is_told_of_none_of_them() -> None:
    extra = ",".join(f'"secret{i}":1' for i in range(400))
    refused = fault(f'{{"t":"tap","n":3,"c":1,{extra}}}')
    assert (refused.code, refused.n) == (ErrorCode.BAD_FIELD, 3)
    assert refused.text == "Many fields are wrong."


SECRET = "hunter2"
SECRETIVE = [
    f'{{"t":"{SECRET}"}}',
    f'{{"{SECRET}":1}}',
    f'{{"t":"start","{SECRET}":1}}',
    f'{{"t":"hello","token":"{SECRET * 30}"}}',
    f'{{"t":"hello","token":{{"{SECRET}":1}}}}',
    f'{{"t":"rename","name":["{SECRET}"]}}',
    f'{{"t":"tap","n":"{SECRET}","c":1}}',
    f'{{"t":"join","role":"{SECRET}"}}',
    f'{{"t":"create","settings":"{SECRET}"}}',
    f'{{"t":"create","settings":{{"level":"{SECRET}"}}}}',
    f'{{"t":"create","settings":{{"level":"expert","{SECRET}":1}}}}',
    f'{{"t":"ready","ready":"{SECRET}"}}',
    f'{{"t":"ping","at":"{SECRET}"}}',
    f'["{SECRET}"]',
    f'"{SECRET}"',
    SECRET,
    f'{{"t":"start"}} {SECRET}',
]


@pytest.mark.parametrize("frame", SECRETIVE)
def test_a_fault_never_repeats_what_the_client_said(frame: str) -> None:
    refused = fault(frame)
    assert SECRET not in refused.text
    assert SECRET not in str(refused)
    assert refused.__cause__ is None
    assert refused.__suppress_context__


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["tap", "hello", "expert", "player", 1, 7]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["t", "n", "c", "settings", "level", "at"]) | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@st.composite
def mutants(draw: st.DrawFn) -> str:
    """Draw a valid message with one field exchanged, added or taken away."""
    frame = json.loads(draw(st.sampled_from(sorted(UNDERSTOOD))))
    where = draw(st.sampled_from([frame, frame.get("settings") or frame]))
    field = draw(st.sampled_from([*sorted(where), "n", "level", "x"]))
    if draw(st.booleans()):
        where[field] = draw(JSON)
    else:
        where.pop(field, None)
    return json.dumps(frame)


@st.composite
def scratched(draw: st.DrawFn) -> bytes:
    """Draw the bytes of a valid message with some of them exchanged."""
    frame = bytearray(draw(st.sampled_from(sorted(UNDERSTOOD))).encode())
    for place in draw(st.lists(st.integers(0, len(frame) - 1), max_size=4)):
        frame[place] = draw(st.integers(0, 255))
    return bytes(frame)


@tries(400)
@given(st.one_of(mutants(), scratched(), st.binary(max_size=80), JSON.map(json.dumps)))
def test_whatever_comes_is_a_message_or_a_fault(frame: str | bytes) -> None:
    try:
        message = decode(frame)
    except Fault as refused:
        told = refused
    else:
        assert type(message) in KINDS
        assert decode(encode(message)) == message
        return
    assert told.code in {ErrorCode.NOT_JSON, ErrorCode.UNKNOWN_KIND, ErrorCode.BAD_FIELD}
    assert told.text.isascii()
    assert len(told.text) < 200
    assert told.n is None or 0 < told.n < 2**31


# What the server says.


def test_a_frame_is_compact_json_without_nulls() -> None:
    moved = wire.Moved(n=3, ms=1_250, open=[(0, "01*")], status="lost")
    assert encode(moved) == b'{"t":"moved","n":3,"ms":1250,"open":[[0,"01*"]],"status":"lost"}'
    assert encode(wire.Moved(n=3, ms=0)) == b'{"t":"moved","n":3,"ms":0}'


def test_what_is_false_nought_or_empty_is_no_null() -> None:
    welcome = wire.Welcome(player="p", name="", now_ms=0, room=False)
    assert json.loads(encode(welcome)) == {
        "t": "welcome",
        "player": "p",
        "name": "",
        "now_ms": 0,
        "room": False,
        "member": False,
    }
    assert json.loads(encode(wire.Moved(n=1, ms=0, open=[], flag=(0, False)))) == {
        "t": "moved",
        "n": 1,
        "ms": 0,
        "open": [],
        "flag": [0, False],
    }


def test_text_is_utf_8_as_it_is() -> None:
    error = wire.Error(code=ErrorCode.BAD_NAME, text="Zoë 🙂 \u2028")
    assert encode(error).decode() == '{"t":"error","code":"bad_name","text":"Zoë 🙂 \u2028"}'


def test_a_ping_comes_back_as_it_was() -> None:
    for at in (0, 5, 1234.5, 2**53):
        ping = decode(json.dumps({"t": "ping", "at": at}))
        assert isinstance(ping, wire.Ping)
        assert json.loads(encode(wire.Pong(at=ping.at, now_ms=1)))["at"] == at


def nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(nulls(each) for each in value.values())
    if isinstance(value, list):
        return any(nulls(each) for each in value)
    return value is None


def test_no_null_is_sent_at_any_depth() -> None:
    snapshot = wire.RoomSnapshot(
        v=1,
        code="K7MP3QXZ",
        phase="lobby",
        settings=EXPERT,
        board=wire.BoardSize(width=30, height=16, mines=60),
        host=0,
        players=[wire.Player(seat=0, name="Zoë", ready=False, present=True, status="waiting")],
        spectators=0,
        clock=wire.Clock(now_ms=5),
        you=wire.You(role="spectator"),
    )
    frame = json.loads(encode(snapshot))
    assert not nulls(frame)
    assert "race" not in frame
    assert frame["clock"] == {"now_ms": 5}
    assert wire.SERVER_ADAPTER.validate_json(encode(snapshot)) == snapshot
