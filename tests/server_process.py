"""Real ``demineur serve`` processes for tests: started, watched, and ended by process id."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.redis_servers import free_port

PATIENCE_S = 20.0
_PROGRAM = Path(sys.executable).with_name("demineur")


class ServerProcess:
    """One server with a port, a data directory and a log of its own.

    ``settings`` are those of the environment without ``DEMINEUR_``, in small letters:
    ``log_level="debug"``, ``net__max_frame_bytes=100``. What is None is left out. Nothing of the
    environment that the tests run in reaches the server.
    """

    def __init__(self, directory: Path, **settings: object) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.settings: dict[str, object] = {
            "host": "127.0.0.1",
            "port": free_port(),
            "data_dir": directory / "data",
            # Other tests keep the machine busy; this is not about that.
            "players__busy_lag_ms": 10_000,
            **settings,
        }
        self.output = directory / "stdout.log"
        self.errors = directory / "stderr.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        return int(str(self.settings["port"]))

    @property
    def base(self) -> str:
        """Where its websockets are."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """All that it has logged, over all its starts."""
        return self.errors.read_text()

    def start(self) -> Self:
        """Start it, and do not wait."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DEMINEUR_")}
        for name, value in self.settings.items():
            if value is not None:
                environment[f"DEMINEUR_{name.upper()}"] = str(value)
        with self.output.open("wb") as output, self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [_PROGRAM, "serve"],
                cwd=self.directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        return self

    def ready(self) -> Self:
        """Wait for the line with its address, and until it says that it takes players."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self._must_run()
            if "http://" in self.output.read_text() and self._is_ready():
                return self
            time.sleep(0.01)
        raise TimeoutError(f"no address within {PATIENCE_S} s; it logged: {self.log}")

    def _must_run(self) -> None:
        assert self._process is not None
        status = self._process.poll()
        if status is not None:
            raise RuntimeError(f"the server ended with {status}: {self.log}")

    def _is_ready(self) -> bool:
        with contextlib.suppress(OSError):
            return self.get("/readyz")[0] == 200
        return False

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of a plain request."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=5) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, dict(refusal.headers), refusal.read()

    def get_json(self, path: str) -> Any:
        """Return the JSON at a path."""
        return json.loads(self.get(path)[2])

    def send(self, how: signal.Signals) -> None:
        """Send it a signal, and do not wait."""
        assert self._process is not None
        self._process.send_signal(how)

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        """Return its exit status once it has ended."""
        assert self._process is not None
        return self._process.wait(timeout_s)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.send(signal.SIGKILL)
        self.wait()

    def stop(self) -> int:
        """SIGTERM; return its exit status."""
        self.send(signal.SIGTERM)
        return self.wait()

    def pause(self) -> None:
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def close(self) -> None:
        """End it, however it is."""
        if self._process is not None and self._process.poll() is None:
            self.resume()
            self.send(signal.SIGTERM)
            try:
                self.wait(12)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
