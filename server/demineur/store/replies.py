"""What an error reply of Redis means for the call that got it."""

import re

from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)

_CODES: tuple[tuple[type[Exception], str], ...] = (
    (MovedError, "MOVED"),
    (AskError, "ASK"),
    (MasterDownError, "MASTERDOWN"),
    (ClusterDownError, "CLUSTERDOWN"),
    (TryAgainError, "TRYAGAIN"),
    (NoScriptError, "NOSCRIPT"),
    (OutOfMemoryError, "OOM"),
    (ReadOnlyError, "READONLY"),
    (NoPermissionError, "NOPERM"),
    (BusyLoadingError, "LOADING"),
)
"""redis-py cuts the code off the messages that it has a class for. Subclasses come first."""

REFUSALS = frozenset(
    {
        "ASK",
        "BUSY",
        "CLUSTERDOWN",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "MOVED",
        "NOREPLICAS",
        "OOM",
        "READONLY",
        "TRYAGAIN",
    }
)
"""Redis did not do it and says so before it wrote anything: it may be sent again."""

_INSIDE = re.compile(r"(?:^|[-\s])(MISCONF|NOREPLICAS|OOM|READONLY)\s")
"""Before Redis 7, what a script's command failed with stands in the middle of the message."""


def code_of(error: Exception) -> str:
    """Return the code of an error reply, such as ``OOM``; "" where it has none we know.

    >>> code_of(ResponseError("MISCONF Redis is configured to save RDB snapshots"))
    'MISCONF'
    """
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return code_in(str(error)) if isinstance(error, ResponseError) else ""


def code_in(message: str) -> str:
    """Return the refusal's code that a message carries, or "".

    >>> code_in("ERR Error running script: @user_script: 12: -OOM command not allowed")
    'OOM'
    """
    first = message.partition(" ")[0]
    if first in REFUSALS:
        return first
    inside = _INSIDE.search(message)
    return inside.group(1) if inside else ""
