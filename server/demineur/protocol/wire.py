"""``decode`` and ``encode``: the one place where frames become messages and back."""

from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from demineur.protocol.client import ClientMessage
from demineur.protocol.codes import ErrorCode, Fault
from demineur.protocol.server import SERVER_ADAPTER

SUBPROTOCOL = "demineur.v1"

_ERRORS_TOLD = 8
"""More is no slip of a client: each would cost what is not worth telling."""

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


def decode(text: str | bytes) -> ClientMessage:
    """Return the client's message, or raise a ``Fault`` that says which field is wrong.

    The fault carries the move's counter ``n`` where the frame has a usable one, so that a
    client can tell which of its moves was refused.
    """
    try:
        return _CLIENT.validate_json(text)
    except ValidationError as error:
        raise _fault(error, text) from None
    except (ValueError, RecursionError):
        raise _not_json() from None


def _not_json() -> Fault:
    return Fault(ErrorCode.NOT_JSON, "This is not one JSON object.")


def _fault(error: ValidationError, text: str | bytes) -> Fault:
    if error.error_count() > _ERRORS_TOLD:
        return Fault(ErrorCode.BAD_FIELD, "Many fields are wrong.", n=_counter(text))
    detail = error.errors(include_url=False, include_input=False)[0]
    kind = detail["type"]
    is_kind = kind in {"union_tag_invalid", "union_tag_not_found"}
    if not detail["loc"] and not is_kind:
        return _not_json()
    n = _counter(text)
    if is_kind:
        return Fault(ErrorCode.UNKNOWN_KIND, "The kind of message 't' is not known.", n=n)
    # The path starts with the union's tag and may end with a name that the client chose.
    path = [str(part) for part in detail["loc"][1:]]
    if kind == "extra_forbidden":
        return Fault(ErrorCode.BAD_FIELD, "There is a field that does not belong here.", n=n)
    return Fault(ErrorCode.BAD_FIELD, f"{'.'.join(path)}: {detail['msg']}.", n=n)


def _counter(text: str | bytes) -> int | None:
    try:
        frame: Any = orjson.loads(text)
    except ValueError:
        return None
    # The n of a join is no move's: it would answer one that was never made.
    n = frame.get("n") if isinstance(frame, dict) and frame.get("t") != "join" else None
    return n if type(n) is int and 0 < n < 2**31 else None


def encode(message: BaseModel) -> bytes:
    """Return the message as the UTF-8 bytes of one text frame; null fields are left out."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True)


def schema() -> dict[str, Any]:
    """Return the published JSON schema: ``client`` and ``server``, one union each."""
    return {
        "subprotocol": SUBPROTOCOL,
        "client": _CLIENT.json_schema(),
        "server": SERVER_ADAPTER.json_schema(mode="serialization"),
    }


__all__ = ["SUBPROTOCOL", "decode", "encode", "schema"]
