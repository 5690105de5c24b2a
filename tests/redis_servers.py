"""Real Redis servers for tests: alone, with Sentinel, as a Cluster, over TLS.

Every server listens on 127.0.0.1 at a port that the system gave, keeps its files under the
directory it is given, and can be killed, paused and started again. Whoever makes one must
``close`` it (all are context managers); a server ends by its process id and no other way.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import redis
from redis.crc import key_slot

PATIENCE_S = 15.0
USER, PASSWORD = "demineur", "p@ss/word"
URL_LOGIN = "demineur:p%40ss%2Fword"
ADMIN_PASSWORD, SENTINEL_PASSWORD = "admin", "watch"

RIGHTS = (
    "+eval +evalsha +time +ping +select +get +set +hset +hmget +hgetall +hincrby +hdel "
    "+exists +pexpire +pttl +xadd +xlen +xrange +zadd +zrem +zrangebyscore "
    "+zrevrangebyscore +zremrangebyscore +cluster|slots +asking +role +wait"
)
"""All that the store needs; ``docs/redis-keys.md`` says so, and a test compares."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: str, condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Look again and again until ``condition`` holds; an error of Redis counts as no."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        with contextlib.suppress(redis.RedisError, OSError):
            if condition():
                return
        time.sleep(0.01)
    raise TimeoutError(f"{what} did not come about within {patience_s} s")


class Closing:
    """Something that is closed at the end of a ``with``."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class RedisServer(Closing):
    """One redis-server process and its configuration file."""

    admin_password: str | None = None

    def __init__(
        self,
        directory: Path,
        *lines: str,
        program: str = "redis-server",
        mode: tuple[str, ...] = (),
        fsync: str | None = "always",
        port: int | None = None,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.port = free_port() if port is None else port
        self._program, self._mode = program, mode
        self._process: subprocess.Popen[bytes] | None = None
        self._configuration = directory / "redis.conf"
        common = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"dir {directory}",
            "daemonize no",
            # A replica that joins would else wait 5 s for others to join with it.
            "repl-diskless-sync-delay 0",
        ]
        if fsync is not None:
            common += ['save ""', "appendonly yes", f"appendfsync {fsync}"]
        self._configuration.write_text("\n".join([*common, *lines]) + "\n")
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self) -> redis.Redis:
        """A plain client with all rights, for looking from outside."""
        return redis.Redis(
            host="127.0.0.1", port=self.port, socket_timeout=5, password=self.admin_password
        )

    def start(self) -> None:
        with (self.directory / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, str(self._configuration), *self._mode],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def ready(self) -> Self:
        wait_for("an answer of Redis", self._answers)
        return self

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError((self.directory / "redis.log").read_text())
        with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE_S)
            self._process = None


class SocketServer(RedisServer):
    """A server behind a unix socket."""

    def __init__(self, directory: Path) -> None:
        self.socket = directory / "redis.sock"
        super().__init__(directory, f"unixsocket {self.socket}", port=0)

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def _answers(self) -> bool:
        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            return bool(client.ping())


class AccessServer(RedisServer):
    """A server that knows one user only, who has no more rights than the store needs."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            directory,
            "user default off",
            f"user {USER} on >{PASSWORD} ~* {RIGHTS}",
        )

    @property
    def url(self) -> str:
        return f"redis://{URL_LOGIN}@127.0.0.1:{self.port}/0"


class TlsServer(RedisServer):
    """A server that speaks TLS only, with a certificate made for it."""

    def __init__(
        self, directory: Path, *lines: str, mode: tuple[str, ...] = (), fsync: str | None = "always"
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.certificate = make_certificate(directory)
        self.tls_port = free_port()
        super().__init__(
            directory,
            f"tls-port {self.tls_port}",
            f"tls-cert-file {self.certificate}",
            f"tls-key-file {directory / 'key.pem'}",
            f"tls-ca-cert-file {self.certificate}",
            "tls-auth-clients no",
            *lines,
            mode=mode,
            fsync=fsync,
            port=0,
        )

    @property
    def url(self) -> str:
        return f"rediss://127.0.0.1:{self.tls_port}/0?ca_file={self.certificate}"

    def client(self) -> redis.Redis:
        return redis.Redis(
            host="127.0.0.1", port=self.tls_port, ssl=True, ssl_ca_certs=str(self.certificate)
        )

    def _answers(self) -> bool:
        with self.client() as client:
            return bool(client.ping())


def make_certificate(directory: Path) -> Path:
    """Make ``key.pem`` and a self-signed certificate for 127.0.0.1; return the certificate."""
    certificate = directory / "certificate.pem"
    request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(directory / "key.pem"), "-out", str(certificate)]
    subprocess.run([*request.split(), *names, *files], check=True, capture_output=True)
    return certificate


