"""Answers, kept back until all of the input has proved good.

A command that finds bad input in the ten-thousandth run must leave nothing on standard
output. So an answer goes to a spool, which is in memory while it is small, and to
standard output when it is complete.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Final

import orjson

from demineur.cli.reading import Reading, RunFiles
from demineur.engine.runfile import Document

SPOOL_BYTES: Final = 8 * 1024 * 1024
"""How much of an answer is kept in memory; more goes to a temporary file."""

PROGRESS_CHARACTERS: Final = 1_000_000
"""Inputs shorter than this are done before a progress bar could be read."""


class Spool:
    """Text for standard output that is not shown yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def line(self, text: str) -> None:
        """Add a line."""
        encoding = sys.stdout.encoding or "utf-8"
        self._file.write(text.encode(encoding, errors="replace") + b"\n")

    def raw(self, data: bytes) -> None:
        """Add bytes as they are."""
        self._file.write(data)


@contextmanager
def spooled() -> Iterator[Spool]:
    """A spool that is written to standard output at the end, unless an error leaves."""
    with SpooledTemporaryFile(max_size=SPOOL_BYTES) as file:
        yield Spool(file)
        file.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


class JsonDocuments:
    """One JSON document on a spool: an object, or an array with an object a line."""

    def __init__(self, spool: Spool, *, is_array: bool) -> None:
        self._spool = spool
        self._is_array = is_array
        self._separator = b"[\n"

    def add(self, document: Document) -> None:
        """Add an object: the only one, or the next of the array."""
        if self._is_array:
            self._spool.raw(self._separator)
            self._separator = b",\n"
        self._spool.raw(orjson.dumps(document))

    def end(self) -> None:
        """Close the document."""
        if self._is_array:
            self._spool.raw(b"[]" if self._separator == b"[\n" else b"\n]")
        self._spool.raw(b"\n")


def with_progress(runs: RunFiles) -> Iterator[Reading]:
    """`runs`, with a progress bar on standard error if that is a terminal and it is long."""
    if runs.size < PROGRESS_CHARACTERS or not sys.stderr.isatty():
        yield from runs
        return
    from rich.console import Console  # noqa: PLC0415 - 60 ms that only long inputs need
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(runs.name, total=1.0)
        for reading in runs:
            progress.update(task, completed=reading.read)
            yield reading
