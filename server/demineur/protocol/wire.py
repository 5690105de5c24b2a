"""``decode`` and ``encode``: the one place where frames become messages and back."""

from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from demineur.protocol.client import ClientMessage
from demineur.protocol.codes import ErrorCode, Fault
from demineur.protocol.server import SERVER_ADAPTER

SUBPROTOCOL = "demineur.v1"

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)


def decode(text: str | bytes) -> ClientMessage:
    """Return the client's message, or raise a ``Fault`` that says which field is wrong.

    The fault carries the move's counter ``n`` where the frame has a usable one, so that a
    client can tell which of its moves was refused.
    """
    try:
        return _CLIENT.validate_json(text)
    except ValidationError as error:
        raise _fault(error.errors(include_url=False, include_input=False)[0], text) from None
    except (ValueError, RecursionError):
        raise Fault(ErrorCode.NOT_JSON, "This is not JSON.") from None


def _fault(detail: ErrorDetails, text: str | bytes) -> Fault:
    kind = detail["type"]
    if kind in {"json_invalid", "json_type"}:
        return Fault(ErrorCode.NOT_JSON, "This is not JSON.")
    n = _counter(text)
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return Fault(ErrorCode.UNKNOWN_KIND, "The kind of message 't' is not known.", n=n)
    # The path starts with the union's tag and may end with a name that the client chose.
    path = [str(part) for part in detail["loc"][1:]]
    if kind == "extra_forbidden":
        return Fault(ErrorCode.BAD_FIELD, "There is a field that does not belong here.", n=n)
    where = ".".join(path) or "message"
    return Fault(ErrorCode.BAD_FIELD, f"{where}: {detail['msg']}.", n=n)


def _counter(text: str | bytes) -> int | None:
    try:
        frame: Any = orjson.loads(text)
    except ValueError:
        return None
    n = frame.get("n") if isinstance(frame, dict) else None
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
