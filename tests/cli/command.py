"""The command line as its users have it: arguments and input in, three things out."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

VECTORS = Path(__file__).parents[1] / "vectors"

PROGRAM = [sys.executable, "-c", "from demineur.cli import main; main()"]


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str

    def refusal(self) -> str:
        """The one line of bad input, without the program's name."""
        assert self.status == 2, self
        assert self.out == ""
        assert self.err.startswith("demineur: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("demineur: ").removesuffix("\n")


def demineur(*arguments: str, stdin: str | bytes = b"", timeout_s: float = 60) -> Answer:
    """Run the program in a process of its own."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [*PROGRAM, *arguments],
        input=data,
        capture_output=True,
        timeout=timeout_s,
        check=False,
        env=os.environ | {"PYTHONUTF8": "1", "COLUMNS": "100"},
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
