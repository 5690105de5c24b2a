"""What the command line does with arguments and input that it cannot use."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from demineur import __version__
from demineur.cli import replay, run
from tests.cli.command import PROGRAM, VECTORS, Answer, demineur

Command = Callable[..., Answer]

GOOD: dict[str, Any] = {
    "format": "demineur/run/1",
    "width": 9,
    "height": 9,
    "mines": 10,
    "seed": "79f1fd0518bec66ca50405acb71aa74b",
    "moves": [[298, "tap", 13], [643, "flag", 73]],
}
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize("name", ["replay", "verify"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON: expecting value at line 1, column 1"),
        ("\n\n  x", "not JSON: expecting value at line 3, column 3"),
        (TEXT[:-1], f"not JSON: expecting ',' delimiter at line 1, column {len(TEXT)}"),
        (TEXT + "]", f"not JSON: extra data at line 1, column {len(TEXT) + 1}"),
        (f"[{TEXT}", f"not JSON: expecting ',' or ']' at line 1, column {len(TEXT) + 2}"),
        (f"[{TEXT},]", f"not JSON: expecting value at line 1, column {len(TEXT) + 3}"),
        (f"[{TEXT}] 1", f"not JSON: extra data at line 1, column {len(TEXT) + 4}"),
        (f"[{TEXT},\n{TEXT[:30]}", "not JSON: "),
        ("[,]", "not JSON: expecting value at line 1, column 2"),
        ("null", "a run is an object, not null"),
        ("3", "a run is an object, not 3"),
        ("[[]]", "run 1: a run is an object, not a list"),
        (f"[{TEXT}, {TEXT}, 3]", "run 3: a run is an object, not 3"),
        ("NaN", "NaN is not a number of JSON"),
        (TEXT.replace("298", "NaN"), "NaN is not a number of JSON"),
        (TEXT.replace("298", "-Infinity"), "-Infinity is not a number of JSON"),
        (TEXT.replace("298", "1e999"), "move 1: a time is in whole milliseconds, not inf"),
        (TEXT.replace("298", "9" * 5000), "a number has too many digits"),
        (TEXT.replace("298", "9" * 4000), "move 1: a time cannot be so large a number"),
        (TEXT.replace("298", "true"), "move 1: a time is in whole milliseconds, not true"),
        (TEXT.replace('"mines"', '"width"'), "field 'width' is there twice"),
        (TEXT.replace("73", "81"), "move 2: cell 81 is off the 9x9 board"),
        (f"[{TEXT}, {TEXT.replace('73', '99')}]", "run 2, move 2: cell 99 is off the 9x9 board"),
        (f"[{TEXT.replace('9', '0', 1)}]", "run 1: "),
        ("[" * 100_000, "run 1: nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (TEXT.replace("13", "[" * 100_000), "nested too deeply"),
    ],
)
def test_bad_runs(command: Command, name: str, text: str, said: str) -> None:
    for flags in ([], ["--json"]):
        refusal = command(name, *flags, "-", stdin=text).refusal()
        assert refusal.startswith("standard input: ")
        assert refusal.removeprefix("standard input: ").startswith(said)


@pytest.mark.parametrize("name", ["replay", "verify"])
def test_bad_files(command: Command, name: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    assert command(name, str(missing)).refusal() == f"{missing}: No such file or directory"
    assert command(name, str(tmp_path)).refusal() == f"{tmp_path}: Is a directory"
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"format": "\xe9"}')
    assert command(name, str(latin)).refusal() == f"{latin}: not UTF-8 at byte 12"
    assert command(name, "-", stdin=b"\xff\xfe[\0]\0").refusal() == (
        "standard input: not UTF-8 at byte 0"
    )
    assert "null byte" in command(name, "a\0b").refusal()


def test_nothing_is_printed_of_the_runs_before_a_bad_one(command: Command) -> None:
    text = json.dumps([GOOD] * 200 + [GOOD | {"width": 0}])
    for arguments in (["replay"], ["replay", "--json"], ["verify"], ["replay", "--steps"]):
        refusal = command(*arguments, "-", stdin=text).refusal()
        assert refusal.startswith("standard input: run 201: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["replay"], "Missing argument"),
        (["replay", "a", "b"], "extra argument"),
        (["replay", "--yes", "a"], "No such option"),
        (["verify"], "Missing argument"),
        (["deal"], "No such command 'deal'"),
        (["--flag"], "No such option"),
    ],
)
def test_bad_arguments(command: Command, arguments: list[str], said: str) -> None:
    assert said in command(*arguments).refusal()


def test_bad_input_in_a_process_of_its_own() -> None:
    text = json.dumps([GOOD, GOOD | {"moves": [[1, "tap", 1]] * 16 + [[2, "tap", 99]]}])
    assert demineur("replay", "--json", "-", stdin=text).refusal() == (
        "standard input: run 2, move 17: cell 99 is off the 9x9 board"
    )
    assert "No such option" in demineur("verify", "--loud").refusal()


def test_the_version_is_that_of_the_package(command: Command) -> None:
    assert command("--version") == Answer(0, f"{__version__}\n", "")


def test_help_names_the_commands(command: Command) -> None:
    for arguments in (["--help"], []):
        answer = command(*arguments)
        for name in ("board", "replay", "verify"):
            assert name in answer.out
    assert "--first-tap" in command("board", "--help").out


def test_a_reader_that_has_had_enough_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    path.write_text(json.dumps([GOOD] * 3000))
    with subprocess.Popen(
        [*PROGRAM, "replay", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.read(1) == b"["
        program.stdout.close()
        err = program.stderr.read()
        program.wait(60)
    assert err == b""
    assert program.returncode == 1


def test_an_interrupt_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(path: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(replay, "RunFiles", interrupted)
    assert run(["replay", "-"]) == 130
    assert capsys.readouterr().err.strip() == ""


def test_looking_at_a_board_loads_no_server() -> None:
    program = (
        "import sys; from demineur.cli import run; "
        "run(['board', '--level', 'expert', '--seed', '0' * 32, '--first-tap', '0']); "
        "print(sorted(set(sys.modules) & {'redis', 'websockets', 'uvloop', 'demineur.net', "
        "'demineur.store', 'demineur.rooms', 'structlog', 'prometheus_client'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


def test_the_vectors_are_where_the_tests_look() -> None:
    assert sorted(path.name for path in VECTORS.glob("*.json")) == [
        "boards.json",
        "replays.json",
        "runs.json",
    ]
