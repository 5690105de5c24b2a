"""The command ``demineur``: boards and runs on the command line, and the server.

Exit status 0 is success, 1 that something checked does not hold, 2 that the input is bad
(then one line on standard error says what and where, and nothing is on standard output).
Each command has a module of its own; those of the server are imported only when they are
asked for, so that looking at a board does not load a network stack.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Final

import typer

from demineur import __version__
from demineur.cli.board import board as _board
from demineur.cli.errors import InputError
from demineur.cli.replay import replay as _replay
from demineur.cli.verify import verify as _verify
from demineur.engine import EngineError

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130

_EARLY: Final[dict[str, Callable[..., object]]] = {
    "board": _board,
    "replay": _replay,
    "verify": _verify,
}

_LATE: Final = ("serve",)
"""Commands whose modules, of the same name in this package, are imported when used."""

# The root of the errors that arguments raise: typer may bring its own copy of click.
_ArgumentError: Final[type[Exception]] = typer.BadParameter.__mro__[2]


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


_Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=_say_version, is_eager=True, help="Show the version and exit."
    ),
]


def _root(version: _Version = False) -> None:
    """Minesweeper races: the server, and tools for boards and runs."""


def build(arguments: Sequence[str]) -> typer.Typer:
    """The command line that `arguments` need: late commands only if asked for, or for help."""
    app = typer.Typer(
        name="demineur",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    for name, command in _EARLY.items():
        app.command(name)(command)
    for name in _LATE:
        if arguments[0] in (name, "--help"):
            app.command(name)(getattr(import_module(f"demineur.cli.{name}"), name))
    return app


def run(arguments: Sequence[str]) -> int:
    """Carry out `arguments` (without the program's name) and give the exit status."""
    words = list(arguments) or ["--help"]
    try:
        status = build(words)(words, standalone_mode=False, prog_name="demineur")
        sys.stdout.flush()
    except _ArgumentError as error:
        return _refuse(getattr(error, "format_message", error.__str__)())
    except (InputError, EngineError) as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # Who read our output has had enough; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _refuse(message: str) -> int:
    print("demineur:", " ".join(message.split()), file=sys.stderr)  # noqa: T201
    return BAD_INPUT


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))
