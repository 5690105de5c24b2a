"""The way to Redis: commands out, replies back, and what is known when none comes.

Law of this file: nothing is ever sent twice by itself. redis-py brings connections, TLS,
authentication and Sentinel's and Cluster's view of who is master; its own retries are off,
because a command that was sent and not answered may have been executed, and only the caller
knows whether sending it again does harm.

A link has *lanes*: one for each server that may be sent to at the same time. Standalone and
Sentinel have one; a Cluster has one for each master (see ``cluster.py``).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

import hiredis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from demineur.store.scripts import Command

Reply = Any
"""What a command gave: bytes, int, list, None; or the exception that it ended with."""


_pack = cast("Callable[[Command], bytes]", hiredis.pack_command)
"""redis-py's asyncio connections pack in Python, 0.4 µs a word; this is C, 0.05 µs."""


class LinkBroken(Exception):  # noqa: N818 (a state of the link, not yet anybody's error)
    """No replies. ``sent`` tells whether the commands may have been, or may be, executed."""

    def __init__(self, cause: BaseException, *, sent: bool) -> None:
        super().__init__(str(cause) or type(cause).__name__)
        self.sent = sent


class LinkForbidden(Exception):  # noqa: N818
    """Redis does not let this user in, or do this."""


class Link(Protocol):
    """What the rest of the store sends through."""

    def lane(self, key: str) -> str:
        """Return the lane that now leads to the server of a key."""

    def group(self, key: str) -> int:
        """Return what one script call can span: keys of one group, and no others."""

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        """Send the commands in one write on one connection and return a reply for each.

        Not atomic. A command that Redis refuses gives its exception as its reply. Raises
        ``LinkBroken`` where there are no replies, ``LinkForbidden`` for a wrong password.
        """

    async def send_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        """Send like ``send``, but leave an ASK to the caller: all replies are of one server."""

    def asked(self, reply: Reply) -> str | None:
        """Return the lane that an ASK names, where the key is for now; None for any other."""

    async def renew(self, lane: str) -> None:
        """Find out anew who is master before anything else is sent; never fails."""

    async def close(self) -> None:
        """Close all connections."""


class PoolLink:
    """A link to the one server that a redis-py pool leads to, Sentinel's master included."""

    def __init__(self, pool: Any, *closers: Callable[[], Awaitable[object]]) -> None:
        self._pool = pool
        self._closers = closers

    def lane(self, key: str) -> str:  # noqa: D102
        return ""

    def group(self, key: str) -> int:  # noqa: D102
        return 0

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:  # noqa: D102
        try:
            connection = await self._pool.get_connection()
        except (AuthenticationError, AuthorizationError, NoPermissionError) as error:
            raise LinkForbidden(str(error)) from error
        except (RedisError, OSError) as error:
            raise LinkBroken(error, sent=False) from error
        try:
            return await _exchange(connection, commands)
        finally:
            await self._pool.release(connection)

    async def send_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:  # noqa: D102
        return await self.send(lane, commands)

    def asked(self, reply: Reply) -> str | None:  # noqa: D102
        return None

    async def renew(self, lane: str) -> None:  # noqa: D102
        # With Sentinel, each new connection asks it; those in use are not trusted longer either,
        # because they end in this very state.
        with contextlib.suppress(RedisError, OSError):
            await self._pool.disconnect(inuse_connections=False)

    async def close(self) -> None:  # noqa: D102
        await self._pool.disconnect()
        for close in self._closers:
            await close()


async def _exchange(connection: Any, commands: Sequence[Command]) -> list[Reply]:
    replies: list[Reply] = []
    try:
        await connection.send_packed_command([_pack(command) for command in commands])
        for _ in commands:
            try:
                replies.append(await connection.read_response())
            except ResponseError as refusal:
                replies.append(refusal)
    except (AuthenticationError, AuthorizationError) as error:
        raise LinkForbidden(str(error)) from error
    except BusyLoadingError as error:
        raise LinkBroken(error, sent=bool(replies)) from error
    except (RedisError, OSError, asyncio.IncompleteReadError) as error:
        raise LinkBroken(error, sent=True) from error
    return replies
