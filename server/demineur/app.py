"""The application: one node, put together from the settings, served until it is told to stop."""

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from demineur import __version__
from demineur.config import Settings, unknown_variables
from demineur.net import (
    Access,
    EndpointFor,
    HttpRequest,
    HttpResponse,
    HttpRoutes,
    Listener,
    Networks,
    Route,
    StaticSite,
    allow_open_files,
    find_web,
    listen,
)
from demineur.protocol import CLOSE_REASONS, CloseCode, clean_code, schema
from demineur.rooms import LobbyFeed, Node, Pulse, Rooms, Session
from demineur.store import Store, StoreSettings

LOBBY_PATH = "/ws/lobby"
SPARE_FILES = 256
"""Files that a node opens beside its clients' sockets."""
CLOSE_S = 3.0
"""How long connections may take to end when the server stops."""

_log = structlog.stdlib.get_logger("demineur")


def configure_logging(settings: Settings) -> None:
    """Send all logs to standard error, as text or JSON."""
    last: structlog.types.Processor = structlog.processors.JSONRenderer()
    if settings.log_format == "text":
        # Plain: the rich form prints local variables, boards and tokens among them.
        last = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if settings.log_format == "json":
        shared.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())


class CannotListen(OSError):  # noqa: N818 - what is the case
    """An address that can't be listened on; the text says which, and why."""


class App:
    """One node: its store, its rooms and its two listeners. Made by ``start``."""

    def __init__(self, settings: Settings, store: Store, node: Node, listeners: list[Listener]):
        self.settings = settings
        self.store = store
        self.node = node
        self.listeners = listeners

    @classmethod
    async def start(cls, settings: Settings, *, reuse_port: bool = False) -> "App":
        """Open the store and listen. Raises ``StoreError`` or ``CannotListen``."""
        secret = (
            settings.cluster_secret.get_secret_value()
            if settings.cluster_secret is not None
            else secrets.token_hex(32)
        )
        allow_open_files(settings.net.max_connections + settings.net.max_pending + SPARE_FILES)
        app: App | None = None

        def endpoint(path: str) -> Session | None:
            return app.endpoint(path) if app is not None else None

        internal = await _listen(
            endpoint,
            settings.internal_host,
            settings.internal_port,
            limits=replace(settings.net, max_connections_per_address=settings.net.max_connections),
            access=Access(relay_secret=secret),
        )
        try:
            address = _advertised(settings, internal.port)
            store = await Store.open(_store_settings(settings, address))
        except BaseException:
            await internal.close(CloseCode.GOING_AWAY, "", timeout_s=0)
            raise
        node = _node(settings, store, secret)
        app = cls(settings, store, node, [internal])
        node.rooms.start()
        node.pulse.start()
        try:
            public = await _listen(
                endpoint,
                settings.host,
                settings.port,
                reuse_port=reuse_port,
                http=app.routes(),
                limits=settings.net,
                access=_access(settings),
            )
        except BaseException:
            await app.stop()
            raise
        app.listeners.append(public)
        return app

    @property
    def port(self) -> int:
        """The port of the web client."""
        return self.listeners[-1].port

    def endpoint(self, path: str) -> Session | None:
        """Return who takes a websocket of this path; None for a path that is none of ours."""
        if path == LOBBY_PATH:
            return Session(self.node, None)
        prefix, _, name = path.rpartition("/")
        code = clean_code(name) if prefix == "/ws" else None
        return Session(self.node, code) if code is not None and code == name else None

    def routes(self) -> HttpRoutes:
        """Return what plain HTTP requests are answered with."""
        published = HttpResponse.json(schema())
        return HttpRoutes(
            routes={
                "/healthz": lambda _: HttpResponse.json({"status": "ok", "version": __version__}),
                "/readyz": self._ready,
                "/schema.json": lambda _: published,
                "/metrics": Route(_metrics, is_internal=True),
            },
            site=_site(),
        )

    def _ready(self, request: HttpRequest) -> HttpResponse:
        if self.node.rooms.is_draining:
            return HttpResponse.json({"status": "draining"}, 503)
        if self.store.stalled_since_ms is not None:
            return HttpResponse.json({"status": "store unavailable"}, 503)
        return HttpResponse.json({"status": "ready"})

    async def stop(self) -> None:
        """Hand the rooms over, send everybody to another node, and close; within 10 s."""
        for listener in self.listeners:
            listener.stop_accepting()
        await self.node.rooms.drain()
        self.node.feed.close(CloseCode.RESTART)
        reason = CLOSE_REASONS[CloseCode.RESTART]
        await asyncio.gather(
            *(
                listener.close(CloseCode.RESTART, reason, timeout_s=CLOSE_S)
                for listener in self.listeners
            )
        )
        self.node.pulse.stop()
        await self.node.rooms.close()
        await self.store.close()


async def _listen(endpoint: EndpointFor, host: str, port: int, **options: Any) -> Listener:
    try:
        return await listen(endpoint, host=host, port=port, **options)
    except OSError as error:
        raise CannotListen(f"{host}:{port}: {error.strerror or error}") from error


def _advertised(settings: Settings, port: int) -> str:
    """Return the address that other nodes are told."""
    host = settings.advertise or settings.internal_host
    if settings.advertise and host.rpartition(":")[2].isdigit():
        return host
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def _site() -> StaticSite | None:
    try:
        return StaticSite(find_web())
    except FileNotFoundError as error:
        _log.warning("no web client", error=str(error))
        return None


def _store_settings(settings: Settings, address: str) -> StoreSettings:
    url = settings.redis_url
    return StoreSettings(
        url=url.get_secret_value() if url is not None else None,
        data_dir=settings.data_dir,
        fsync=settings.fsync,
        replicas=settings.replicas,
        address=address,
    )


def _access(settings: Settings) -> Access:
    return Access(
        origins=settings.origins,
        trusted_proxies=Networks(settings.trusted_proxies),
        forwarded_header=settings.forwarded_header,
        internal=Networks(settings.metrics_from),
    )


def _node(settings: Settings, store: Store, secret: str) -> Node:
    rooms = Rooms(store, settings.rooms)
    limit = store.settings.max_waiting_appends
    pulse = Pulse(rooms.gap, lambda: store.waiting_appends / limit, settings.players.busy_lag_ms)
    return Node(store, rooms, LobbyFeed(store), pulse, settings.players, secret)


def _metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse(200, generate_latest(), CONTENT_TYPE_LATEST)


async def serve(
    settings: Settings, *, reuse_port: bool = False, announce: Callable[[App], None] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then stop gracefully."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    for name in unknown_variables(os.environ):
        _log.warning("no such setting", variable=name)
    app = await App.start(settings, reuse_port=reuse_port)
    _log.info(
        "serving",
        host=settings.host,
        port=app.port,
        store=app.store.description,
        node=app.store.node_id,
    )
    if settings.redis_url is not None and settings.cluster_secret is None and not reuse_port:
        _log.warning("no DEMINEUR_CLUSTER_SECRET: other nodes can't relay to this one")
    if announce is not None:
        announce(app)
    await stopping.wait()
    _log.info("stopping")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(9.5):
            await app.stop()
    _log.info("stopped")
