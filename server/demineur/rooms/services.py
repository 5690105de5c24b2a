"""What a room needs of its node, gathered: the store, limits, and who must be told what."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from demineur.race import RoomSettings
from demineur.store import Store

if TYPE_CHECKING:
    from demineur.rooms.runner import Runner


@dataclass(frozen=True, slots=True)
class RoomLimits:
    """Numbers that bound a room, all settings of the node.

    Raises ``ValueError`` for a value that is not positive; there may be no spectators.
    """

    spectators: int = 50
    """Who may watch a room at once; above: ``room_full``."""
    progress_interval_ms: int = 200
    """Progress of others is sent at most this often."""
    open_ttl_ms: int = 24 * 3_600_000
    """How long Redis keeps a room that nobody has touched."""
    closed_ttl_ms: int = 3_600_000
    """How long Redis keeps the log of a room that has closed."""
    stall_patience_ms: int = 3_000
    """How long moves wait for a store that does not answer before they are refused."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (value == 0 and field.name != "spectators"):
                raise ValueError(f"{field.name} must be positive")


@dataclass(frozen=True, slots=True)
class Services:
    """A node's side of a room."""

    store: Store
    limits: RoomLimits
    search: "Callable[[Runner, RoomSettings, str, int], None]"
    """Start the search for a guess-free board and hand the outcome to the room."""
    changed: "Callable[[Runner], None]"
    """What the lobby lists of this room may have changed."""
    closed: "Callable[[Runner], None]"
    """The room is over for good."""
    failed: "Callable[[Runner, BaseException], None]"
    """An append failed: the room in memory may differ from the log."""
