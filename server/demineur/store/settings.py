"""The store's settings, all with defaults that run on one machine."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

DAY_MS = 86_400_000


def new_node_id() -> str:
    """Return a node id that no earlier process has had: 64 random bits as hex."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """What the store needs to know; times in the units that the names say."""

    url: str | None = field(default=None, repr=False)
    """Address of Redis (see ``address.py``); None: the store starts its own."""
    data_dir: Path = Path("data")
    """Where an own Redis keeps its files."""
    server_program: Path | None = None
    """The program of an own Redis; None: the first that is found."""
    fsync: str = "always"
    """``appendfsync`` of an own Redis: ``always`` or ``everysec``."""
    allow_memory: bool = True
    """Whether, with no Redis to be found, one inside this process will do."""

    replicas: int | None = None
    """Replicas that must hold an append before it counts, where so many are connected. None: 1
    where the address is Sentinel's or a Cluster's, else 0. 0 waits for none."""

    node_id: str = field(default_factory=new_node_id)
    """New for each process: a lease of an earlier process must not look like one's own."""
    address: str = ""
    """Where other nodes reach this one; opaque here."""
    lease_ms: int = 5000
    """A node whose last beat is older than this is dead, and its leases are free."""

    connect_timeout_s: float = 1.0
    call_timeout_s: float = 5.0
    """How long a call waits for Redis, and an append for its turn: it fails after twice that."""
    idle_beat_ms: int = 500
    racing_beat_ms: int = 10
    stall_ms: int = 250
    """A beat without answer for longer than this is a stall."""

    max_waiting_appends: int = 10_000
    max_waiting_bytes: int = 32 * 1024 * 1024
    max_batch_appends: int = 256
    max_batch_bytes: int = 1024 * 1024
    """Bounds of one call, so that no script holds Redis for long (about 1 ms)."""

    newcomer_ttl_ms: int = 30 * DAY_MS
    """How long a player is kept who was never seen on a second day: identities cost nothing to
    make, and whoever makes them by the million does not come back for each."""
    player_ttl_ms: int = 400 * DAY_MS
    """How long one is kept who was, from the last day on."""
    node_memory_ms: int = DAY_MS
    """How long the last sign of life of a node is kept, for those who take its rooms over."""
