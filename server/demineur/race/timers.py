"""A player's timer as one row of Redis: for whoever looks into it, and for other tools."""

import orjson

from demineur.race.state import Room, Seat


def timer(room: Room, seat: Seat) -> bytes:
    """Return the row as JSON: ``started``, ``stalled``, ``penalty``, ``ended`` (ms), ``status``.

    ``started`` and ``ended`` are room time; add ``stalled`` for the node's clock.
    """
    return orjson.dumps(
        {
            "started": seat.started_ms,
            "stalled": room.stalled_ms,
            "penalty": seat.penalty_ms,
            "ended": seat.ended_ms,
            "status": seat.ending.value if seat.ending else "playing" if seat.racing else "waiting",
        }
    )
