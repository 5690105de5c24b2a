"""What a node counts about its rooms, for ``/metrics``; nothing of a board or of a person."""

from prometheus_client import Counter, Gauge, Histogram

ROOMS = Gauge("demineur_rooms", "Rooms that this node runs.")
ROOMS_CREATED = Counter("demineur_rooms_created_total", "Rooms created here.")
TAKEOVERS = Counter("demineur_takeovers_total", "Rooms taken over, by why.", ["why"])
RELAYS = Counter("demineur_relays_total", "Connections relayed to the node that runs their room.")
MOVES = Counter("demineur_moves_total", "Moves made or ignored by the rules.")
REFUSALS = Counter("demineur_refusals_total", "Messages refused, by error code.", ["code"])
ANSWER_SECONDS = Histogram(
    "demineur_decide_seconds",
    "From a move's arrival to its hand-over to the store.",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
STALLED_MS = Counter("demineur_stalled_ms_total", "Milliseconds credited to clocks.")