class GuardedServer(RedisServer):
    """A server whose default user has a password, with the user of ``AccessServer`` besides."""

    admin_password = ADMIN_PASSWORD

    def __init__(self, directory: Path, *lines: str) -> None:
        super().__init__(
            directory,
            f"requirepass {ADMIN_PASSWORD}",
            f"masterauth {ADMIN_PASSWORD}",
            f"user {USER} on >{PASSWORD} ~* {RIGHTS}",
            *lines,
        )


class SentinelServer(RedisServer):
    """A Sentinel with a password."""

    admin_password = SENTINEL_PASSWORD

    def __init__(self, directory: Path, *lines: str) -> None:
        super().__init__(
            directory,
            f"requirepass {SENTINEL_PASSWORD}",
            *lines,
            mode=("--sentinel",),
            fsync=None,
        )


class SentinelSet(Closing):
    """A master, a replica, and one Sentinel that fails over within about two seconds."""

    SERVICE = "races"

    def __init__(self, directory: Path) -> None:
        with contextlib.ExitStack() as started:
            self.master = started.enter_context(GuardedServer(directory / "a")).ready()
            self.replica = started.enter_context(
                GuardedServer(directory / "b", f"replicaof 127.0.0.1 {self.master.port}")
            ).ready()
            self.sentinel = started.enter_context(
                SentinelServer(
                    directory / "s",
                    f"sentinel monitor {self.SERVICE} 127.0.0.1 {self.master.port} 1",
                    f"sentinel auth-pass {self.SERVICE} {ADMIN_PASSWORD}",
                    f"sentinel down-after-milliseconds {self.SERVICE} 500",
                    f"sentinel failover-timeout {self.SERVICE} 2000",
                )
            ).ready()
            wait_for("the replica's link", self._is_whole)
            self._started = started.pop_all()

    @property
    def url(self) -> str:
        place = f"127.0.0.1:{self.sentinel.port}/{self.SERVICE}/0"
        return f"redis+sentinel://{URL_LOGIN}@{place}?sentinel_password={SENTINEL_PASSWORD}"

    def master_port(self) -> int:
        """The port of him whom Sentinel holds to be master."""
        with self.sentinel.client() as client:
            address = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.SERVICE)
            return int(address[1])

    def _is_whole(self) -> bool:
        with self.replica.client() as replica, self.sentinel.client() as sentinel:
            linked = replica.info("replication")["master_link_status"] == "up"
            state = sentinel.execute_command("SENTINEL", "MASTER", self.SERVICE)
            if not isinstance(state, dict):
                state = dict(zip(state[::2], state[1::2], strict=True))
            known = {str(k.decode() if isinstance(k, bytes) else k): v for k, v in state.items()}
            return linked and int(known["num-slaves"]) == 1

    def close(self) -> None:
        self._started.close()


