"""Logs, metrics and headers tell no more than frames do (R14)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.redis_servers import RedisServer
from tests.rooms.audit import Auditor
from tests.rooms.oracle import Oracle, Racer, leave, racing
from tests.rooms.table import new_code
from tests.server_process import ServerProcess


@pytest.fixture(params=["text", "json"])
def talkative(
    request: pytest.FixtureRequest, tmp_path: Path, redis_server: RedisServer
) -> Iterator[ServerProcess]:
    """A server that logs all it can."""
    settings = {"redis_url": redis_server.url, "log_level": "debug", "log_format": request.param}
    with ServerProcess(tmp_path, **settings).start().ready() as server:
        yield server


async def test_a_whole_race_leaves_no_secret_anywhere(
    talkative: ServerProcess, redis_server: RedisServer
) -> None:
    code = new_code()
    players = await racing(talkative.base, code, 2)
    with redis_server.client() as client:
        oracle = Oracle(client, code)
        secret = oracle.secrets()[1]
        winner, loser = (Racer(player, oracle.layout()) for player in players)
        await winner.tap()
        await loser.lose()
        words = [*secret.words, *(str(player.token) for player in players)]
        during = metrics(talkative)
        await winner.win()
        await players[0].event("finished")
    await players[0].say("not json")
    await players[0].wait(lambda f: f["t"] == "error", what="the refusal")
    words += ["Player 0", "Player 1", str(players[0].player), str(players[1].player)]
    heads = [talkative.get(path) for path in ("/", f"/r/{code}", "/healthz", "/readyz", "/no")]
    told = [during, metrics(talkative), talkative.output.read_text()]
    told += [json.dumps(head) + body.decode() for _, head, body in heads]
    handshake = players[0].headers
    assert handshake is not None
    told.append(str(handshake))
    await leave(players)
    talkative.stop()
    told.append(talkative.log)
    assert "serving" in talkative.log
    for text in told:
        assert not [word for word in words if word in text]
        assert not re.search(r"\bmines?\b|seed", text.replace("Démineur", ""), re.IGNORECASE) or (
            "<html" in text
        )
    assert "Traceback" not in talkative.log
    for player in players:
        Auditor({1: secret}).read(player.journal)


def metrics(server: ServerProcess) -> str:
    status, headers, body = server.get("/metrics")
    assert status == 200
    # A proxy that nobody told us about stands between: whoever asks is nobody we know.
    assert server.get("/metrics", **{"X-Forwarded-For": "127.0.0.1"})[0] == 403
    return str(headers) + body.decode()
