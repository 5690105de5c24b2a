"""``Listener``: one port, for websockets and for plain HTTP.

Law of this module: it counts what is open, lets in or refuses, and closes; it knows neither
rooms nor messages. A refusal at the handshake is an HTTP answer with a JSON body.
"""

import asyncio
import contextlib
import logging
import socket
import time
from collections import Counter, deque
from collections.abc import Callable

import structlog
from websockets.exceptions import InvalidHandshake
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.headers import parse_subprotocol
from websockets.http11 import Request
from websockets.protocol import CONNECTING, OPEN, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from demineur.net.access import Access
from demineur.net.addresses import group, normalise
from demineur.net.connection import Caller, Connection, Endpoint
from demineur.net.intake import Intake
from demineur.net.limits import Limits
from demineur.net.link import Turn
from demineur.net.metrics import CONNECTIONS, FAULTS, PENDING, REFUSED
from demineur.net.rates import Gate
from demineur.net.relay_proof import (
    ADDRESS_HEADER,
    PATH_PREFIX,
    PROOF_HEADER,
    checked_secret,
    is_proven,
)
from demineur.net.routes import HttpResponse, HttpRoutes, split_target
from demineur.net.wheel import Wheel
from demineur.protocol.codes import CLOSE_REASONS, CloseCode
from demineur.protocol.wire import SUBPROTOCOL

_log = structlog.stdlib.get_logger(__name__)

# The core writes headers and frames, tokens among them, to its log at the debug level.
_CORE_LOG = logging.getLogger("demineur.net.core")
_CORE_LOG.setLevel(logging.ERROR)

_BACKLOG = 1024
_BUSY_RETRY_S = 5
_RESTART_RETRY_S = 1
_ABORT_TIMEOUT_S = 1.0

EndpointFor = Callable[[str], Endpoint | None]


