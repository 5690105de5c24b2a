"""``Node``: what all connections of this process share."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields

from demineur.net import Gate
from demineur.rooms.directory import Rooms
from demineur.rooms.feed import LobbyFeed
from demineur.rooms.pulse import Pulse
from demineur.store import Store


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What one client may ask of a node; the rest is bounded by ``demineur.net.Limits``.

    Raises ``ValueError`` for a value that is not positive.
    """

    moves_per_s: float = 30.0
    """Moves of one connection, sustained; above: ``too_fast``. The fastest humans make ten."""
    move_burst: int = 60
    """Moves of one connection at once; above: ``too_fast``."""
    messages_per_s: float = 10.0
    """Messages of one connection that are no moves, sustained; above: ``too_fast``."""
    message_burst: int = 40
    """The same at once."""
    rooms_per_identity: int = 5
    """Rooms that one identity may have created on this node and that are still open."""
    creations_per_s: float = 2.0
    """Rooms created from one address, sustained; above: ``too_many_rooms``."""
    creation_burst: int = 60
    """The same at once."""
    identities_per_s: float = 0.5
    """New identities from one address, sustained; above: ``busy``. Redis keeps each for a month,
    300 bytes: an address that makes them day and night fills 400 MB."""
    identity_burst: int = 200
    """The same at once: a class that opens the page together comes from one address."""
    busy_lag_ms: float = 60.0
    """Average lateness of the event loop above which nobody new is let in (``busy``). Moves take
    far less than a glance up to here."""
    busy_retry_ms: int = 2_000
    """When somebody who was refused because the node is overloaded should try again."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name} must be positive")


class Node:
    """The rooms, the lobby, the store and the limits of this process."""

    def __init__(
        self,
        store: Store,
        rooms: Rooms,
        feed: LobbyFeed,
        pulse: Pulse,
        limits: SessionLimits,
        secret: str,
    ) -> None:
        """``secret`` is what the nodes of a site share for relays."""
        self.store = store
        self.rooms = rooms
        self.feed = feed
        self.pulse = pulse
        self.limits = limits
        self.secret = secret
        self.creations = Gate(limits.creations_per_s, limits.creation_burst)
        self.identities = Gate(limits.identities_per_s, limits.identity_burst)
        self.created_by: dict[str, set[str]] = {}
        """Rooms that are still open, by the identity that created them."""
        self._creating: Counter[str] = Counter()
        """Rooms that are being created, by the same."""

    def open_rooms_of(self, player: str) -> int:
        """Return how many rooms of this identity are open here, or about to be.

        Forgets those that are not any more.
        """
        codes = self.created_by.get(player, set())
        codes &= {code for code in codes if self.rooms.get(code) is not None}
        if not codes:
            self.created_by.pop(player, None)
        return len(codes) + self._creating.get(player, 0)

    @contextmanager
    def creating(self, player: str) -> Iterator[None]:
        """Count a room that is being created, so that many at once are not one too many."""
        self._creating[player] += 1
        try:
            yield
        finally:
            self._creating[player] -= 1
            if not self._creating[player]:
                del self._creating[player]

    def note_created(self, player: str, code: str) -> None:
        """Count a room for the identity that created it."""
        if len(self.created_by) > 2 * len(self.rooms) + 100:
            for each in [*self.created_by]:
                self.open_rooms_of(each)
        self.created_by.setdefault(player, set()).add(code)
