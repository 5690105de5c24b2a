"""What can go wrong on the wire, by blame.

An ``ErrorCode`` is the client's, well meant: the connection stays. A ``CloseCode`` ends the
connection: abuse, a fault of ours, or a server that goes away. Both are explained to client
authors in ``docs/protocol.md``; a test holds that page and these two lists together.
"""

from enum import IntEnum, StrEnum


class ErrorCode(StrEnum):
    """Why a message was refused. The connection stays, nothing has changed."""

    NOT_JSON = "not_json"
    UNKNOWN_KIND = "unknown_kind"
    BAD_FIELD = "bad_field"
    BAD_NAME = "bad_name"
    BAD_TOKEN = "bad_token"  # noqa: S105 - a code, no secret
    OUT_OF_ORDER = "out_of_order"
    NO_ROOM = "no_room"
    ROOM_EXISTS = "room_exists"
    ROOM_FULL = "room_full"
    RACE_RUNNING = "race_running"
    NOT_IN_ROOM = "not_in_room"
    NOT_HOST = "not_host"
    NOT_READY = "not_ready"
    WRONG_PHASE = "wrong_phase"
    BAD_SETTINGS = "bad_settings"
    OFF_BOARD = "off_board"
    NOT_RACING = "not_racing"
    RUN_OVER = "run_over"
    TOO_MANY_MOVES = "too_many_moves"
    TOO_FAST = "too_fast"
    TOO_MANY_ROOMS = "too_many_rooms"
    BUSY = "busy"
    STORE_UNAVAILABLE = "store_unavailable"
    MOVES_LOST = "moves_lost"


class CloseCode(IntEnum):
    """Why the server ends a connection. Below 4000: as RFC 6455 and its registry have them."""

    GOING_AWAY = 1001
    BINARY = 1003
    TOO_BIG = 1009
    INTERNAL = 1011
    RESTART = 1012
    TRY_LATER = 1013
    BAD_FIRST_FRAME = 4000
    NO_FIRST_FRAME = 4001
    SUPERSEDED = 4002
    ROOM_CLOSED = 4004
    ROOM_MOVED = 4005
    FLOODING = 4008
    TOO_SLOW = 4009
    TOO_MANY_CONNECTIONS = 4010


CLOSE_REASONS: dict[CloseCode, str] = {
    CloseCode.GOING_AWAY: "the server goes away",
    CloseCode.BINARY: "text frames only",
    CloseCode.TOO_BIG: "frame too big",
    CloseCode.INTERNAL: "a fault on our side",
    CloseCode.RESTART: "the server restarts; come back at once",
    CloseCode.TRY_LATER: "try again later",
    CloseCode.BAD_FIRST_FRAME: "the first frame must be a valid hello",
    CloseCode.NO_FIRST_FRAME: "no hello came in time",
    CloseCode.SUPERSEDED: "you came back on another connection",
    CloseCode.ROOM_CLOSED: "the room has closed",
    CloseCode.ROOM_MOVED: "the room runs on another node; come back at once",
    CloseCode.FLOODING: "too many messages",
    CloseCode.TOO_SLOW: "you read too slowly",
    CloseCode.TOO_MANY_CONNECTIONS: "too many connections from your address",
}
"""At most 123 bytes each: a close frame carries no more."""


class Fault(Exception):  # noqa: N818 - the client's fault, by blame, not an error of ours
    """A message that is refused: the client's fault, told to the client, never logged.

    ``text`` is a plain sentence that may be shown; it never repeats what the client sent.
    ``n`` is the counter of the move that is refused, ``retry_ms`` when to try again.
    """

    def __init__(
        self, code: ErrorCode, text: str, *, n: int | None = None, retry_ms: int | None = None
    ) -> None:
        super().__init__(f"{code.value}: {text}")
        self.code = code
        self.text = text
        self.n = n
        self.retry_ms = retry_ms
