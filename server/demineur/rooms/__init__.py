"""The shell around rooms: who is connected, what is stored, what is told.

Law of this package: the order of work is always decode, check limits, decide, store, and only
then answer; no answer leaves before Redis holds what it tells.
"""

from demineur.rooms.directory import Elsewhere, Rooms
from demineur.rooms.feed import LobbyFeed
from demineur.rooms.node import Node, SessionLimits
from demineur.rooms.pulse import Pulse
from demineur.rooms.runner import Runner
from demineur.rooms.services import RoomLimits
from demineur.rooms.session import Session

__all__ = [
    "Elsewhere",
    "LobbyFeed",
    "Node",
    "Pulse",
    "RoomLimits",
    "Rooms",
    "Runner",
    "Session",
    "SessionLimits",
]
