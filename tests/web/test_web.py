"""Runs the client's own tests and its type check, so that one command runs everything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str) -> None:
    """Runs a command at the top of the checkout; shows what it said when it fails."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}", pytrace=False)


def test_modules() -> None:
    run("node", "--test", "--test-reporter=spec", "tests/web/")


def test_types() -> None:
    run("node_modules/.bin/tsc", "--project", "tsconfig.json")


SAVED = 'import("./tests/web/played.js").then((m) => console.log(JSON.stringify(m.saved())))'


def test_runs_that_the_client_saves_hold(tmp_path: Path) -> None:
    made = subprocess.run(("node", "-e", SAVED), cwd=ROOT, capture_output=True, check=True)
    saved = tmp_path / "saved.json"
    saved.write_bytes(made.stdout)
    said = verify(saved)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "3 runs: all that is recorded holds (6 results and commitments)" in said.stdout

    runs = json.loads(made.stdout)
    runs[0]["result"]["elapsed_ms"] += 1
    saved.write_text(json.dumps(runs))
    assert verify(saved).returncode == 1


def verify(path: Path) -> subprocess.CompletedProcess[str]:
    """Whether runs hold, by the command line."""
    command = (str(Path(sys.executable).with_name("demineur")), "verify", str(path))
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
