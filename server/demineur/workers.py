"""``supervise``: several nodes that share one port, one a core, and one Redis.

Law of this module: a worker is an ordinary node in a process of its own; they find each other
through Redis like nodes on other machines. One that ends is started again.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog

from demineur.config import Settings
from demineur.store import StoreMisconfigured, tether
from demineur.store.own_redis import OwnRedis, find_server

_TETHER = (sys.executable, "-I", "-S", str(Path(tether.__file__)))
"""Runs a worker so that it ends when this process does, however that ends."""
RESTART_S = 0.5
STOP_S = 10.0

_log = structlog.stdlib.get_logger("demineur")


async def supervise(settings: Settings, announce: Callable[[str, int], None]) -> None:
    """Run ``settings.workers`` nodes until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    with _reserved(settings) as port:
        redis, url = await _redis(settings)
        environment = {
            **os.environ,
            "DEMINEUR_HOST": settings.host,
            "DEMINEUR_PORT": str(port),
            "DEMINEUR_REDIS_URL": url,
            "DEMINEUR_INTERNAL_HOST": settings.internal_host,
            "DEMINEUR_INTERNAL_PORT": "0",
            "DEMINEUR_ADVERTISE": "",
            "DEMINEUR_WORKERS": "1",
            "DEMINEUR_CLUSTER_SECRET": _secret(settings),
        }
        workers = [
            loop.create_task(_keep_running(environment, stopping)) for _ in range(settings.workers)
        ]
        announce(settings.host, port)
        await stopping.wait()
        await asyncio.gather(*workers)
    if redis is not None:
        await redis.stop()


@contextlib.contextmanager
def _reserved(settings: Settings) -> Iterator[int]:
    """Hold the port, so that all workers get the same one and nobody else does."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((settings.host, settings.port))
        yield holder.getsockname()[1]


async def _redis(settings: Settings) -> tuple[OwnRedis | None, str]:
    if settings.redis_url is not None:
        return None, settings.redis_url.get_secret_value()
    program = find_server()
    if program is None:
        raise StoreMisconfigured("several workers need a Redis; install redis-server")
    redis = await OwnRedis.start(program, settings.data_dir, settings.fsync)
    return redis, f"unix://{redis.socket}"


def _secret(settings: Settings) -> str:
    if settings.cluster_secret is not None:
        return settings.cluster_secret.get_secret_value()
    return secrets.token_hex(32)


async def _keep_running(environment: dict[str, str], stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        worker = await asyncio.create_subprocess_exec(
            *_TETHER, str(os.getpid()), sys.executable, "-m", "demineur.workers", env=environment
        )
        ended = asyncio.ensure_future(worker.wait())
        stop = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({ended, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not ended.done():
            await _end(worker, ended)
            return
        _log.warning("a worker ended and is started again", status=worker.returncode)
        await asyncio.sleep(RESTART_S)


async def _end(worker: asyncio.subprocess.Process, ended: "asyncio.Future[int]") -> None:
    worker.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(ended), STOP_S)
    except TimeoutError:
        worker.kill()
        await ended


def main() -> None:
    """Run one worker, whose settings are all in the environment."""
    from demineur.app import configure_logging, serve  # noqa: PLC0415 - only a worker's
    from demineur.cli.serve import run_loop  # noqa: PLC0415

    settings = Settings()
    configure_logging(settings)
    run_loop(serve(settings, reuse_port=True))


if __name__ == "__main__":
    main()
