"""The Lua scripts: read from the package once, sent by their hash.

Each ``.lua`` file opens with its KEYS, ARGV, units and what it returns.
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files

Argument = str | bytes | int
Command = tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A script and its SHA-1, by which Redis knows it."""

    name: str
    source: str
    sha: str

    def command(self, keys: list[str], arguments: list[Argument]) -> Command:
        """Return the EVALSHA that runs it."""
        return ("EVALSHA", self.sha, len(keys), *keys, *arguments)

    def whole(self, command: Command) -> Command:
        """Return the same call with the source, for a Redis that does not know the script.

        Redis keeps what EVAL ran, so the next EVALSHA finds it: no SCRIPT LOAD, which in a
        Cluster would have to go to each master.
        """
        return ("EVAL", self.source, *command[2:])


def _read(name: str) -> Script:
    source = files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")
    return Script(name, source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


APPEND = _read("append")
ACQUIRE = _read("acquire")
RELEASE = _read("release")
MARK = _read("mark")
BEAT = _read("beat")
PLAYER_TOUCH = _read("player_touch")
LOBBY_PUT = _read("lobby_put")
LOBBY_LIST = _read("lobby_list")
