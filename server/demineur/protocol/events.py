"""What happens in a room, as everybody in it is told: ``RoomEvent``, told apart by ``e``."""

from typing import Annotated, Literal

from pydantic import Field

from demineur.protocol.client import Settings
from demineur.protocol.parts import BoardSize, Frame, Player, RaceInfo, Result


class Joined(Frame):
    """A new player."""

    e: Literal["joined"] = "joined"
    player: Player


class Left(Frame):
    """A player gave up the place."""

    e: Literal["left"] = "left"
    seat: int


class Renamed(Frame):
    """A player has another name."""

    e: Literal["renamed"] = "renamed"
    seat: int
    name: str


class Readied(Frame):
    """A player is ready, or no longer."""

    e: Literal["ready"] = "ready"
    seat: int
    ready: bool


class Presence(Frame):
    """A player's connection dropped, or is back."""

    e: Literal["presence"] = "presence"
    seat: int
    present: bool


class HostChanged(Frame):
    """Another player is host."""

    e: Literal["host"] = "host"
    seat: int


class SettingsChanged(Frame):
    """The host picked other settings; nobody is ready any longer."""

    e: Literal["settings"] = "settings"
    settings: Settings
    board: BoardSize


class Preparing(Frame):
    """A guess-free board is being searched."""

    e: Literal["preparing"] = "preparing"


class Unprepared(Frame):
    """Back in the lobby: the search found no board in its time, or all racers left."""

    e: Literal["unprepared"] = "unprepared"
    reason: Literal["no_board", "stopped"]


class Countdown(Frame):
    """The countdown runs."""

    e: Literal["countdown"] = "countdown"
    race: RaceInfo
    go_at_ms: int


class Went(Frame):
    """Go."""

    e: Literal["go"] = "go"
    ends_at_ms: int


class RunEnded(Frame):
    """A player's run has ended: finished or out."""

    e: Literal["ended"] = "ended"
    seat: int
    status: Literal["finished", "out"]
    ms: int


class Stalled(Frame):
    """A failure of ours took ``ms``; they are on nobody's clock."""

    e: Literal["stalled"] = "stalled"
    ms: int


class Finished(Frame):
    """The race is over."""

    e: Literal["finished"] = "finished"
    result: Result


class Rematched(Frame):
    """Somebody asked for a rematch: back in the lobby, the old result stays on screen."""

    e: Literal["rematch"] = "rematch"
    seat: int
    round: int


RoomEvent = Annotated[
    Joined
    | Left
    | Renamed
    | Readied
    | Presence
    | HostChanged
    | SettingsChanged
    | Preparing
    | Unprepared
    | Countdown
    | Went
    | RunEnded
    | Stalled
    | Finished
    | Rematched,
    Field(discriminator="e"),
]
