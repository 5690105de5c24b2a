"""Players and the tokens that prove who they are.

A token is ``<player id>.<secret>``. Redis holds only the SHA-256 of the secret: who reads
Redis can't act as anybody. A plain hash is enough, because the secret is 256 random bits and
not a password that could be guessed.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from demineur.store.calls import Caller
from demineur.store.clock import RedisClock
from demineur.store.keys import player_key
from demineur.store.scripts import PLAYER_TOUCH, Argument
from demineur.store.settings import DAY_MS, StoreSettings

_TOKEN = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who has been here before."""

    id: str
    name: str
    created_ms: int
    seen_ms: int
    """When last seen, to the day."""


class Players:
    """Makes players and knows them again."""

    def __init__(self, caller: Caller, clock: RedisClock, settings: StoreSettings) -> None:
        self._caller = caller
        self._clock = clock
        self._settings = settings

    async def create(self, name: str) -> tuple[str, str]:
        """Make a player and return the id and the token, which is never to be had again."""
        player, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        key, now_ms = player_key(player), self._clock.now_ms()
        fields = ("name", name, "token_hash", _digest(secret))
        times = ("created_ms", now_ms, "seen_ms", now_ms)
        await self._caller.write(
            key,
            [("HSET", key, *fields, *times), ("PEXPIRE", key, self._settings.newcomer_ttl_ms)],
            held=True,
        )
        return player, f"{player}.{secret}"

    async def by_token(self, token: str) -> Player | None:
        """Return whom a token belongs to; None for any token that is not right."""
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        player, secret = match.groups()
        key = player_key(player)
        known = await self._caller.read(
            key, "HMGET", key, "token_hash", "name", "created_ms", "seen_ms"
        )
        if not hmac.compare_digest(known[0] or b"", _digest(secret).encode()):
            return None
        found = Player(player, known[1].decode(), int(known[2]), int(known[3]))
        now_ms = self._clock.now_ms()
        if now_ms - found.seen_ms > DAY_MS:
            await self._touch(player, now_ms, self._settings.player_ttl_ms, "")
        return found

    async def rename(self, player: str, name: str) -> bool:
        """Change a player's name; False where there is no such player."""
        return await self._touch(player, "", "", name)

    async def _touch(self, player: str, now_ms: int | str, ttl_ms: int | str, name: str) -> bool:
        arguments: list[Argument] = [now_ms, ttl_ms, name]
        return bool(await self._caller.run(PLAYER_TOUCH, [player_key(player)], arguments))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
