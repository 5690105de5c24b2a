"""Nothing hidden leaves the server (R14): a busy evening audited, and the audit put to the test."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.player_client import PlayerClient
from tests.rooms.audit import Auditor, Journal, Leak, Secret
from tests.rooms.table import Table, new_code

SECRETS = {1: Secret("00" * 16, 0), 2: Secret("11" * 16, 3)}


async def test_a_busy_evening_tells_nobody_too_much(table: Table) -> None:
    """Wins, losses, a penalty's end, spectators, returns of both kinds, rematches, a lobby."""
    host, guest, third = everybody = await table.lobby(3, level="intermediate")
    watcher = await table.client(host.code, "Watcher")
    await watcher.join(role="spectator")
    await table.start(everybody)
    await table.begin(host)
    await table.begin(guest, 0)
    await table.begin(third)
    await guest.flag(table.hidden(guest, mine=True)[0])
    await third.flag(table.hidden(third, mine=True)[0])
    assert await comes_back(guest, since=guest.v, n=guest.n) == "missed"
    assert await comes_back(third) == "room"
    await comes_back(watcher, role="spectator", since=watcher.v)
    await table.lose(guest)
    await comes_back(guest)  # lost, and the others still play: no mine but the one that was hit
    await table.win(host)
    late = await table.client(host.code, "Late")
    await late.join(role="spectator")
    await table.win(third)
    await table.finished(watcher)
    marks = [len(player.frames) for player in everybody]
    mark = len(late.frames)
    for player in everybody:
        await player.say({"t": "rematch"})
    await table.count_down(everybody, marks)
    await table.win(guest)
    await comes_back(guest, since=guest.v, n=guest.n)
    await table.lose(host)
    await third.say({"t": "leave"})
    await table.finished(late, mark)
    readers = await table.audit()
    assert min(reader.frames for reader in readers) > 10
    assert [reader.contents > 100 for reader in readers] == [True, True, True, False, False]


async def comes_back(client: PlayerClient, **fields: Any) -> str:
    """Lose the line and return; the kind of the answer."""
    await client.cut_line()
    await client.connect()
    await client.hello()
    return str((await client.join(**fields))["t"])


async def a_race(table: Table) -> tuple[Journal, dict[int, Secret]]:
    """The journal of a race of two, as the one who lost it has it, and its seed."""
    host, guest = await table.racing(2)
    await table.begin(host)
    await table.begin(guest)
    await guest.flag(table.hidden(guest, mine=True)[0])
    await comes_back(guest, since=guest.v, n=guest.n)
    await comes_back(guest)
    await guest.tap(table.hidden(guest, mine=False)[0])
    await guest.wait(lambda f: f["t"] == "progress", what="progress")
    await table.lose(guest)
    await table.win(host)
    await table.finished(guest)
    return guest.journal, await table.secrets(host.code)


Change = Callable[[dict[str, Any], Secret], bool]


def _first(kind: str, change: Callable[[dict[str, Any], Secret], None]) -> Change:
    """Change the first frame of this kind."""

    def apply(frame: dict[str, Any], secret: Secret) -> bool:
        if frame["t"] != kind:
            return False
        change(frame, secret)
        return True

    return apply


def _moved(change: Callable[[dict[str, Any]], None]) -> Change:
    """Change the first answer that opens something."""

    def apply(frame: dict[str, Any], secret: Secret) -> bool:
        if frame["t"] != "moved" or not frame.get("open"):
            return False
        change(frame)
        return True

    return apply


def _wider(frame: dict[str, Any]) -> None:
    start, text = frame["open"][0]
    width = 9
    frame["open"][0] = (
        [start, text + "1"] if (start + len(text)) % width else [start - 1, "1" + text]
    )


def _other_number(frame: dict[str, Any]) -> None:
    start, text = frame["open"][0]
    frame["open"][0] = [start, ("1" if text[0] != "1" else "2") + text[1:]]


def _whole_board(frame: dict[str, Any], secret: Secret) -> None:
    frame["open"] = [[9 * row, "1" * 9] for row in range(9)]


LEAKS: dict[str, Change] = {
    "one cell more than was opened": _moved(_wider),
    "another number": _moved(_other_number),
    "a cell less": _moved(lambda frame: frame["open"].pop()),
    "the seed in a text": _first("welcome", lambda f, s: f.update(name=s.seed)),
    "the attempt's seed in a text": _first("welcome", lambda f, s: f.update(name=s.words[1])),
    "a field that no message has": _first("progress", lambda f, _: f.update(mines=[1, 2])),
    "a board in a progress frame": _first("progress", _whole_board),
    "another player's run": _first(
        "missed",
        lambda f, _: f["moves"].append({"t": "moved", "n": 99, "ms": 1, "open": [[0, "1"]]}),
    ),
    "a mine among the flags": _first("room", lambda f, _: _flags(f)),
}


def _flags(frame: dict[str, Any]) -> None:
    you = frame["you"]
    if "run" in you:
        you["run"]["flags"].append(80)
    else:
        you["run"] = {"n": 0, "status": "ready", "open": [], "flags": [1], "exploded": []}


@pytest.mark.parametrize("what", LEAKS)
async def test_the_audit_finds(table: Table, what: str) -> None:
    journal, secrets = await a_race(table)
    Auditor(secrets).read(journal)
    changed: Journal = []
    done = False
    for direction, text in journal:
        frame = json.loads(text)
        if direction == "<" and not done:
            done = LEAKS[what](frame, secrets[1])
        changed.append((direction, json.dumps(frame)))
    assert done
    with pytest.raises((Leak, ValueError)):
        Auditor(secrets).read(changed)


async def test_the_audit_finds_a_result_before_all_have_ended(table: Table) -> None:
    journal, secrets = await a_race(table)
    finished = next(i for i, (_, text) in enumerate(journal) if '"finished","result"' in text)
    start = next(i for i, (_, text) in enumerate(journal) if '"e":"go"' in text)
    early = [*journal[: start + 1], journal[finished], *journal[start + 1 :]]
    with pytest.raises(Leak):
        Auditor(secrets).read(early)


async def test_the_lobby_tells_codes_names_and_settings_only(table: Table) -> None:
    host, _ = await table.racing(2, listed=True)
    looker = PlayerClient(table.base, new_code(), "Looker")
    await looker.connect("/ws/lobby")
    await looker.hello()
    listed = await looker.wait(lambda f: f["t"] == "lobby" and f["rooms"], what="the lobby")
    (room,) = [room for room in listed["rooms"] if room["code"] == host.code]
    assert set(room) == {"code", "host", "settings", "players", "phase"}
    await looker.leave_line()
    Auditor(await table.secrets(host.code)).read(looker.journal)
