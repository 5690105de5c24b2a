"""``demineur serve``: the server and the web client on one port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from demineur.app import App, CannotListen, configure_logging
from demineur.app import serve as serve_node
from demineur.cli.errors import InputError
from demineur.config import Settings
from demineur.store import StoreError
from demineur.workers import WorkerFailed, supervise

FAILED = 1


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0: the system's choice.")] = None,
    redis_url: Annotated[str | None, typer.Option(help="Redis; none: an own one.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Files of an own Redis.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; one a core.")] = None,
    internal_host: Annotated[str | None, typer.Option(help="Address for other nodes.")] = None,
    internal_port: Annotated[int | None, typer.Option(help="Port for other nodes.")] = None,
    advertise: Annotated[str | None, typer.Option(help="host:port told to other nodes.")] = None,
) -> None:
    """Serve the game until stopped.

    Every setting is also an environment variable: --redis-url is DEMINEUR_REDIS_URL. A
    password in an address is better put there than on the command line.
    """
    given = {
        "host": host,
        "port": port,
        "redis_url": redis_url,
        "data_dir": data_dir,
        "workers": workers,
        "internal_host": internal_host,
        "internal_port": internal_port,
        "advertise": advertise,
    }
    settings = _settings({name: value for name, value in given.items() if value is not None})
    configure_logging(settings)
    try:
        if settings.workers > 1:
            run_loop(supervise(settings, _announce_address))
        else:
            run_loop(serve_node(settings, announce=_announce))
    except (StoreError, CannotListen, WorkerFailed) as error:
        raise _failure(str(error)) from None
    except OSError as error:
        raise _failure(f"{settings.host}:{settings.port}: {error.strerror or error}") from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _settings(given: dict[str, Any]) -> Settings:
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        raise InputError(f"setting {where}: {text}" if where else f"setting {text}") from None


def run_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run on uvloop where it is installed, else on asyncio's own loop."""
    try:
        import uvloop  # noqa: PLC0415 - where it exists
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def _announce(app: App) -> None:
    _announce_address(app.settings.host, app.port)
    if not app.store.durable:
        typer.echo("Nothing is kept when the server stops: no Redis was found.", err=True)


def _announce_address(host: str, port: int) -> None:
    everywhere = host in {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not listened on
    typer.echo(f"Démineur serves at http://{'localhost' if everywhere else host}:{port}")
    if everywhere and (own := _own_address()):
        typer.echo(f"On your network: http://{own}:{port}")


def _own_address() -> str | None:
    """Return the address that this machine has on its network; sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if address.startswith("127.") else address


def _failure(text: str) -> typer.Exit:
    typer.echo(f"demineur: {text}", err=True)
    return typer.Exit(FAILED)
