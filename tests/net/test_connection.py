"""A connection's time limits, its bounds of memory, and what it does with faults."""

import asyncio
import contextlib
import gc
import itertools
import time
import weakref

import pytest
from structlog.testing import capture_logs

from demineur.net import Connection, Limits
from demineur.net.metrics import TRAFFIC
from tests.net.conftest import Raw, Recorder, Start, client, raw_frame, until, within

_QUICK = Limits(
    first_frame_s=0.1,
    ping_interval_s=0.1,
    ping_timeout_s=0.1,
    close_timeout_s=0.2,
    stall_timeout_s=0.3,
)


# Time.


async def test_no_first_frame_in_time(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    assert await raw.close_code() == 4001
    raw.send(raw_frame(b"\x0f\xa1", 8))
    await raw.ended()
    assert await endpoint.code() == 4001


async def test_a_first_frame_that_trickles_is_none(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    closing = asyncio.ensure_future(raw.close_code())
    for byte in raw_frame(b"x" * 4000):
        raw.send(bytes((byte,)))
        await asyncio.sleep(0.01)
        if closing.done():
            break
    assert await closing == 4001


async def test_a_client_that_never_answers_the_close_is_dropped(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=_QUICK)
    raw = await Raw.upgraded(listener)
    raws.append(raw)
    connection = await endpoint.connection()
    connection.close(4004, "the room has closed")
    assert await endpoint.code() == 4004  # without a word from the client
    assert listener.connections == 0


async def test_a_client_that_goes_on_talking_cannot_put_off_its_end(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    (await endpoint.connection()).close(4004, "")
    before = asyncio.get_running_loop().time()
    with contextlib.suppress(ConnectionError):
        while not endpoint.codes:
            raw.send(raw_frame(b"more"))
            await asyncio.sleep(0.02)
            assert asyncio.get_running_loop().time() < before + 2
    assert endpoint.codes == [4004]
    assert endpoint.texts == []


async def test_silence_is_pinged_and_then_dropped(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    raw.send(raw_frame(b"{}"))
    assert await raw.frame() == (9, b"")
    raw.send(raw_frame(b"", 10))
    assert await raw.frame() == (9, b"")  # the pong counted; silence began again
    assert await endpoint.code() == 1006


async def test_who_talks_is_not_pinged(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder(echoes=True)
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    for _ in range(10):
        raw.send(raw_frame(b"{}"))
        assert await raw.frame() == (1, b"{}")
        await asyncio.sleep(0.03)
    assert endpoint.codes == []


async def test_who_is_not_read_is_not_dropped_for_its_silence(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint, limits=_QUICK))
    raws.append(raw)
    raw.send(raw_frame(b"{}"))
    await endpoint.until(lambda: len(endpoint.texts) == 1)
    connection = endpoint.connections[0]
    connection.pause(True)
    raw.send(raw_frame(b"unread"))
    await asyncio.sleep(0.5)
    assert connection.is_open
    connection.pause(False)
    await endpoint.until(lambda: len(endpoint.texts) == 2)


async def test_the_answer_to_a_close_is_heard_even_when_nothing_else_is(start: Start) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=Limits(close_timeout_s=60))
    async with client(listener) as ws:
        connection = await endpoint.connection()
        connection.pause(True)
        connection.close(4004, "")
        await within(ws.wait_closed())
    await until(lambda: listener.connections == 0)
    assert endpoint.codes == [4004]


# Slow receivers.


async def test_a_client_that_never_reads_is_closed_and_costs_bounded_memory(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=_QUICK)
    raw = await Raw.upgraded(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await endpoint.connection()
    most = 0
    for _ in range(3000):
        connection.send(b"x" * 1000)
        most = max(most, connection.buffered)
        await asyncio.sleep(0)
    assert 262_144 < most <= 262_144 + 1004
    assert not connection.is_open
    assert await endpoint.code() == 4009
    assert listener.connections == 0
    assert connection.buffered == 0


async def test_progress_is_dropped_first_and_messages_stay(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint), receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await endpoint.connection()
    dropped = TRAFFIC.dropped
    await until(lambda: not connection.send_droppable(b"p" * 1000))
    assert 16_384 < connection.buffered < 16_384 + 2000
    assert TRAFFIC.dropped == dropped + 1
    connection.send(b"m" * 1000)
    raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
    payloads = [b""]
    while payloads[-1] != b"m" * 1000:
        payloads.append((await raw.frame())[1])
    assert connection.send_droppable(b"again")
    assert await raw.frame() == (1, b"again")


async def test_a_byte_a_second_is_too_slow(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=_QUICK)
    raw = await Raw.upgraded(listener, receive_bytes=4096)
    raws.append(raw)
    raw.send(raw_frame(b"{}"))
    connection = await endpoint.connection()
    await until(lambda: not connection.send_droppable(b"p" * 1000))

    async def read_slowly() -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await raw.reader.readexactly(1)
                raw.send(raw_frame(b"{}"))  # it is alive, so no ping would end it
                await asyncio.sleep(0.02)

    reading = asyncio.ensure_future(read_slowly())
    assert await endpoint.code() == 4009
    assert listener.connections == 0
    reading.cancel()


async def test_one_that_says_no_more_and_reads_nothing_is_dropped(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=_QUICK)
    raw = await Raw.upgraded(listener, receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await endpoint.connection()
    await until(lambda: not connection.send_droppable(b"p" * 1000))
    raw.writer.write_eof()
    assert await endpoint.code() == 1006
    await until(lambda: listener.connections == 0)


async def test_pings_without_reading_the_pongs(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    limits = Limits(
        max_buffered_bytes=32_768, frame_burst=10**6, frames_per_s=10**6, close_timeout_s=0.2
    )
    raw = await Raw.upgraded(await start(endpoint, limits=limits), receive_bytes=4096)
    raws.append(raw)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    connection = await endpoint.connection()
    most = 0
    with contextlib.suppress(ConnectionError):
        while not endpoint.codes:
            raw.send(raw_frame(b"p" * 125, 9) * 50)
            await asyncio.sleep(0)
            most = max(most, connection.buffered)
    assert endpoint.codes == [4009]
    assert most < 32_768 + 16_384


# Floods.


async def test_a_flood_is_closed_and_others_have_their_turn(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint, limits=Limits(frame_burst=300, frames_per_s=1))
    raw = await Raw.upgraded(listener)
    raws.append(raw)
    raw.send(raw_frame(b"{}") * 50_000)
    assert await endpoint.code() == 4008
    # What was handled beyond the burst is less than a slice.
    assert 300 <= len(endpoint.texts) <= 300 + Limits().read_slice_frames


async def test_a_long_burst_is_worked_off_in_slices_and_in_order(
    start: Start, raws: list[Raw]
) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    raw = await Raw.upgraded(listener)
    raws.append(raw)
    texts = [b"%d" % i + b" " * 60 for i in range(1900)]
    raw.send(b"".join(raw_frame(text) for text in texts))
    await endpoint.until(lambda: len(endpoint.texts) == 1900)
    assert endpoint.texts == texts
    assert endpoint.codes == []


async def test_a_turn_works_off_few_frames_however_small(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raws.append(await Raw.upgraded(await start(endpoint, limits=Limits(read_slice_frames=8))))
    connection = await endpoint.connection()
    for count in (200, 1500):  # within a slice's bytes, and beyond
        endpoint.texts.clear()
        connection.data_received(b"".join(raw_frame(b"%d" % i) for i in range(count)))
        told = [len(endpoint.texts)]
        while told[-1] < count and connection.is_open:
            await asyncio.sleep(0)
            told.append(len(endpoint.texts))
        steps = [after - before for before, after in itertools.pairwise([0, *told])]
        assert max(steps) == 8
        assert endpoint.texts == [b"%d" % i for i in range(count)]
    assert endpoint.codes == []


async def test_who_is_far_ahead_gets_one_frame_a_turn(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    limits = Limits(read_slice_frames=8, brisk_frames=40, frames_per_s=0.1)
    raws.append(await Raw.upgraded(await start(endpoint, limits=limits)))
    connection = await endpoint.connection()
    connection.data_received(b"".join(raw_frame(b"%d" % i) for i in range(100)))
    told = [len(endpoint.texts)]
    while told[-1] < 100:
        await asyncio.sleep(0)
        told.append(len(endpoint.texts))
    steps = [after - before for before, after in itertools.pairwise([0, *told]) if after != before]
    assert steps == [8] * 6 + [1] * 52
    assert endpoint.texts == [b"%d" % i for i in range(100)]


async def test_a_cut_burst_goes_on_when_it_is_held_no_more(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raws.append(await Raw.upgraded(await start(endpoint)))
    connection = await endpoint.connection()
    connection.hold()
    connection.data_received(raw_frame(b"{}") * 200)
    connection.release()
    await endpoint.until(lambda: len(endpoint.texts) == 200)
    raws[0].send(raw_frame(b"more"))
    await endpoint.until(lambda: len(endpoint.texts) == 201)


async def test_a_burst_has_arrived_when_its_first_byte_has(start: Start, raws: list[Raw]) -> None:
    stamps = []

    class Stamped(Recorder):
        def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
            stamps.append(arrived_ns)
            super().received(connection, text, arrived_ns)

    endpoint = Stamped()
    raws.append(await Raw.upgraded(await start(endpoint)))
    before = time.monotonic_ns()
    (await endpoint.connection()).data_received(raw_frame(b"x" * 100) * 400)
    after = time.monotonic_ns()
    await endpoint.until(lambda: len(endpoint.texts) == 400)
    assert len(set(stamps)) == 1
    assert before <= stamps[0] <= after


# Holding.


async def test_what_is_held_comes_in_order_and_the_end_after_it(start: Start) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    async with client(listener) as ws:
        connection = await endpoint.connection()
        connection.hold()
        for i in range(5):
            await ws.send(str(i))
        pong = await ws.ping()
        await pong
        assert endpoint.texts == []
    await until(lambda: not listener.connections)
    assert endpoint.codes == []
    connection.release()
    assert endpoint.texts == [b"0", b"1", b"2", b"3", b"4"]
    assert endpoint.codes == [1000]


async def test_a_message_may_hold_what_comes_behind_it(start: Start) -> None:
    class Holder(Recorder):
        def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
            connection.hold()
            super().received(connection, text, arrived_ns)

    endpoint = Holder()
    async with client(await start(endpoint)) as ws:
        for i in range(4):
            await ws.send(str(i))
        await endpoint.until(lambda: len(endpoint.texts) == 1)
        await (await ws.ping())
        for count in (2, 3, 4):
            endpoint.connections[0].release()
            assert len(endpoint.texts) == count
        assert endpoint.texts == [b"0", b"1", b"2", b"3"]


async def test_nothing_more_is_read_when_much_is_held(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    raw = await Raw.upgraded(listener)
    raws.append(raw)
    connection = await endpoint.connection()
    connection.hold()
    raw.send(raw_frame(b"x" * 1000) * 1500)
    await until(lambda: bool(connection._pauses))
    await asyncio.sleep(0.05)
    assert 32_768 < connection._held_bytes < 32_768 + 2 * 2048
    connection.release()
    await endpoint.until(lambda: len(endpoint.texts) == 1500)


async def test_what_is_held_is_gone_when_the_server_closes(start: Start) -> None:
    endpoint = Recorder()
    async with client(await start(endpoint)) as ws:
        connection = await endpoint.connection()
        connection.hold()
        await ws.send("late")
        await (await ws.ping())
        connection.close(4004, "")
        connection.release()
        assert endpoint.texts == []
    assert await endpoint.code() == 4004


# Faults.


@pytest.mark.parametrize("where", ["opened", "received", "closed"])
async def test_a_fault_of_an_endpoint_ends_its_connection_only(start: Start, where: str) -> None:
    class Faulty(Recorder):
        def opened(self, connection: Connection) -> None:
            super().opened(connection)
            self._fail("opened")

        def received(self, connection: Connection, text: bytes, arrived_ns: int) -> None:
            super().received(connection, text, arrived_ns)
            self._fail("received")

        def closed(self, connection: Connection, code: int) -> None:
            super().closed(connection, code)
            self._fail("closed")

        def _fail(self, here: str) -> None:
            if where == here and len(self.connections) == 1:
                raise RuntimeError("a secret detail")

    endpoint = Faulty(echoes=True)
    listener = await start(endpoint)
    with capture_logs() as logs:
        async with client(listener) as ws:
            with contextlib.suppress(Exception):
                await ws.send("{}")
            if where == "closed":
                await ws.close()
            await within(ws.wait_closed())
        await endpoint.code()
        if where != "closed":
            assert (ws.close_code, ws.close_reason) == (1011, "a fault on our side")
            assert endpoint.codes == [1011]
    assert [log["event"] for log in logs] == ["endpoint failed"]
    assert logs[0]["exc_info"]
    async with client(listener) as ws:
        await ws.send("still here")
        assert await ws.recv() == "still here"


async def test_calls_after_the_end_are_harmless(start: Start) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    async with client(listener):
        connection = await endpoint.connection()
    await endpoint.code()
    connection.send(b"{}")
    assert connection.send_droppable(b"{}") is False
    connection.close(4004, "")
    connection.hold()
    connection.release()
    connection.abort()
    assert endpoint.codes == [1000]


async def test_an_ended_connection_is_freed_without_the_garbage_collector(start: Start) -> None:
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint)
    gc.collect()
    gc.disable()
    try:
        async with client(listener) as ws:
            await ws.send("{}")
            await ws.recv()
            core = weakref.ref(endpoint.connections[0]._wire)
            connection = weakref.ref(endpoint.connections.pop())
        await endpoint.code()
        await until(lambda: listener.connections == 0)
        await until(lambda: connection() is None and core() is None)
    finally:
        gc.enable()


async def test_a_lost_connection_is_1006(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint))
    raw.writer.transport.abort()
    assert await endpoint.code() == 1006
    other = await Raw.upgraded(await start(endpoint))
    raws.append(other)
    other.writer.write_eof()
    await endpoint.until(lambda: len(endpoint.codes) == 2)
    assert endpoint.codes == [1006, 1006]


async def test_a_close_without_a_code_is_1005(start: Start, raws: list[Raw]) -> None:
    endpoint = Recorder()
    raw = await Raw.upgraded(await start(endpoint))
    raws.append(raw)
    raw.send(raw_frame(b"", 8))
    assert await raw.frame() == (8, b"")
    assert await endpoint.code() == 1005


async def test_a_long_reason_is_cut(start: Start) -> None:
    endpoint = Recorder()
    async with client(await start(endpoint)) as ws:
        (await endpoint.connection()).close(4000, "é" * 100)
        await within(ws.wait_closed())
        assert ws.close_reason == "é" * 61