class Listener:
    """A listening socket and all that came in by it. Made by ``listen``."""

    def __init__(
        self,
        endpoint_for: EndpointFor,
        *,
        http: HttpRoutes,
        limits: Limits,
        access: Access,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.http = http
        self.limits = limits
        self.access = access
        self.wheel = Wheel(loop)
        self.is_closing = False
        self._endpoint_for = endpoint_for
        secret = access.relay_secret
        self._secret = None if secret is None else checked_secret(secret)
        self._turn = Turn(loop)
        self._gate = Gate(limits.handshakes_per_s, limits.handshake_burst)
        places = limits.max_connections_per_address
        self._frames = Gate(
            places * limits.address_frames_per_s, places * limits.address_frame_burst
        )
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._per_address: Counter[str] = Counter()
        self._pending: dict[Intake, None] = {}
        self._in_line: deque[Intake] = deque()
        self._is_answering = False
        self._pending_per_peer: Counter[str] = Counter()
        self._empty = asyncio.Event()
        self._empty.set()
        self._deflate = [
            ServerPerMessageDeflateFactory(
                server_max_window_bits=12,
                client_max_window_bits=12,
                compress_settings={"memLevel": 5},
            )
        ]

    # What the rest of the server calls.

    @property
    def port(self) -> int:
        """The port it listens on (the system's choice where 0 was asked for)."""
        if self._server is None or not self._server.sockets:
            raise RuntimeError("it does not listen (any more)")
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        """Websockets open now."""
        return len(self._connections)

    @property
    def pending(self) -> int:
        """Sockets that are not websockets (yet)."""
        return len(self._pending)

    def stop_accepting(self) -> None:
        """Take no new sockets and refuse handshakes of those that are there; keep the rest."""
        self.is_closing = True
        if self._server is not None:
            self._server.close()

    def close_all(self, code: int, reason: str = "") -> None:
        """Begin the closing handshake on every websocket."""
        for connection in list(self._connections):
            connection.close(code, reason)

    async def close(
        self,
        code: int = CloseCode.RESTART,
        reason: str = CLOSE_REASONS[CloseCode.RESTART],
        timeout_s: float = 5.0,
    ) -> None:
        """Stop accepting, close all websockets, and return when they are gone.

        What is not gone after ``timeout_s`` is aborted. Cancelled: aborts at once.
        """
        self.stop_accepting()
        for intake in list(self._pending):
            if intake.transport is not None:
                intake.transport.close()
        self.close_all(code, reason)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._empty.wait(), timeout_s)
        finally:
            self._abort_all()
            self.wheel.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), _ABORT_TIMEOUT_S)

    def _abort_all(self) -> None:
        for connection in list(self._connections):
            connection.abort()
        for intake in list(self._pending):
            if intake.transport is not None:
                intake.transport.abort()

    # What an intake calls.

    @staticmethod
    def spelling(peer: str) -> str:
        """Return the socket's address in its one spelling."""
        return normalise(peer) or peer

    def new_wire(self) -> ServerProtocol:
        """Return a protocol core that expects a request."""
        return self._new_wire(CONNECTING)

    def _new_wire(self, state: State) -> ServerProtocol:
        return ServerProtocol(
            state=state,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            extensions=self._deflate if self.limits.deflate else None,
            max_size=self.limits.max_frame_bytes,
            logger=_CORE_LOG,
        )

    def take_in(self, intake: Intake) -> bool:
        """Count a new socket, or drop it (False)."""
        peer = group(intake.peer)
        transport = intake.transport
        if transport is None:
            return False
        is_proxy = intake.peer in self.access.trusted_proxies
        crowd = self._pending_per_peer[peer]
        if crowd >= self.limits.max_connections_per_address and not is_proxy:
            REFUSED.labels("pending_per_address").inc()
            transport.abort()
            return False
        if len(self._pending) >= self.limits.max_pending:
            self._evict()
        self._pending[intake] = None
        self._pending_per_peer[peer] += 1
        PENDING.inc()
        self._empty.clear()
        return True

    def keep(self, intake: Intake) -> None:
        """Note a sign of life: it is not the quietest of the pending any more."""
        if self._pending.pop(intake, self) is None:
            self._pending[intake] = None

    def get_in_line(self, intake: Intake) -> None:
        """Have a whole request answered when those before it are: few in a turn of the loop.

        Whoever asks for pages, and however many do, takes little time from those who play.
        """
        self._in_line.append(intake)
        self._answer_soon()

    def _answer_soon(self) -> None:
        if self._in_line and not self._is_answering:
            self._is_answering = True
            asyncio.get_running_loop().call_soon(self._answer_some)

    def _answer_some(self) -> None:
        for _ in range(min(self.limits.requests_per_turn, len(self._in_line))):
            intake = self._in_line.popleft()
            try:
                intake.answer()
            except Exception:
                FAULTS.inc()
                _log.exception("a request failed")
                if intake.transport is not None:
                    intake.transport.abort()
        self._is_answering = False
        self._answer_soon()

    def let_go(self, intake: Intake) -> None:
        """Forget a socket that has ended or become a websocket."""
        if intake not in self._pending:
            return
        del self._pending[intake]
        _uncount(self._pending_per_peer, group(intake.peer))
        PENDING.dec()
        self.wheel.drop(intake)
        self._note_empty()

    def upgrade(
        self, wire: ServerProtocol, request: Request, peer: str
    ) -> Connection | HttpResponse:
        """Return the new connection, its 101 queued in the core; or the refusal."""
        path = split_target(request.path)[0]
        address = self.access.client_address(peer, request.headers)
        relayed = self._secret is not None
        refusal = self._refuse_relay(request, path) if relayed else self._refuse(request, address)
        if refusal is not None:
            return refusal
        if relayed:
            address = request.headers[ADDRESS_HEADER]
            path = "/ws/" + path.removeprefix(PATH_PREFIX)
        try:
            endpoint = self._endpoint_for(path)
        except Exception:
            FAULTS.inc()
            _log.exception("no endpoint: the look-up failed")
            return HttpResponse.error(500, "internal", "A fault on our side.")
        if endpoint is None:
            return _refusal("no_such_path", 404, "There is no websocket at this address.")
        response = wire.accept(request)
        if response.status_code != 101:
            return _bad_handshake(response.status_code)
        # A fresh core: the one of the handshake keeps the request for good, which is more than
        # all the rest of an idle connection.
        fresh = self._new_wire(OPEN)
        fresh.extensions = wire.extensions
        fresh.writes.append(response.serialize())
        return self._open(fresh, endpoint, Caller(path, address, relayed))

    # Inside.

    def _open(self, wire: ServerProtocol, endpoint: Endpoint, caller: Caller) -> Connection:
        connection = Connection(
            wire,
            endpoint,
            caller,
            limits=self.limits,
            turn=self._turn,
            wheel=self.wheel,
            on_lost=self._lost,
            # The node that relays a connection has counted its frames.
            shared=None if caller.relayed else self._frames.bucket(caller.address),
        )
        self._connections.add(connection)
        self._per_address[group(caller.address)] += 1
        CONNECTIONS.labels("relayed" if caller.relayed else "direct").inc()
        self._empty.clear()
        return connection

    def _lost(self, connection: Connection) -> None:
        self._connections.discard(connection)
        _uncount(self._per_address, group(connection.address))
        CONNECTIONS.labels("relayed" if connection.relayed else "direct").dec()
        self._note_empty()

    def _note_empty(self) -> None:
        if not self._connections and not self._pending:
            self._empty.set()

    def _evict(self) -> None:
        """Drop the pending socket that has been quiet the longest."""
        oldest = next(iter(self._pending))
        REFUSED.labels("pending").inc()
        transport = oldest.transport
        self.let_go(oldest)
        if transport is not None:
            transport.abort()

    def _refuse(self, request: Request, address: str) -> HttpResponse | None:
        """Return why a client's handshake is refused, or None."""
        limits = self.limits
        full = self._refuse_any()
        if full is not None:
            return full
        if not self._gate.admit(address, time.monotonic_ns()):
            wait_s = -(-self._gate.wait_ms(address) // 1000)
            return _refusal("too_fast", 429, "Too many connections in a short time.", wait_s)
        if self._per_address[group(address)] >= limits.max_connections_per_address:
            text = CLOSE_REASONS[CloseCode.TOO_MANY_CONNECTIONS]
            return _refusal("too_many_connections", 429, text, _BUSY_RETRY_S)
        if not self.access.allows_origin(request.headers):
            return _refusal("origin", 403, "This page may not connect to this server.")
        if not _offers_subprotocol(request):
            return _refusal("subprotocol", 400, f"Ask for the subprotocol {SUBPROTOCOL}.")
        return None

    def _refuse_relay(self, request: Request, path: str) -> HttpResponse | None:
        """Return why another node's handshake is refused, or None.

        The limits of an address are not counted again: the relaying node has counted.
        """
        names = (PROOF_HEADER, "Sec-WebSocket-Key", ADDRESS_HEADER)
        values = [request.headers.get_all(name) for name in names]
        if self._secret is None or any(len(value) != 1 for value in values):
            return _refusal("relay", 403, "This listener is for nodes only.")
        claimed, key, address = (value[0] for value in values)
        known = is_proven(self._secret, claimed, key, request.path, address)
        if not known or not path.startswith(PATH_PREFIX) or normalise(address) is None:
            return _refusal("relay", 403, "This listener is for nodes only.")
        return self._refuse_any()

    def _refuse_any(self) -> HttpResponse | None:
        if self.is_closing:
            text = CLOSE_REASONS[CloseCode.RESTART]
            return _refusal("restart", 503, text, _RESTART_RETRY_S)
        if len(self._connections) >= self.limits.max_connections:
            return _refusal("busy", 503, "The server is full. Try again.", _BUSY_RETRY_S)
        return None


async def listen(
    endpoint_for: EndpointFor,
    *,
    host: str | None = "127.0.0.1",
    port: int = 0,
    sock: socket.socket | None = None,
    reuse_port: bool = False,
    http: HttpRoutes | None = None,
    limits: Limits | None = None,
    access: Access | None = None,
) -> Listener:
    """Listen, and serve until ``close``.

    Arguments:
        endpoint_for: called with the path of each websocket (``/ws/K7MP3QXZ``); None: 404.
        host, port, reuse_port: where to listen; or sock: a bound socket.
        http: what plain requests are answered with; nothing but 404 by default.
        access: whose requests are answered; with a ``relay_secret`` it is the internal
            listener.

    Raises ``OSError`` where it cannot listen, ``ValueError`` for a secret that is too short.
    """
    listener = Listener(
        endpoint_for,
        http=http or HttpRoutes(),
        limits=limits or Limits(),
        access=access or Access(),
    )
    loop = asyncio.get_running_loop()
    where = {"sock": sock} if sock is not None else {"host": host, "port": port}
    listener._server = await loop.create_server(
        lambda: Intake(listener), backlog=_BACKLOG, reuse_port=reuse_port or None, **where
    )
    for listening in listener._server.sockets:
        # Inherited by what it accepts.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, listener.limits.send_buffer_bytes)
    return listener


def _refusal(reason: str, status: int, text: str, retry_s: int = 0) -> HttpResponse:
    REFUSED.labels(reason).inc()
    headers = (("Retry-After", str(retry_s)),) if retry_s else ()
    return HttpResponse.error(status, reason, text, headers)


def _offers_subprotocol(request: Request) -> bool:
    values = request.headers.get_all("Sec-WebSocket-Protocol")
    try:
        return any(SUBPROTOCOL in parse_subprotocol(value) for value in values)
    except InvalidHandshake:
        return False


def _bad_handshake(status: int) -> HttpResponse:
    REFUSED.labels("handshake").inc()
    headers = (("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"))
    return HttpResponse.error(status, "handshake", "This is no valid websocket handshake.", headers)


def _uncount(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
