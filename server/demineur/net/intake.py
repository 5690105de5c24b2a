"""``Intake``: a socket before it is a websocket, which it may never be.

Law of this module: a request head is cut off here, within its size and its time, and only
then parsed, by ``websockets``' Sans-I/O core. Every request gets an HTTP answer; a refusal is
JSON. What follows the head is kept for the websocket, or is the next request.
"""

import asyncio
import re
import time
from typing import TYPE_CHECKING

import structlog
from websockets.datastructures import Headers
from websockets.exceptions import SecurityError
from websockets.http11 import Request
from websockets.server import ServerProtocol

from demineur.net.limits import in_ns
from demineur.net.metrics import FAULTS, REQUESTS
from demineur.net.routes import HttpRequest, HttpResponse, split_target

if TYPE_CHECKING:
    from demineur.net.listener import Listener

_log = structlog.stdlib.get_logger(__name__)

_HEAD_END = b"\r\n\r\n"
_METHODS = {b"GET", b"HEAD"}
_OTHER_METHOD = re.compile(rb"[A-Z]{3,20} ")
_CAPITALS = range(ord("A"), ord("Z") + 1)


class Intake(asyncio.Protocol):
    """Reads requests from one socket until it becomes a websocket or ends."""

    __slots__ = (
        "_buffer",
        "_deadline_ns",
        "_is_done",
        "_is_full",
        "_is_in_line",
        "_listener",
        "_requests",
        "_sent_ns",
        "due_tick",
        "peer",
        "transport",
    )

    def __init__(self, listener: "Listener") -> None:
        self._listener = listener
        self._buffer = bytearray()
        self._requests = 0
        self._is_done = False
        self._is_full = False
        self._is_in_line = False
        self._deadline_ns = 0
        self._sent_ns = 0
        self.due_tick = 0
        self.peer = ""
        self.transport: asyncio.Transport | None = None

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the listener whether there is room for one more."""
        self.transport = transport  # type: ignore[assignment]
        peer = transport.get_extra_info("peername")
        self.peer = self._listener.spelling(peer[0]) if isinstance(peer, tuple) else ""
        if self._listener.take_in(self):
            self._wait(self._listener.limits.handshake_timeout_s)

    def data_received(self, data: bytes) -> None:
        """Get in line with the request, when it is whole."""
        if self._is_done:
            return
        searched = max(0, len(self._buffer) - len(_HEAD_END) + 1)
        self._buffer += data
        if not self._is_full and not self._is_in_line:
            self._advance(searched)

    def eof_received(self) -> bool:
        """Let the transport close, after what it has still to write."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the listener."""
        self._listener.let_go(self)

    def pause_writing(self) -> None:
        """Answer no further request until this client has read."""
        self._is_full = True
        if self.transport is not None:
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on."""
        self._is_full = False
        self._go_on()

    def look(self, now_ns: int) -> int:
        """End it when its time is over (see ``Wheel``)."""
        transport = self.transport
        if transport is None:
            return 0
        until_ns = self._deadline_ns
        if transport.get_write_buffer_size():  # it is still reading the answer
            until_ns = self._sent_ns + in_ns(self._listener.limits.response_timeout_s)
        if now_ns < until_ns:
            return until_ns
        if self._buffer and not self._is_done and not transport.is_closing():
            self._refuse(408, "timeout", "The request took too long.")
            return self._deadline_ns
        transport.abort()
        return 0

    # Inside.

    def _wait(self, seconds: float) -> None:
        self._deadline_ns = time.monotonic_ns() + in_ns(seconds)
        self._listener.wheel.put(self, self._deadline_ns)

    def _go_on(self) -> None:
        if self._is_full or self._is_in_line:
            return
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.resume_reading()
        if not self._is_done:
            self._advance(0)

    def _advance(self, searched: int) -> None:
        """Get in line with one request; what is there already behind it waits for the next."""
        limit = self._listener.limits.max_head_bytes
        end = self._buffer.find(_HEAD_END, searched)
        if self._buffer and self._buffer[0] not in _CAPITALS:
            self._refuse(400, "bad_request", "This is no valid HTTP request.")
        elif end > limit or (end < 0 and len(self._buffer) > limit):
            self._refuse(431, "head_too_large", "The request's head is too large.")
        elif end >= 0 and self.transport is not None and not self.transport.is_closing():
            self._is_in_line = True
            self.transport.pause_reading()
            self._listener.get_in_line(self)

    def answer(self) -> None:
        """Answer the request with which it was in line, unless it has ended meanwhile."""
        self._is_in_line = False
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        transport.resume_reading()
        if self._is_done:
            return
        head = bytes(self._buffer[: self._buffer.find(_HEAD_END) + len(_HEAD_END)])
        del self._buffer[: len(head)]
        self._request(head)
        if self._buffer and not self._is_done:
            self._go_on()

    def _request(self, head: bytes) -> None:
        method = head.split(b" ", 1)[0]
        if method not in _METHODS and _OTHER_METHOD.match(head):
            allow = ("Allow", "GET, HEAD")
            self._refuse(405, "method", "Only GET and HEAD are allowed.", allow)
            return
        wire = self._listener.new_wire()
        wire.receive_data(head)
        events = wire.events_received()
        if method not in _METHODS or not events or not isinstance(events[0], Request):
            if isinstance(wire.handshake_exc, SecurityError):
                self._refuse(431, "head_too_large", "The request's head is too large.")
            else:
                self._refuse(400, "bad_request", "This is no valid HTTP request.")
            return
        request = events[0]
        hosts = request.headers.get_all("Host")
        if len(hosts) > 1 or (not hosts and request.protocol == "HTTP/1.1"):
            self._refuse(400, "bad_host", "A request needs one Host header.")
        elif _is_upgrade(request):
            self._upgrade(wire, request)
        else:
            self._http(request)
        wire.parser.close()  # it and the core hold each other; nobody waits for the GC

    def _upgrade(self, wire: ServerProtocol, request: Request) -> None:
        transport = self.transport
        if transport is None:
            return
        answer = self._listener.upgrade(wire, request, self.peer)
        if isinstance(answer, HttpResponse):
            self._respond(answer, request.headers, keeps_alive=False)
            return
        self._is_done = True
        self._listener.let_go(self)
        rest = bytes(self._buffer)
        self._buffer.clear()
        answer.begin(transport, rest)

    def _http(self, request: Request) -> None:
        self._requests += 1
        listener = self._listener
        path, query = split_target(request.path)
        try:
            address = listener.access.client_address(self.peer, request.headers)
            internal = listener.access.is_internal(self.peer, request.headers)
            asked = HttpRequest(path, query, request.headers, address, internal)
            answer = listener.http.answer(asked)
        except Exception:
            FAULTS.inc()
            _log.exception("http handler failed")
            answer = HttpResponse.error(500, "internal", "A fault on our side.")
        keeps_alive = (
            request.protocol == "HTTP/1.1"
            and self._requests < listener.limits.max_requests
            and not listener.is_closing
            and "close" not in ",".join(request.headers.get_all("Connection")).lower()
        )
        self._respond(answer, request.headers, keeps_alive, is_head=request.method == "HEAD")

    def _refuse(self, status: int, code: str, text: str, *headers: tuple[str, str]) -> None:
        answer = HttpResponse.error(status, code, text, headers)
        self._respond(answer, Headers(), keeps_alive=False)

    def _respond(
        self, answer: HttpResponse, headers: Headers, keeps_alive: bool, *, is_head: bool = False
    ) -> None:
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        REQUESTS.labels(answer.status).inc()
        host = ",".join(headers.get_all("Host"))
        limits = self._listener.limits
        if not keeps_alive:
            self._is_done = True
            self._buffer.clear()
        self._listener.keep(self)
        self._sent_ns = time.monotonic_ns()
        self._wait(limits.keep_alive_s if keeps_alive else limits.close_timeout_s)
        transport.write(answer.serialize(host=host, is_head=is_head, keeps_alive=keeps_alive))
        if not keeps_alive:
            # Half-close, then wait for the client's end: closing with unread input (a body)
            # resets the connection, and the client may never see the answer.
            transport.write_eof()


def _is_upgrade(request: Request) -> bool:
    values = ",".join(request.headers.get_all("Upgrade")).lower()
    return request.method == "GET" and "websocket" in values