class ClusterSet(Closing):
    """Three masters that share the slots, and as many replicas of the first as asked for."""

    SLOTS = 16384
    _move: tuple[int, RedisServer, RedisServer]

    def __init__(self, directory: Path, *, replicas: int = 0) -> None:
        with contextlib.ExitStack() as started:
            self.masters = [
                started.enter_context(self._server(directory / f"m{i}")) for i in range(3)
            ]
            self.replicas = [
                started.enter_context(self._server(directory / f"r{i}")) for i in range(replicas)
            ]
            for server in self._all():
                server.ready()
            self._join()
            self._started = started.pop_all()

    @staticmethod
    def _server(directory: Path) -> RedisServer:
        return GuardedServer(
            directory,
            "cluster-enabled yes",
            "cluster-config-file nodes.conf",
            f"cluster-port {free_port()}",
            "cluster-node-timeout 700",
            "cluster-require-full-coverage no",
            "cluster-replica-validity-factor 0",
        )

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in self.masters)
        return f"redis+cluster://{URL_LOGIN}@{hosts}"

    def id_of(self, server: RedisServer) -> str:
        return _text(server, "CLUSTER", "MYID")

    def _all(self) -> Iterable[RedisServer]:
        return [*self.masters, *self.replicas]

    def master_of(self, code: str) -> RedisServer:
        """The server that is master of a room's slot by its own account."""
        slot = key_slot(code.encode())
        for server in self.masters:
            own = next(
                line for line in _text(server, "CLUSTER", "NODES").splitlines() if "myself" in line
            )
            for part in own.split()[8:]:
                first, _, last = part.partition("-")
                if not part.startswith("[") and int(first) <= slot <= int(last or first):
                    return server
        raise LookupError(slot)

    def code_at(self, server: RedisServer, seed: str) -> str:
        """A room code like ``seed`` whose keys lie at a server."""
        codes = (f"{seed}{i}" for i in range(1000))
        return next(code for code in codes if self.master_of(code) is server)

    def begin_move(self, code: str) -> None:
        """Open a room's slot for moving to another master; its keys stay where they are."""
        slot, source = key_slot(code.encode()), self.master_of(code)
        target = next(server for server in self.masters if server is not source)
        self._move = (slot, source, target)
        _text(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        _text(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))

    def move_keys(self) -> None:
        """Move what keys the opened slot has."""
        slot, source, target = self._move
        with source.client() as client:
            keys = client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100)
            client.migrate("127.0.0.1", target.port, keys, 0, 5000, auth=ADMIN_PASSWORD)

    def end_move(self) -> None:
        """Move the keys that came since, and close the slot."""
        slot, source, target = self._move
        with source.client() as client:
            if client.execute_command("CLUSTER", "COUNTKEYSINSLOT", slot):
                self.move_keys()
        for server in (target, source, *self.masters):
            _text(server, "CLUSTER", "SETSLOT", slot, "NODE", self.id_of(target))

    def _join(self) -> None:
        share = -(-self.SLOTS // 3)
        for i, server in enumerate(self.masters):
            last = min((i + 1) * share, self.SLOTS) - 1
            _text(server, "CLUSTER", "ADDSLOTSRANGE", i * share, last)
        first = self.masters[0]
        for epoch, server in enumerate(self._all(), 1):
            _text(server, "CLUSTER", "SET-CONFIG-EPOCH", epoch)
            bus = _bus_port(server)
            if server is not first:
                _text(first, "CLUSTER", "MEET", "127.0.0.1", server.port, bus)
        wait_for("that all know all", lambda: all(self._knows_all(s) for s in self._all()))
        for server in self.replicas:
            _text(server, "CLUSTER", "REPLICATE", self.id_of(first))
        wait_for("a cluster in order", lambda: all(self._is_in_order(s) for s in self._all()))

    def _knows_all(self, server: RedisServer) -> bool:
        lines = _text(server, "CLUSTER", "NODES").splitlines()
        return len(lines) == len(list(self._all())) and not any("handshake" in x for x in lines)

    def _is_in_order(self, server: RedisServer) -> bool:
        info = _text(server, "CLUSTER", "INFO")
        covered = f"cluster_slots_ok:{self.SLOTS}" in info
        if server in self.replicas:
            with server.client() as client:
                return covered and client.info("replication")["master_link_status"] == "up"
        return covered and "cluster_state:ok" in info

    def close(self) -> None:
        self._started.close()


def _bus_port(server: RedisServer) -> int:
    for line in (server.directory / "redis.conf").read_text().splitlines():
        if line.startswith("cluster-port "):
            return int(line.split()[1])
    raise LookupError("cluster-port")


def _text(server: RedisServer, *command: object) -> str:
    """Run a raw command; redis-py's parsing of CLUSTER replies is not wanted here."""
    login = _packed("AUTH", server.admin_password) if server.admin_password else b""
    with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
        connection.sendall(login + _packed(*command))
        reader = connection.makefile("rb")
        if login:
            reader.readline()
        head = reader.readline().rstrip().decode()
        if head.startswith("-"):
            raise RuntimeError(f"{command}: {head}")
        if head.startswith("$"):
            return reader.read(int(head[1:])).decode()
        return head[1:]


def _packed(*words: object) -> bytes:
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
