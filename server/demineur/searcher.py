"""The child process that searches guess-free boards: one JSON line in, one out.

Law of this module: it ends when its input does, so it never outlives the node that started it;
and it imports nothing but the engine, so it starts in a blink.
"""

import json
import sys
import time
from typing import Any

from demineur.engine import LEVELS
from demineur.engine.guessfree import Outcome, find_guess_free

SEARCH_SECONDS = 15.0
"""How long one search may take; the room gives up a little later by itself."""


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the smallest guess-free attempt for ``level``, ``seed`` and ``marked``, or null."""
    level = LEVELS[request["level"]]
    deadline = time.monotonic() + SEARCH_SECONDS
    search = find_guess_free(
        level.geometry,
        level.mines,
        bytes.fromhex(request["seed"]),
        request["marked"],
        should_stop=lambda: time.monotonic() > deadline,
    )
    return {"attempt": search.attempt if search.outcome is Outcome.FOUND else None}


def main() -> None:
    """Answer searches until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
