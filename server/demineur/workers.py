"""``supervise``: several nodes that share one port, one a core, and one Redis.

Law of this module: a worker is an ordinary node in a process of its own; they find each other
through Redis like nodes on other machines. One that ends is started again, but one that never
came to serve ends them all: what keeps it from starting is the operator's to mend.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import structlog

from demineur.config import Settings
from demineur.store import StoreError, StoreMisconfigured, tether
from demineur.store.own_redis import OwnRedis, find_server

_TETHER = (sys.executable, "-I", "-S", str(Path(tether.__file__)))
"""Runs a worker so that it ends when this process does, however that ends."""
_SERVING = b"serving\n"
RESTART_S = 0.5
STOP_S = 10.0
LOAD_S = 120.0
"""How long an own Redis may take to load its file."""

_log = structlog.stdlib.get_logger("demineur")


class WorkerFailed(Exception):  # noqa: N818 - what happened
    """A worker ended before it served; it has said why."""


async def supervise(settings: Settings, announce: Callable[[str, int], None]) -> None:
    """Run ``settings.workers`` nodes until SIGTERM or SIGINT; announce when all of them serve.

    Raises ``WorkerFailed``, ``StoreError``, or ``OSError`` where the port can't be had.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    with _reserved(settings) as port:
        async with _redis(settings) as url:
            environment = _environment(settings, port, url)
            serving = [loop.create_future() for _ in range(settings.workers)]
            crew = [
                loop.create_task(_keep_running(environment, stopping, each)) for each in serving
            ]
            try:
                await _first_of(asyncio.gather(*serving), stopping)
                if not stopping.is_set():
                    announce(settings.host, port)
                await stopping.wait()
            finally:
                stopping.set()
                await asyncio.gather(*crew)


async def _first_of(all_serve: "asyncio.Future[list[None]]", stopping: asyncio.Event) -> None:
    """Wait until all serve or it is time to stop; raise why one does not."""
    stop = asyncio.ensure_future(stopping.wait())
    waiting: set[asyncio.Future[Any]] = {all_serve, stop}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if all_serve.done():
        all_serve.result()
    else:
        all_serve.cancel()


def _environment(settings: Settings, port: int, url: str) -> dict[str, str]:
    host, colon, internal_port = settings.advertise.rpartition(":")
    is_whole = bool(colon) and internal_port.isdigit()
    return {
        **os.environ,
        "DEMINEUR_HOST": settings.host,
        "DEMINEUR_PORT": str(port),
        "DEMINEUR_REDIS_URL": url,
        "DEMINEUR_INTERNAL_HOST": settings.internal_host,
        "DEMINEUR_INTERNAL_PORT": "0",
        # Each has a port of its own, so they can share no more than the host.
        "DEMINEUR_ADVERTISE": host if is_whole else settings.advertise,
        "DEMINEUR_WORKERS": "1",
        "DEMINEUR_CLUSTER_SECRET": _secret(settings),
    }


@contextlib.contextmanager
def _reserved(settings: Settings) -> Iterator[int]:
    """Hold the port, so that all workers get the same one and nobody else does."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((settings.host, settings.port))
        yield holder.getsockname()[1]


@contextlib.asynccontextmanager
async def _redis(settings: Settings) -> AsyncIterator[str]:
    """Give the address of the Redis that all share: the site's, or one of our own."""
    if settings.redis_url is not None:
        yield settings.redis_url.get_secret_value()
        return
    program = find_server()
    if program is None:
        raise StoreMisconfigured("several workers need a Redis; install redis-server")
    redis = await OwnRedis.start(program, settings.data_dir / "redis", settings.fsync)
    try:
        await _until_loaded(redis)
        redis.supervise()
        yield f"unix://{redis.socket}"
    finally:
        await redis.stop()


async def _until_loaded(redis: OwnRedis) -> None:
    async with asyncio.timeout(LOAD_S):
        while not await _answers(redis):
            redis.check()
            await asyncio.sleep(0.02)


async def _answers(redis: OwnRedis) -> bool:
    try:
        reader, writer = await asyncio.open_unix_connection(redis.socket)
    except OSError:
        return False
    with contextlib.closing(writer):
        writer.write(b"PING\r\n")
        return await reader.readline() == b"+PONG\r\n"


def _secret(settings: Settings) -> str:
    if settings.cluster_secret is not None:
        return settings.cluster_secret.get_secret_value()
    return secrets.token_hex(32)


async def _keep_running(
    environment: dict[str, str], stopping: asyncio.Event, serving: "asyncio.Future[None]"
) -> None:
    while not stopping.is_set():
        worker = await asyncio.create_subprocess_exec(
            *_TETHER,
            str(os.getpid()),
            *(sys.executable, "-m", "demineur.workers"),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
        )
        ended = asyncio.ensure_future(_watch(worker, serving))
        stop = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not ended.done():
            await _end(worker, ended)
        elif not serving.done():
            serving.set_exception(WorkerFailed("a worker could not start"))
            return
        elif not stopping.is_set():
            _log.warning("a worker ended and is started again", status=ended.result())
            await asyncio.sleep(RESTART_S)


async def _watch(worker: asyncio.subprocess.Process, serving: "asyncio.Future[None]") -> int:
    """Say when the worker serves; return its exit status when it has ended."""
    assert worker.stdout is not None
    if await worker.stdout.readline() == _SERVING and not serving.done():
        serving.set_result(None)
    return await worker.wait()


async def _end(worker: asyncio.subprocess.Process, ended: "asyncio.Future[int]") -> None:
    with contextlib.suppress(ProcessLookupError):
        worker.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(ended), STOP_S)
    except TimeoutError:
        worker.kill()
        await ended


def main() -> None:
    """Run one worker, whose settings are all in the environment."""
    from demineur.app import CannotListen, configure_logging, serve  # noqa: PLC0415 - a worker's
    from demineur.cli.serve import run_loop  # noqa: PLC0415

    def announce(_: object) -> None:
        sys.stdout.buffer.write(_SERVING)
        sys.stdout.flush()

    settings = Settings()
    configure_logging(settings)
    try:
        run_loop(serve(settings, reuse_port=True, announce=announce))
    except (StoreError, CannotListen) as error:
        sys.exit(f"demineur: {error}")


if __name__ == "__main__":
    main()
