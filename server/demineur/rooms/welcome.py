"""What somebody is told who joins a room or comes back to it.

Law of this module: a client gets just what it missed where that can be proved complete, and
else a snapshot; a client that was told of moves which the store has lost hears that first.
"""

from demineur import protocol as wire
from demineur.race import Room, Seat
from demineur.rooms.history import History
from demineur.rooms.publish import clock_message, progress_row, snapshot

MOVES_LOST = wire.encode(
    wire.Error(
        code=wire.ErrorCode.MOVES_LOST,
        text="The store lost some of your last moves; this is where your run stands.",
    )
)


def welcome_back(
    room: Room,
    history: History,
    seat: Seat | None,
    message: wire.Join,
    spectators: int,
    now_ms: int,
) -> list[bytes]:
    """Return the frames for the player of ``seat``, or for a spectator (None)."""
    if seat is not None and _has_lost_moves(room, history, seat, message):
        return [MOVES_LOST, wire.encode(snapshot(room, seat, spectators, now_ms))]
    missed = _missed(room, history, seat, message, spectators, now_ms)
    whole = snapshot(room, seat, spectators, now_ms) if missed is None else missed
    return [wire.encode(whole)]


def _missed(
    room: Room,
    history: History,
    seat: Seat | None,
    message: wire.Join,
    spectators: int,
    now_ms: int,
) -> wire.Missed | None:
    if message.since is None:
        return None
    events = history.events_since(message.since, room.public_version)
    moves: list[wire.Moved] | None = []
    if seat is not None:
        moves = history.moves_since(seat.seat, message.since, message.n or 0)
    if events is None or moves is None:
        return None
    return wire.Missed(
        v=room.public_version,
        n=seat.n if seat is not None else 0,
        events=events,
        moves=moves,
        progress=[progress_row(each) for each in room.racers()],
        spectators=spectators,
        clock=clock_message(room, seat, now_ms),
    )


def _has_lost_moves(room: Room, history: History, seat: Seat, message: wire.Join) -> bool:
    """Whether the client holds what the log has not: an event, or a move of this round.

    Its ``n`` counts moves that did something; those that the rules ignore are in no log.
    """
    since, n = message.since, message.n
    if since is None or n is None:
        return False
    return since > room.public_version or (since >= history.round and seat.n < n)
