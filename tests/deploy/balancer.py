"""The shipped HAProxy configuration as a process for tests."""

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.redis_servers import free_port

CONFIG = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"


def program() -> str:
    """Where HAProxy is; Debian keeps servers off most people's PATH."""
    found = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin")
    assert found, "haproxy is not installed; see make test"
    return found


def environment(bind: int, a: int, b: int) -> dict[str, str]:
    """What the configuration asks for, all on this machine."""
    return os.environ | {
        "DEMINEUR_BIND": f"127.0.0.1:{bind}",
        "DEMINEUR_NODE_A": f"127.0.0.1:{a}",
        "DEMINEUR_NODE_B": f"127.0.0.1:{b}",
    }


class Balancer:
    """HAProxy in front of two ports. It listens when ``with`` is entered, or soon after."""

    def __init__(self, log: Path, a: int, b: int) -> None:
        self.port = free_port()
        self._log = log
        self._environment = environment(self.port, a, b)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base(self) -> str:
        """Where its websockets are."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return self._log.read_text()

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [program(), "-db", "-f", str(CONFIG)],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
