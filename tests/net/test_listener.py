"""Websockets by an ordinary client: messages, limits of number, closing."""

import json

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.net.conftest import Recorder, Start, client


async def test_a_message_goes_in_and_out(start: Start) -> None:
    endpoint = Recorder(echoes=True)
    listener = await start(endpoint)
    async with client(listener) as ws:
        assert ws.subprotocol == "demineur.v1"
        for text in ("{}", "é🚩" * 50, "x" * 3000, ""):
            await ws.send(text)
            assert await ws.recv() == text
        connection = await endpoint.connection()
        assert (connection.path, connection.address, connection.relayed) == (
            "/ws/K7MP3QXZ",
            "127.0.0.1",
            False,
        )
    assert await endpoint.code() == 1000


async def test_a_websocket_without_the_subprotocol_is_refused(start: Start) -> None:
    listener = await start(Recorder())
    with pytest.raises(InvalidStatus) as refused:
        await client(listener, subprotocols=["chat"])
    assert refused.value.response.status_code == 400
    assert json.loads(refused.value.response.body or b"")["error"] == "subprotocol"


async def test_the_server_closes_with_its_code(start: Start) -> None:
    endpoint = Recorder()
    listener = await start(endpoint)
    async with client(listener) as ws:
        (await endpoint.connection()).close(4002, "you came back on another connection")
        with pytest.raises(ConnectionClosed):
            await ws.recv()
        assert (ws.close_code, ws.close_reason) == (4002, "you came back on another connection")
    assert await endpoint.code() == 4002
