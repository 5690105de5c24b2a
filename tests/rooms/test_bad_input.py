"""Whatever a client says, it gets the documented answer, and nobody else notices."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from demineur.protocol import SERVER_ADAPTER, SUBPROTOCOL
from demineur.protocol.server import Error
from tests.player_client import PlayerClient
from tests.redis_servers import RedisServer
from tests.rooms.oracle import Oracle, Racer, leave, lobby, racing
from tests.rooms.table import new_code
from tests.server_process import ServerProcess

FIRST_FRAME_S = 1.0
BURST = 60


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, redis_server: RedisServer
) -> Iterator[ServerProcess]:
    """One server with the limits that players get; its log must hold no traceback at the end."""
    settings: dict[str, object] = {
        "redis_url": redis_server.url,
        "net__first_frame_s": FIRST_FRAME_S,
        "players__rooms_per_identity": 1000,
        "players__creation_burst": 1000,
    }
    with ServerProcess(tmp_path_factory.mktemp("server"), **settings).start().ready() as server:
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.log
        assert "rror" not in server.log


@pytest.fixture
async def host(server: ServerProcess) -> AsyncIterator[PlayerClient]:
    """A player alone in a lobby."""
    (host,) = await lobby(server.base, new_code(), 1)
    yield host
    await host.leave_line()


FRAMES: dict[str, str] = {
    "": "not_json",
    "no json": "not_json",
    "[]": "not_json",
    "null": "not_json",
    '"tap"': "not_json",
    "[" * 4000: "not_json",
    '{"a":' * 600: "not_json",
    '{"t":"ping","at":1}{"t":"ping","at":1}': "not_json",
    '{"t":"rename","name":"\\ud800"}': "not_json",
    "{}": "unknown_kind",
    '{"t":"mines"}': "unknown_kind",
    '{"t":1}': "unknown_kind",
    '{"t":"moved","n":1,"ms":1}': "unknown_kind",
    '{"t":"tap","n":1}': "bad_field",
    '{"t":"tap","c":1}': "bad_field",
    '{"t":"tap","n":0,"c":1}': "bad_field",
    '{"t":"tap","n":1,"c":-1}': "bad_field",
    '{"t":"tap","n":1,"c":65025}': "bad_field",
    '{"t":"tap","n":true,"c":1}': "bad_field",
    '{"t":"tap","n":99999999999999999999,"c":1}': "bad_field",
    '{"t":"tap","n":"1","c":1}': "bad_field",
    '{"t":"ready","ready":"yes"}': "bad_field",
    '{"t":"ready","ready":true,"also":1}': "bad_field",
    '{"t":"ping","at":1e999}': "bad_field",
    '{"t":"join","role":"host"}': "bad_field",
    '{"t":"settings","settings":{"level":"impossible"}}': "bad_field",
    '{"t":"settings","settings":{"level":"expert","players":33}}': "bad_field",
    '{"t":"settings","settings":{"level":"expert","guess_free":true}}': "bad_settings",
    '{"t":"create","settings":{"level":"expert"}}': "room_exists",
    '{"t":"hello"}': "out_of_order",
    '{"t":"hello","token":"x"}': "out_of_order",
    '{"t":"rematch"}': "wrong_phase",
    '{"t":"tap","n":1,"c":1}': "not_racing",
    '{"t":"flag","n":1,"c":1}': "not_racing",
}


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame[:50])
async def test_a_bad_frame_is_refused_and_nothing_changes(host: PlayerClient, frame: str) -> None:
    start = len(host.frames)
    await host.say(frame)
    refusal = await host.wait(lambda f: f["t"] == "error", start)
    assert refusal["code"] == FRAMES[frame]
    if '"n":1,' in frame and '"c"' in frame:
        assert refusal["n"] == 1
    assert await host.ask({"t": "ping", "at": 7}, "pong")
    room = await host.join()
    assert (room["v"], room["phase"], room["you"]) == (1, "lobby", {"role": "player", "seat": 0})


NAMES = {
    "empty": "",
    "blank": " \u3000 ",
    "too long": "n" * 25,
    "far too long": "n" * 3_000,
    "control": "a\x07b",
    "newline": "a\nb",
    "null": "a\x00",
    "override": "abc\u202ecba",
    "isolate": "\u2066abc",
    "zero width": "a\u200bb",
    "invisible filler": "\u3164",
    "marks alone": "\u0308\u0308",
    "private use": "\ue000",
}


@pytest.mark.parametrize("what", NAMES)
async def test_a_bad_name_is_refused(host: PlayerClient, what: str) -> None:
    renamed = await host.ask({"t": "rename", "name": NAMES[what]}, "error", "event")
    assert renamed["code"] == "bad_name"
    other = await PlayerClient(host.base, host.code).connect()
    greeted = await other.ask({"t": "hello", "name": NAMES[what]}, "error", "welcome")
    assert greeted["code"] == "bad_name"
    assert (await other.hello())["name"] == "Player"
    await other.leave_line()


ABUSE: dict[str, tuple[Any, int]] = {
    "a frame of 1 MB": ("x" * 1_000_000, 1009),
    "a name of 10,000 characters": ({"t": "rename", "name": "n" * 10_000}, 1009),
    "one byte too many": ("x" * 4097, 1009),
    "binary": (b'{"t":"start"}', 1003),
}


@pytest.mark.parametrize("what", ABUSE)
async def test_abuse_ends_the_connection(host: PlayerClient, what: str) -> None:
    frame, code = ABUSE[what]
    await host.say(frame)
    assert await host.closed() == code
    await host.connect()
    assert (await host.hello())["member"]
    await host.join()


async def test_a_frame_that_just_fits_is_read(host: PlayerClient) -> None:
    start = len(host.frames)
    await host.say("x" * 4096)
    assert (await host.wait(lambda f: f["t"] == "error", start))["code"] == "not_json"


@pytest.mark.parametrize(
    "frame",
    ["no json", '{"t":"tap","n":1,"c":1}', '{"t":"hello","also":1}', '{"t":"nothing"}', "{}"],
)
async def test_a_first_frame_that_is_no_hello_ends_the_connection(
    server: ServerProcess, frame: str
) -> None:
    client = await PlayerClient(server.base, new_code()).connect()
    await client.say(frame)
    assert await client.closed() == 4000
    assert client.frames[-1]["t"] == "goodbye"
    assert client.frames[-1]["code"] == 4000


async def test_silence_ends_the_connection(server: ServerProcess) -> None:
    began = time.monotonic()
    client = await PlayerClient(server.base, new_code()).connect()
    assert await client.closed() == 4001
    assert time.monotonic() - began > FIRST_FRAME_S * 0.9


@pytest.mark.parametrize("token", ["", "x", "0" * 200, "aaaaaaaaaaaaaaaa.bbbbbbbbbbbb"])
async def test_a_token_that_is_none_of_ours_is_told(server: ServerProcess, token: str) -> None:
    client = await PlayerClient(server.base, new_code()).connect()
    refusal = await client.ask({"t": "hello", "token": token}, "error", "welcome")
    assert refusal["code"] == "bad_token"
    assert (await client.hello())["token"]
    await client.leave_line()


async def test_codes_that_nobody_has_and_places_that_are_taken(server: ServerProcess) -> None:
    host, guest = await lobby(server.base, new_code(), 2)
    stranger = await PlayerClient(server.base, new_code()).connect()
    assert not (await stranger.hello())["room"]
    for frame, code in (
        ({"t": "join"}, "no_room"),
        ({"t": "join", "role": "spectator"}, "no_room"),
        ({"t": "tap", "n": 1, "c": 0}, "not_in_room"),
        ({"t": "start"}, "not_in_room"),
    ):
        assert (await stranger.ask(frame, "error", "room"))["code"] == code
    late = await PlayerClient(server.base, host.code).connect()
    await late.hello()
    assert (await late.ask({"t": "start"}, "error"))["code"] == "not_in_room"
    assert (await late.ask({"t": "join"}, "error"))["code"] == "room_full"
    assert (await guest.ask({"t": "start"}, "error"))["code"] == "not_host"
    await leave([host, guest, stranger, late])


async def test_moves_before_go_off_the_board_and_after_the_end(
    server: ServerProcess, redis_server: RedisServer
) -> None:
    code = new_code()
    host, guest = await lobby(server.base, code, 2)
    await host.say({"t": "start"})
    await host.event("countdown")
    assert (await host.tap(40))["code"] == "not_racing"
    host.new_round()
    await host.event("go")
    refusal = await host.tap(81)
    assert (refusal["code"], refusal["n"]) == ("off_board", 1)
    with redis_server.client() as client:
        layout = Oracle(client, code).layout()
    winner, loser = Racer(host, layout), Racer(guest, layout)
    await loser.lose()
    assert (await guest.tap(0))["code"] == "run_over"
    await winner.win(0.03)
    await guest.event("finished")
    for player in (host, guest):
        assert (await player.tap(0))["code"] == "run_over"
    await leave([host, guest])


async def test_a_thousand_taps_at_once_are_answered_each(
    server: ServerProcess, redis_server: RedisServer
) -> None:
    code = new_code()
    host, guest = await racing(server.base, code, 2)
    await host.tap(40)
    for n in range(2, 1002):
        await host.say({"t": "flag", "n": n, "c": n % 81})
    answers: dict[int, dict[str, Any]] = {}
    for n in range(2, 1002):
        answers[n] = await host.answer(n)
    refused = [n for n, answer in answers.items() if answer["t"] == "error"]
    assert {answers[n]["code"] for n in refused} == {"too_fast"}
    assert {answers[n]["retry_ms"] for n in refused} <= set(range(1, 35))
    assert 1000 - len(refused) in range(BURST - 1, BURST + 200)
    assert [n for n in answers if n not in refused][: BURST - 1] == [*range(2, BURST + 1)]
    with redis_server.client() as client:
        made = [n for n, answer in answers.items() if answer.get("flag")]
        assert Oracle(client, code).moves(0) == [1, *made]
    assert (await guest.tap(40))["status"] == "playing"
    await leave([host, guest])


HANDSHAKES: dict[str, tuple[dict[str, Any], int]] = {
    "/ws/NOTACODE": ({}, 404),
    "/ws/": ({}, 404),
    "/ws/k7mp3qxz": ({}, 404),
    "/ws/K7MP-3QXZ": ({}, 404),
    "/ws/K7MP3QXZ/more": ({}, 404),
    "/somewhere": ({}, 404),
    "/ws/K7MP3QXZ": ({"origin": "https://elsewhere.example"}, 403),
    "/ws/lobby": ({"subprotocols": None}, 400),
}


@pytest.mark.parametrize("path", HANDSHAKES)
async def test_a_bad_handshake_is_refused(server: ServerProcess, path: str) -> None:
    given, status = HANDSHAKES[path]
    options = {"subprotocols": [SUBPROTOCOL], "proxy": None, **given}
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.base + path, **options):
            pass
    assert refused.value.response.status_code == status


async def test_nobody_else_notices(server: ServerProcess, redis_server: RedisServer) -> None:
    """A race goes on, move by move, while others do all of it at once."""
    code = new_code()
    players = await racing(server.base, code, 2)
    with redis_server.client() as client:
        racers = [Racer(player, Oracle(client, code).layout()) for player in players]
    crowd = asyncio.gather(*(_misbehave(server, i) for i in range(20)))
    slowest_s = 0.0
    while not crowd.done() or racers[0].run.status.value != "won":
        began = time.monotonic()
        for racer in racers:
            if racer.run.status.value != "won":
                await racer.tap()
        slowest_s = max(slowest_s, time.monotonic() - began)
        await asyncio.sleep(0.03)
    await crowd
    await racers[1].win(0.03)
    result = (await players[1].event("finished"))["result"]
    assert [row["ending"] for row in result["standings"]] == ["won", "won"]
    assert slowest_s < 2.0
    await leave(players)


async def _misbehave(server: ServerProcess, number: int) -> None:
    (player,) = await lobby(server.base, new_code(), 1)
    for frame in FRAMES:
        await player.say(frame)
    for at in range(60):
        await player.say({"t": "ping", "at": at})
    assert await player.wait(lambda f: f.get("code") == "too_fast") is not None
    await player.say(b"binary" if number % 2 else "x" * 1_000_000)
    await player.closed()
    for direction, text in player.journal:
        if direction == "<":
            message = SERVER_ADAPTER.validate_json(text, strict=True)
            if isinstance(message, Error):
                assert not any(word in message.text for word in ("Traceback", ".py", "pydantic"))
