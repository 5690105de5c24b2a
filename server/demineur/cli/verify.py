"""``demineur verify``: whether what was recorded of runs holds."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from demineur.cli.output import JsonDocuments, spooled, with_progress
from demineur.cli.reading import RunFiles
from demineur.engine import Outcome, RunFile
from demineur.engine import verify as check
from demineur.engine.runfile import Document

FAULTS: Final = 1
"""Exit status when something does not hold."""


def verify(
    file: Annotated[str, typer.Argument(help="A run file or an array of them; - to read input.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document; the faults on standard error, too.")
    ] = False,
) -> int:
    """Check recorded results and seeds of runs.

    Prints a line for each that does not hold, and then ends with 1.
    """
    runs = RunFiles(file)
    count = faulty = records = 0
    with spooled() as spool:
        documents = JsonDocuments(spool, is_array=runs.is_array)
        for reading in with_progress(runs):
            outcome, faults = check(reading.run_file)
            count += 1
            records += _records(reading.run_file)
            faulty += bool(faults)
            for fault in faults:
                if as_json:
                    print(f"{reading.prefix}{fault}", file=sys.stderr)  # noqa: T201
                else:
                    spool.line(f"{reading.prefix}{fault}")
            if as_json:
                documents.add(_document(outcome, faults))
        if as_json:
            documents.end()
        elif not faulty:
            spool.line(_summary(count, records))
    return FAULTS if faulty else 0


def _document(outcome: Outcome, faults: list[str]) -> Document:
    """What ``replay`` says of the run, and the faults."""
    document = outcome.document()
    document.pop("steps", None)
    return document | {"faults": faults}


def _records(run_file: RunFile) -> int:
    recorded = (run_file.result, run_file.expect, run_file.commitment)
    return sum(record is not None for record in recorded)


def _summary(count: int, records: int) -> str:
    runs = "1 run" if count == 1 else f"{count} runs"
    if not records:
        return f"{runs}: nothing is recorded to check, all moves can be played"
    return f"{runs}: all that is recorded holds ({records} results and commitments)"
