"""The scripts as text: headers, keys, and that nothing is touched that is not passed in."""

import hashlib
import re
from pathlib import Path

import pytest

from demineur.store import keys, scripts
from demineur.store.scripts import Script

DIRECTORY = Path(scripts.__file__).parent / "lua"
SCRIPTS = sorted(DIRECTORY.glob("*.lua"))


def header_of(text: str) -> str:
    return re.match(r"(?:--[^\n]*\n)*", text)[0]  # type: ignore[index]


def test_every_script_is_used_and_every_use_has_a_script() -> None:
    used = {s.name for s in vars(scripts).values() if isinstance(s, Script)}
    assert used == {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_opens_with_what_one_must_know(path: Path) -> None:
    header = header_of(path.read_text())
    for part in ("KEYS", "ARGV", "returns"):
        assert re.search(rf"^-- {part}", header, re.MULTILINE), part
    body = path.read_text()[len(header) :]
    for kind in ("KEYS", "ARGV"):
        for number in re.findall(rf"{kind}\[(\d+)\]", body):
            assert f"{kind}[{number}]" in header, f"{kind}[{number}] is not explained"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_names_no_key_itself(path: Path) -> None:
    text = path.read_text()
    body = text[len(header_of(text)) :]
    literals = re.findall(r"'[^'\n]*'", re.sub(r"--.*", "", body))
    assert literals
    for literal in literals:
        assert not re.search("room|player|lobby|nodes|watch|[{:}]", literal), literal


def test_the_hash_is_that_of_the_source() -> None:
    for script in (scripts.APPEND, scripts.BEAT):
        assert script.sha == hashlib.sha1(script.source.encode()).hexdigest()
        command = script.command(["k"], ["a", 1])
        assert command == ("EVALSHA", script.sha, 1, "k", "a", 1)
        assert script.whole(command) == ("EVAL", script.source, 1, "k", "a", 1)


def test_all_keys_of_a_room_share_a_slot_and_so_do_all_beats() -> None:
    for code in ("K7MP3QXZ", "23456789"):
        assert len({keys.slot(key) for key in keys.room_keys(code)}) == 1
    assert keys.slot(keys.node_key("a")) == keys.slot(keys.node_key("b"))
    assert keys.slot(keys.LOBBY_ROOMS) == keys.slot(keys.LOBBY_SEEN)
    assert keys.slot("foo") == 12182
