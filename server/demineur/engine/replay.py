"""Playing a run file again, and checking what was recorded of it.

Everything is recomputed from the seed or the mines and the moves; nothing recorded is
taken on trust.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from demineur.engine.geometry import Cell
from demineur.engine.run import Run, Status
from demineur.engine.runfile import Document, RunFile, shown
from demineur.engine.seeding import commitment


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one move: cells newly opened, the status, and how many flags stand."""

    opened: list[Cell]
    status: Status
    flags: int

    def document(self) -> Document:
        """The step as an object for JSON."""
        return {"opened": self.opened, "status": self.status.value, "flags": self.flags}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to.

    Attributes:
        status: ready, playing, won or lost.
        opened: open cells without a mine, ascending.
        flags: cells with a flag, ascending.
        exploded: mines that opened, ascending.
        elapsed_ms: from the first tap to the move that ended the run; None when it did
            not end.
        mine_counter: mines less flags; None before the first tap.
        three_bv: of the board; None while there is none, before the first tap on a seed's.
        three_bv_solved: how much of it is open.
        openings: of the board; None while there is none.
        taps: taps that were not ignored.
        flag_moves: flags set or lifted.
        efficiency: 3BV solved by `taps` and `flag_moves`; None when no move was made.
        steps: what came of each move, if that was asked for.
    """

    status: Status
    opened: list[Cell]
    flags: list[Cell]
    exploded: list[Cell]
    elapsed_ms: int | None
    mine_counter: int | None
    three_bv: int | None
    three_bv_solved: int
    openings: int | None
    taps: int
    flag_moves: int
    efficiency: float | None
    steps: list[Step] | None = None

    def document(self) -> Document:
        """The outcome as an object for JSON; `steps` only when they were asked for."""
        document = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        document["status"] = self.status.value
        if self.steps is None:
            del document["steps"]
        else:
            document["steps"] = [step.document() for step in self.steps]
        return document


def replay(run_file: RunFile, *, steps: bool = False) -> Outcome:
    """Play all moves of `run_file` and say what they come to; with `steps`, of each one.

    >>> from demineur.engine.runfile import read_run_file
    >>> outcome = replay(read_run_file({
    ...     "format": "demineur/run/1", "width": 4, "height": 3, "mines": 1,
    ...     "mine_cells": [0], "moves": [[700, "tap", 11], [1900, "flag", 0], [2500, "tap", 0]],
    ... }))
    >>> outcome.status.value, outcome.elapsed_ms, outcome.three_bv
    ('won', 0, 1)

    Raises:
        EngineError: a cell is off the board, or a seed cannot make the board. Neither
            happens with a run file that `read_run_file` read.
    """
    run = Run(run_file.source())
    shape = run.geometry
    begun_ms: int | None = None
    ended_ms: int | None = None
    done: list[Step] = []
    for t_ms, kind, cell in run_file.moves:
        revealed = 0
        if kind == "tap":
            revealed = run.tap(cell)
        else:
            run.flag(cell)
        if begun_ms is None and revealed:
            begun_ms = t_ms
        if ended_ms is None and run.status in (Status.WON, Status.LOST):
            ended_ms = t_ms
        if steps:
            opened = shape.cells_in(revealed & ~run.exploded)
            done.append(Step(opened, run.status, run.flags.bit_count()))
        elif ended_ms is not None:
            break
    elapsed_ms = None if begun_ms is None or ended_ms is None else ended_ms - begun_ms
    return _outcome(run, elapsed_ms, done if steps else None)


def _outcome(run: Run, elapsed_ms: int | None, steps: list[Step] | None) -> Outcome:
    shape = run.geometry
    board = run.board
    return Outcome(
        status=run.status,
        opened=shape.cells_in(run.opened),
        flags=shape.cells_in(run.flags),
        exploded=shape.cells_in(run.exploded),
        elapsed_ms=elapsed_ms,
        mine_counter=run.mine_counter,
        three_bv=board.three_bv if board else None,
        three_bv_solved=run.three_bv_solved,
        openings=board.openings if board else None,
        taps=run.taps,
        flag_moves=run.flag_moves,
        efficiency=run.efficiency,
        steps=steps,
    )


_COUNTED: Final[Mapping[str, Callable[[Outcome], int]]] = {
    "opened_count": lambda outcome: len(outcome.opened),
    "flags_count": lambda outcome: len(outcome.flags),
}


def verify(run_file: RunFile) -> tuple[Outcome, list[str]]:
    """Play `run_file` again and compare: its outcome, and a line for each fault.

    A fault is a recorded value that the moves do not give, or a commitment that is not
    the seed's. No faults: everything that was recorded holds.

    Raises:
        EngineError: as `replay` does.
    """
    records = _records(run_file)
    outcome = replay(run_file, steps=any("steps" in record for _, record in records))
    found = outcome.document()
    found |= {name: count(outcome) for name, count in _COUNTED.items()}
    faults = [
        f"{where}: {_difference(name, value, found[name])}"
        for where, record in records
        for name, value in record.items()
        if not _same(value, found[name])
    ]
    if run_file.seed is not None and run_file.commitment is not None:
        given = commitment(run_file.seed)
        if run_file.commitment != given:
            faults.append(f"commitment is {run_file.commitment}, the seed gives {given}")
    return outcome, faults


def _records(run_file: RunFile) -> list[tuple[str, Mapping[str, Any]]]:
    both = (("result", run_file.result), ("expect", run_file.expect))
    return [(where, record) for where, record in both if record is not None]


def _same(recorded: object, found: object) -> bool:
    """Equal, and of the same type: in Python, True is 1 and 1.0 is 1, in JSON not.

    An efficiency is a quotient that others may have rounded in its last digits.
    """
    if isinstance(found, float) and isinstance(recorded, int | float):
        return not isinstance(recorded, bool) and math.isclose(recorded, found, rel_tol=1e-9)
    if type(recorded) is not type(found):
        return False
    if isinstance(recorded, list) and isinstance(found, list):
        return len(recorded) == len(found) and all(map(_same, recorded, found))
    if isinstance(recorded, dict) and isinstance(found, dict):
        return recorded.keys() == found.keys() and all(
            _same(value, found[name]) for name, value in recorded.items()
        )
    return recorded == found


def _difference(name: str, recorded: object, found: object) -> str:
    if isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            return f"{name} has {len(recorded)} entries, the moves give {len(found)}"
        pairs = enumerate(zip(recorded, found, strict=True), 1)
        at = next(count for count, pair in pairs if not _same(*pair))
        return f"{name} differs from what the moves give at entry {at}"
    return f"{name} is {shown(recorded)}, the moves give {shown(found)}"
