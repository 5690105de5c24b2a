"""``demineur replay``: what recorded runs come to."""

from __future__ import annotations

from typing import Annotated

import typer

from demineur.cli.drawing import draw_run
from demineur.cli.output import JsonDocuments, Spool, spooled, with_progress
from demineur.cli.reading import Reading, RunFiles
from demineur.engine import Outcome, RunFile, Status
from demineur.engine import replay as play

_HEADINGS = (
    f"{'run':>6}  {'board':>7}  {'mines':>5}  {'status':<7}  {'time, s':>9}  {'3BV':>11}  "
    f"{'openings':>8}  {'taps':>5}  {'flags':>5}  {'efficiency':>10}"
)


def replay(
    file: Annotated[str, typer.Argument(help="A run file or an array of them; - to read input.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    steps: Annotated[bool, typer.Option(help="What came of every move, too.")] = False,
) -> None:
    """Play recorded runs again and say what they come to."""
    runs = RunFiles(file)
    with spooled() as spool:
        if as_json:
            documents = JsonDocuments(spool, is_array=runs.is_array)
            for reading in with_progress(runs):
                documents.add(play(reading.run_file, steps=steps).document())
            documents.end()
            return
        if runs.is_array:
            spool.line(_HEADINGS)
        for reading in with_progress(runs):
            outcome = play(reading.run_file, steps=steps)
            _tell(spool, reading, outcome)
            _tell_steps(spool, reading.run_file, outcome)


def _tell(spool: Spool, reading: Reading, outcome: Outcome) -> None:
    if reading.number is not None:
        spool.line(_row(reading.number, reading.run_file, outcome))
        return
    for line in _picture(reading.run_file, outcome):
        spool.line(line)


def _row(number: int, run_file: RunFile, outcome: Outcome) -> str:
    size = f"{run_file.width}x{run_file.height}"
    solved = "-" if outcome.three_bv is None else f"{outcome.three_bv_solved}/{outcome.three_bv}"
    openings = "-" if outcome.openings is None else str(outcome.openings)
    return (
        f"{number:>6}  {size:>7}  {run_file.mines:>5}  {outcome.status.value:<7}  "
        f"{_seconds(outcome):>9}  {solved:>11}  {openings:>8}  {outcome.taps:>5}  "
        f"{outcome.flag_moves:>5}  {_efficiency(outcome):>10}"
    )


def _picture(run_file: RunFile, outcome: Outcome) -> list[str]:
    title = f"{run_file.width} x {run_file.height}, {run_file.mines} mines: {outcome.status.value}"
    board = run_file.board()
    if board is None:
        return [f"{title}, no tap yet"]
    ended = outcome.status in (Status.WON, Status.LOST)
    drawn = draw_run(board, outcome.opened, outcome.flags, outcome.exploded, ended=ended)
    return [
        title + (f" in {_seconds(outcome)} s" if ended else ""),
        *drawn,
        f"3BV {outcome.three_bv_solved} of {outcome.three_bv}, openings {outcome.openings}, "
        f"mine counter {outcome.mine_counter}",
        f"taps {outcome.taps}, flag moves {outcome.flag_moves}, efficiency {_efficiency(outcome)}",
    ]


def _tell_steps(spool: Spool, run_file: RunFile, outcome: Outcome) -> None:
    for count, (move, step) in enumerate(zip(run_file.moves, outcome.steps or (), strict=False), 1):
        spool.line(
            f"move {count:>5}  {move.t_ms:>9} ms  {move.kind:<4} {move.cell:>5}  "
            f"opened {len(step.opened):>5}  flags {step.flags:>4}  {step.status.value}"
        )


def _seconds(outcome: Outcome) -> str:
    return "-" if outcome.elapsed_ms is None else f"{outcome.elapsed_ms / 1000:.3f}"


def _efficiency(outcome: Outcome) -> str:
    return "-" if outcome.efficiency is None else f"{outcome.efficiency:.2f}"
