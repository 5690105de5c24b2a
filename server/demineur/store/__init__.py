"""Redis: the log of every room, its lease and timers, the players, the lobby, the clock.

Law of this package: it knows no rules. Events, timers and entries are opaque bytes. No key is
named outside ``keys.py``, no command sent but through ``link.py``, and no exception of Redis's
leaves it: all are ``StoreError``.
"""

from demineur.store.address import safe_url
from demineur.store.clock import RedisClock
from demineur.store.errors import (
    Backlogged,
    Conflict,
    Fenced,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
)
from demineur.store.leases import Acquired, Held, Lease, Missing, NodeState, RoomExists
from demineur.store.players import Player
from demineur.store.settings import StoreSettings
from demineur.store.store import Store

__all__ = [
    "Acquired",
    "Backlogged",
    "Conflict",
    "Fenced",
    "Held",
    "Lease",
    "Missing",
    "NodeState",
    "Player",
    "RedisClock",
    "RoomExists",
    "Store",
    "StoreError",
    "StoreMisconfigured",
    "StoreSettings",
    "StoreUnavailable",
    "safe_url",
]
