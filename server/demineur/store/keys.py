"""Every key that the store uses, and its slot in a Cluster.

The braces are Redis hash tags: all keys of a room share a slot, so one script may touch them
all. ``docs/redis-keys.md`` has a row for each.
"""

from functools import lru_cache

from redis.crc import key_slot

NODES_TAG = "{nodes}"
"""All beats lie in one slot, so in a Cluster all nodes take the time from the same master."""

WATCH = "{watch}:rooms"
LOBBY_ROOMS = "{lobby}:rooms"
LOBBY_SEEN = "{lobby}:seen"


@lru_cache(maxsize=4096)
def room_keys(code: str) -> tuple[str, str, str, str]:
    """Return the keys of a room: lease, log, timers, meta.

    >>> room_keys("K7MP3QXZ")[1]
    'room:{K7MP3QXZ}:log'
    """
    tag = f"room:{{{code}}}:"
    return tag + "lease", tag + "log", tag + "timers", tag + "meta"


def node_key(node: str) -> str:
    """Return the key of a node's beat."""
    return f"{NODES_TAG}:{node}"


def player_key(player: str) -> str:
    """Return the key of a player."""
    return f"player:{{{player}}}"


@lru_cache(maxsize=4096)
def slot(key: str) -> int:
    """Return the Cluster slot of a key, 0 to 16383.

    >>> slot("room:{K7MP3QXZ}:log") == slot("room:{K7MP3QXZ}:lease")
    True
    """
    return key_slot(key.encode())
