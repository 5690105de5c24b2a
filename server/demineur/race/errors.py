"""Why the race refuses a command. Nothing has changed when one of these is raised."""

from enum import StrEnum


class Reason(StrEnum):
    """The value is the code that the client is told."""

    ROOM_FULL = "room_full"
    RACE_RUNNING = "race_running"
    NOT_IN_ROOM = "not_in_room"
    NOT_HOST = "not_host"
    NOT_READY = "not_ready"
    WRONG_PHASE = "wrong_phase"
    BAD_SETTINGS = "bad_settings"
    OFF_BOARD = "off_board"
    NOT_RACING = "not_racing"
    RUN_OVER = "run_over"
    TOO_MANY_MOVES = "too_many_moves"


class Refused(Exception):  # noqa: N818 - the player's doing, not an error of ours
    """A command that the state does not allow; ``text`` may be shown to the player."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason.value}: {text}")
        self.reason = reason
        self.text = text


class BadLog(ValueError):  # noqa: N818
    """A log that cannot be folded: not written by this program, or damaged."""
