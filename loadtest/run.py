"""Run the load test against a server of its own, and say what that server cost.

    python -m loadtest.run -u 40 -r 10 -t 30s        the options of locust
    python -m loadtest.run --soak -t 10m             ends with 1 when the memory grows
    python -m loadtest.run --server='--workers 2'    options of demineur serve

The server listens on this machine only, with its data in a folder that is removed afterwards.
"""

import argparse
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_DEMINEUR = str(Path(sys.executable).with_name("demineur"))
LOCUSTFILE = Path(__file__).with_name("locustfile.py")
START_S = 30.0
STOP_S = 15.0
SAMPLE_S = 2.0
MIB = 1 << 20
GROWTH_MAX = 0.10
GROWTH_MAX_BYTES = 16 * MIB
"""A soak may end with this much more memory than it had after its first quarter: tables and
caches fill up, and an allocator does not give everything back."""


@dataclass
class Sample:
    """What a process has used, as the system counts it."""

    at_s: float
    resident_bytes: int
    cpu_s: float


def sample(pids: list[int]) -> Sample:
    """Return the sum over processes that are still there."""
    resident = cpu = 0.0
    for pid in pids:
        try:
            pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
            times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        resident += int(pages) * os.sysconf("SC_PAGE_SIZE")
        cpu += (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    return Sample(time.monotonic(), int(resident), cpu)


def nodes_of(pid: int) -> list[int]:
    """Return the server's process and, where it supervises workers, theirs."""
    found = [pid]
    for each in found:
        children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
        for child in map(int, children):
            command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            if b"demineur" in b" ".join(command) and b"redis" not in command[0]:
                found.append(child)
    return found


@dataclass
class Server:
    """A running server and what it has used over time."""

    process: subprocess.Popen[str]
    address: str
    samples: list[Sample] = field(default_factory=list)

    def look(self) -> None:
        """Take a sample."""
        self.samples.append(sample(nodes_of(self.process.pid)))

    def cores(self) -> float:
        """Return how many cores it kept busy, on average."""
        first, last = self.samples[0], self.samples[-1]
        return (last.cpu_s - first.cpu_s) / max(last.at_s - first.at_s, 1e-9)

    def memory(self) -> tuple[float, float]:
        """Return the median bytes of the second and of the last quarter of the time."""
        resident = [each.resident_bytes for each in self.samples]
        quarter = max(1, len(resident) // 4)
        second = resident[quarter : 2 * quarter] or resident[:1]
        return statistics.median(second), statistics.median(resident[-quarter:])


@contextmanager
def server(options: list[str]) -> Iterator[Server]:
    """Start a server on a free port, and stop it as an operator would."""
    with tempfile.TemporaryDirectory(prefix="demineur-load-") as folder:
        command = [_DEMINEUR, "serve", "--host", "127.0.0.1", "--port", "0"]
        # All simulated players share one address, so what bounds an address must not bound them.
        many = {f"DEMINEUR_{name}": "1000000" for name in _PER_ADDRESS}
        process = subprocess.Popen(
            [*command, "--data-dir", folder, *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**many, **os.environ, "DEMINEUR_LOG_LEVEL": "warning"},
        )
        try:
            yield Server(process, _address(process))
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_PER_ADDRESS = (
    "NET__MAX_CONNECTIONS_PER_ADDRESS",
    "NET__HANDSHAKES_PER_S",
    "NET__HANDSHAKE_BURST",
    "PLAYERS__CREATIONS_PER_S",
    "PLAYERS__CREATION_BURST",
    "PLAYERS__IDENTITIES_PER_S",
    "PLAYERS__IDENTITY_BURST",
)


def _address(process: subprocess.Popen[str]) -> str:
    """Return the address that the server prints when it is ready."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://[\w.]+:\d+", line):
            return found.group()
    raise SystemExit(f"the server did not start (exit status {process.wait(START_S)})")


def race(target: Server, options: list[str]) -> int:
    """Let the players race until they have done; return locust's exit status."""
    command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--headless"]
    players = subprocess.Popen([*command, "--host", target.address, *options])
    try:
        while True:
            target.look()
            try:
                return players.wait(SAMPLE_S)
            except subprocess.TimeoutExpired:
                continue
    finally:
        if players.poll() is None:
            players.terminate()
            players.wait(STOP_S)


def report(target: Server, *, soak: bool) -> bool:
    """Print what the server cost; return whether its memory stayed flat, where that is asked."""
    before, after = target.memory()
    grown = after - before
    print(f"server: {target.cores():.2f} cores on average, {after / MIB:.0f} MiB at the end")
    if not soak:
        return True
    print(f"memory: {before / MIB:.1f} MiB in the second quarter, {after / MIB:.1f} in the last")
    return grown <= max(GROWTH_MAX * before, GROWTH_MAX_BYTES)


def main() -> int:
    """Read the command line, run, and return the exit status."""
    parser = argparse.ArgumentParser(description="What is not listed goes to locust as it is.")
    parser.add_argument("--soak", action="store_true", help="end with 1 when the memory grows")
    parser.add_argument("--server", default="", help="options of demineur serve, in one string")
    ours, theirs = parser.parse_known_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with server(shlex.split(ours.server)) as target:
        status = race(target, ["-u", "40", "-r", "10", "-t", "30s", *theirs])
        flat = report(target, soak=ours.soak)
    if not flat:
        print("the server's memory grew", file=sys.stderr)
    return status or int(not flat)


if __name__ == "__main__":
    sys.exit(main())
