import io
import sys
from collections.abc import Callable

import pytest

from demineur.cli import run
from tests.cli.command import Answer

Command = Callable[..., Answer]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The program within the process of the tests, thirty times quicker to start."""

    def call(*arguments: str, stdin: str | bytes = b"") -> Answer:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            status = run(arguments)
        out, err = capsys.readouterr()
        return Answer(status, out, err)

    return call
