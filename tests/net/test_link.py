"""Frames: right and wrong ones, cut anywhere, and how many writes they make."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import CloseCode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from demineur.net.link import Link, Turn, text_head
from tests.net.conftest import Raw, Recorder, Start, raw_frame, request_head

_LIMIT = 4096


class _Loop:
    """Takes calls and makes them when told."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def call_soon(self, call: Any) -> None:
        self.calls.append(call)

    def turn(self) -> None:
        calls, self.calls = self.calls, []
        for call in calls:
            call()


class _Transport:
    """Remembers the writes."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.has_ended = False

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True


class _Link(Link):
    """Keeps what it is told."""

    def __init__(self, loop: _Loop) -> None:
        wire = ServerProtocol(state=OPEN, max_size=_LIMIT)
        super().__init__(wire, Turn(loop), _LIMIT)  # type: ignore[arg-type]
        self.transport = _Transport()
        self.connection_made(self.transport)  # type: ignore[arg-type]
        self.texts: list[bytes] = []
        self.ends: list[int] = []
        self.closings = 0

    def _message(self, text: bytes, arrived_ns: int) -> None:
        self.texts.append(text)

    def _ended(self, code: int, reason: str) -> None:
        self.ends.append(code)

    def _closing(self) -> None:
        self.closings += 1

    def write_text(self, text: bytes) -> None:
        self._write_text(text)


def _fragments(text: bytes, cuts: list[int]) -> bytes:
    places = sorted({min(cut, len(text)) for cut in cuts})
    parts = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    last = len(parts) - 1
    return b"".join(
        raw_frame(part, 1 if i == 0 else 0, fin=i == last) + raw_frame(b"between", 9)
        for i, part in enumerate(parts)
    )


_TEXTS = st.lists(
    st.tuples(st.text(max_size=300), st.lists(st.integers(0, 300), max_size=3)), max_size=6
)


@given(_TEXTS, st.lists(st.integers(0, 5000), max_size=12))
def test_messages_survive_any_cut(messages: list[tuple[str, list[int]]], cuts: list[int]) -> None:
    stream = b"".join(_fragments(text.encode(), places) for text, places in messages)
    link = _Link(_Loop())
    places = sorted({min(cut, len(stream)) for cut in cuts})
    for begin, end in zip([0, *places], [*places, len(stream)], strict=True):
        link.data_received(stream[begin:end])
    assert link.texts == [text.encode() for text, _ in messages]
    assert link.is_open


@given(st.binary(max_size=400), st.integers(1, 50))
def test_any_bytes_are_survived(data: bytes, step: int) -> None:
    link = _Link(_Loop())
    for begin in range(0, len(data), step):
        link.data_received(data[begin : begin + step])
    if not link.is_open:
        assert link.closings == 1
        assert len(set(link.ends)) == 1


def test_all_of_one_turn_is_one_write() -> None:
    loop = _Loop()
    link = _Link(loop)
    for text in (b"one", b"two", b"x" * 200):
        link.write_text(text)
    link.data_received(raw_frame(b"alive?", 9))
    assert link.transport.writes == []
    assert link.buffered > 200
    loop.turn()
    assert len(link.transport.writes) == 1
    assert link.transport.writes[0].startswith(b"\x81\x03one\x81\x03two\x81\x7e")
    assert link.transport.writes[0].endswith(b"\x8a\x06alive?")
    assert link.buffered == 0
    link.write_text(b"three")
    loop.turn()
    assert len(link.transport.writes) == 2


def test_after_our_close_only_the_answer_to_it_counts() -> None:
    loop = _Loop()
    link = _Link(loop)
    link._send_close(4004, "")
    link.data_received(raw_frame(b"alive?", 9) + raw_frame(b"{}") + raw_frame(b"\x0f\xa4", 8))
    loop.turn()
    assert link.transport.writes == [b"\x88\x02\x0f\xa4"]
    assert link.transport.has_ended
    assert (link.texts, link.ends, link.closings) == ([], [4004], 1)


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536])
def test_a_head_tells_the_length(length: int) -> None:
    link = _Link(_Loop())
    link._wire.send_text(b"x" * length)  # the core's own encoding is the measure
    assert link._wire.data_to_send() == [text_head(length) + b"x" * length]


_WRONG = {
    "binary": (raw_frame(b"\x00\x01", 2), CloseCode.UNSUPPORTED_DATA),
    "binary fragment": (raw_frame(b"\x00", 2, fin=False), CloseCode.UNSUPPORTED_DATA),
    "not UTF-8": (raw_frame(b"\xff\xfe"), CloseCode.INVALID_DATA),
    "UTF-8 cut off": (raw_frame("é".encode()[:1]), CloseCode.INVALID_DATA),
    "surrogate": (raw_frame(b"\xed\xa0\x80"), CloseCode.INVALID_DATA),
    "too long": (raw_frame(b"x" * 4097), CloseCode.MESSAGE_TOO_BIG),
    "a megabyte": (raw_frame(b"x" * 1_000_000), CloseCode.MESSAGE_TOO_BIG),
    "only the head of too long": (raw_frame(b"x" * 5000)[:4], CloseCode.MESSAGE_TOO_BIG),
    "too long in parts": (
        raw_frame(b"x" * 4000, fin=False) + raw_frame(b"x" * 97, 0),
        CloseCode.MESSAGE_TOO_BIG,
    ),
    "not masked": (raw_frame(b"{}", masked=False), CloseCode.PROTOCOL_ERROR),
    "reserved bit": (raw_frame(b"{}", rsv=4), CloseCode.PROTOCOL_ERROR),
    "unknown opcode": (raw_frame(b"{}", 3), CloseCode.PROTOCOL_ERROR),
    "ping too long": (raw_frame(b"x" * 126, 9), CloseCode.PROTOCOL_ERROR),
    "ping in parts": (raw_frame(b"x", 9, fin=False), CloseCode.PROTOCOL_ERROR),
    "nothing to continue": (raw_frame(b"x", 0), CloseCode.PROTOCOL_ERROR),
    "text within a text": (
        raw_frame(b"x", fin=False) + raw_frame(b"{}"),
        CloseCode.PROTOCOL_ERROR,
    ),
    "close of one byte": (raw_frame(b"\x03", 8), CloseCode.PROTOCOL_ERROR),
    "close code 1005": (raw_frame(b"\x03\xed", 8), CloseCode.PROTOCOL_ERROR),
}


@pytest.mark.parametrize("name", _WRONG)
async def test_a_wrong_frame_closes_with_its_code(start: Start, raws: list[Raw], name: str) -> None:
    frames, code = _WRONG[name]
    endpoint = Recorder()
    listener = await start(endpoint)
    raw = await Raw.upgraded(listener)
    raws.append(raw)
    raw.send(raw_frame(b"{}") + frames + raw_frame(b"{}"))
    assert await raw.close_code() == code
    assert await endpoint.code() == code
    assert endpoint.texts == [b"{}"]


async def test_a_fragmented_message_within_the_limit_arrives_whole(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder(echoes=True)
    raw = await Raw.upgraded(await start(endpoint))
    raws.append(raw)
    text = "né" * 1365
    raw.send(_fragments(text.encode(), [1, 2, 4000]))
    frames = [await raw.frame() for _ in range(5)]
    assert (1, text.encode()) in frames
    assert frames.count((10, b"between")) == 4


async def test_the_frames_that_come_with_the_handshake_are_read(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder(echoes=True)
    raw = await Raw.connect(await start(endpoint))
    raws.append(raw)
    raw.send(request_head() + raw_frame(b"early") + raw_frame(b"bird")[:3])
    assert (await raw.response())[0] == 101
    assert await raw.frame() == (1, b"early")
    raw.send(raw_frame(b"bird")[3:])
    assert await raw.frame() == (1, b"bird")
