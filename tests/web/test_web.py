"""Runs the client's own tests and its type check, so that one command runs everything."""

import subprocess
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
