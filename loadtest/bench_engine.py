"""The engine beside what a user would pick instead, measured in one run.

    python loadtest/bench_engine.py
    python loadtest/bench_engine.py --json --rounds 5 --subject boards

Each figure is the median of rounds that take turns between the engines, so that what else
the machine does falls on all of them. A ratio is ours by the best of the others in the
same run, and a goal is the most that the ratio may be. This is no test: it exits 0
whatever comes out.

A subject is a module of ``loadtest.comparison`` with a function ``rows(measure)`` that
yields its rows; `SUBJECTS` names them.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

# Run as a script, this file's own folder is where Python looks, not the project.
sys.path.insert(0, str(Path(__file__).parents[1]))

from loadtest.comparison import rivals
from loadtest.comparison.measuring import Measure, Row

SUBJECTS = ("boards", "games", "moves", "deduction")
"""Modules of ``loadtest.comparison``, in the order of the table."""

ENGINES = ("ms_toollib", "minegauler", "plain lists")


def measured(subjects: Sequence[str], measure: Measure) -> Iterator[Row]:
    """All rows, as they are measured."""
    for subject in subjects:
        yield from import_module(f"loadtest.comparison.{subject}").rows(measure)


def line(row: Row) -> str:
    """`row` for people."""
    others = [f"{row.others[name]:>12.2f}" if name in row.others else " " * 12 for name in ENGINES]
    against = "" if set(row.others) & set(ENGINES) else f"  by {next(iter(row.others), '')}"
    ratio = f"{row.ratio:>8.3f}" if row.ratio is not None else " " * 8
    goal = f"{row.goal:>6.4g} {'ok' if (row.ratio or 0) <= row.goal else 'NO'}" if row.goal else ""
    return f"{row.name:<44}{row.ours:>10.2f} {row.unit:<5}{''.join(others)}{ratio}  {goal}{against}"


def document(row: Row) -> dict[str, object]:
    """`row` for programs."""
    return asdict(row) | {"ratio": row.ratio, "met": row.goal and (row.ratio or 0) <= row.goal}


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--rounds", type=int, default=15, help="of each figure")
    parser.add_argument("--subject", choices=SUBJECTS, action="append", help="only this one")
    arguments = parser.parse_args()
    found = measured(arguments.subject or SUBJECTS, Measure(arguments.rounds))
    about = {"python": platform.python_version(), "machine": platform.machine()}
    if arguments.json:
        rows = [document(row) for row in found]
        json.dump({**about, "rivals": rivals.versions(), "rows": rows}, sys.stdout, indent=1)
        print()
        return
    print(" ".join(f"{name} {value}" for name, value in {**about, **rivals.versions()}.items()))
    if not rivals.minegauler():
        print(rivals.NOTE)
    print(
        f"{'':<44}{'ours':>10}      {''.join(f'{name:>12}' for name in ENGINES)}{'ratio':>8}  goal"
    )
    for row in found:
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
