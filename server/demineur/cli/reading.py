"""Run files from a file or standard input, one after the other.

A file holds one run or an array of them. An array is decoded one run at a time, so that
ten thousand runs need the memory of their text and of one run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from demineur.cli.errors import InputError
from demineur.engine import EngineError, RunFile, read_run_file
from demineur.engine.runfile import Document, shown

_SPACE: Final = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Reading:
    """One run of a file.

    Attributes:
        number: which run of an array, from 1; None when the file is one run.
        run_file: the run.
        read: how much of the text is read, 0 to 1.
    """

    number: int | None
    run_file: RunFile
    read: float

    @property
    def prefix(self) -> str:
        """What a message about this run begins with."""
        return "" if self.number is None else f"run {self.number}: "


class RunFiles:
    """The runs of `path`, ``-`` for standard input; iterate once or again.

    Raises:
        InputError: it cannot be read, or is not UTF-8. While iterating: what it holds is
            not JSON, or not a run file.
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._text = self._read(path)
        self._start = self._skip(0)
        self.is_array = self._text.startswith("[", self._start)
        self._decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)

    @property
    def size(self) -> int:
        """Characters of the whole text."""
        return len(self._text)

    def __iter__(self) -> Iterator[Reading]:
        if self.is_array:
            yield from self._array()
            return
        run_file, at = self._run(self._start, None)
        self._end(at)
        yield Reading(None, run_file, 1.0)

    def _array(self) -> Iterator[Reading]:
        at = self._skip(self._start + 1)
        if self._text.startswith("]", at):
            self._end(at + 1)
            return
        number = 0
        while True:
            number += 1
            run_file, at = self._run(at, number)
            at = self._skip(at)
            yield Reading(number, run_file, at / self.size)
            if self._text.startswith("]", at):
                self._end(at + 1)
                return
            if not self._text.startswith(",", at):
                raise self._not_json("expecting ',' or ']'", at)
            at = self._skip(at + 1)

    def _run(self, at: int, number: int | None) -> tuple[RunFile, int]:
        try:
            document, end = self._decoder.raw_decode(self._text, at)
            return read_run_file(document), end
        except json.JSONDecodeError as error:
            raise self._not_json(error.msg[0].lower() + error.msg[1:], error.pos) from None
        except EngineError as error:
            raise self._refusal(number, str(error)) from None
        except RecursionError:
            raise self._refusal(number, "nested too deeply") from None
        except ValueError:
            # The one other that the decoder raises: Python bounds the digits of an int.
            raise self._refusal(number, "a number has too many digits") from None

    def _refusal(self, number: int | None, fault: str) -> InputError:
        if number is None:
            return InputError(f"{self.name}: {fault}")
        separator = ", " if fault.startswith("move ") else ": "
        return InputError(f"{self.name}: run {number}{separator}{fault}")

    def _not_json(self, fault: str, at: int) -> InputError:
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        return InputError(f"{self.name}: not JSON: {fault} at line {line}, column {column}")

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return space.end() if space else at

    def _end(self, at: int) -> None:
        at = self._skip(at)
        if at < self.size:
            raise self._not_json("extra data", at)

    def _read(self, path: str) -> str:
        try:
            data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"{self.name}: {reason}") from None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{self.name}: not UTF-8 at byte {error.start}") from None


def _object(pairs: list[tuple[str, Any]]) -> Document:
    document = dict(pairs)
    if len(document) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise EngineError(f"field {shown(twice)} is there twice")
    return document


def _constant(name: str) -> NoReturn:
    raise EngineError(f"{name} is not a number of JSON")
