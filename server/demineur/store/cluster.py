"""The link to a Redis Cluster: one lane for each master.

redis-py keeps the map of slots and the connections. Its own ``execute_command`` sends again
after failures and its pipelines refuse EVALSHA, so neither is used: commands go to a master in
one write through ``ClusterNode.execute_pipeline``. What a master answers for another is
looked at here: MOVED refreshes the map and leaves it to the caller to send again, by the lane
that is right then; ASK, which is about one key of a slot under way, is followed at once.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from redis.asyncio.cluster import ClusterNode, PipelineCommand, RedisCluster
from redis.cluster import get_node_name
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    MovedError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from demineur.store.keys import slot
from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.scripts import Command

logger = logging.getLogger(__name__)

NOWHERE = ""
"""The lane of keys whose master is not known yet."""

_WRONG_MAP = (MovedError, ClusterDownError, ConnectionError)


class ClusterLink:
    """A link to all masters of a Cluster.

    Whoever finds a master gone or the map of slots wrong asks for a new map then and there, so
    those who send to other masters never wait for it.
    """

    def __init__(self, cluster: RedisCluster) -> None:
        self._topology: Any = cluster.nodes_manager
        self._refreshing = asyncio.Lock()
        self._refreshes = 0

    def lane(self, key: str) -> str:  # noqa: D102
        nodes = self._topology.slots_cache.get(slot(key))
        return str(nodes[0].name) if nodes else NOWHERE

    def group(self, key: str) -> int:  # noqa: D102
        return slot(key)

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:  # noqa: D102
        replies = await self.send_here(lane, commands)
        for i, reply in enumerate(replies):
            target = self.asked(reply)
            if target is not None:
                master = self._topology.nodes_cache[target]
                replies[i] = (await self._pipeline(master, [("ASKING",), commands[i]]))[1]
        return replies

    async def send_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:  # noqa: D102
        seen = self._refreshes
        master = self._topology.nodes_cache.get(lane)
        if master is None:
            await self._refresh(seen)
            raise LinkBroken(LookupError("the slot's master was not known"), sent=False)
        try:
            replies = await self._pipeline(master, commands)
        except LinkBroken:
            await self._refresh(seen)
            raise
        if any(isinstance(reply, _WRONG_MAP) for reply in replies):
            await self._refresh(seen)
        return replies

    def asked(self, reply: Reply) -> str | None:  # noqa: D102
        if not isinstance(reply, AskError) or isinstance(reply, MovedError):
            return None
        name = str(get_node_name(reply.host, reply.port))
        return name if name in self._topology.nodes_cache else None

    async def renew(self, lane: str) -> None:  # noqa: D102
        await self._refresh(self._refreshes)

    async def close(self) -> None:  # noqa: D102
        await self._topology.aclose()
        await self._topology.aclose("startup_nodes")

    async def _pipeline(self, master: ClusterNode, commands: Sequence[Command]) -> list[Reply]:
        calls = [PipelineCommand(i, *command) for i, command in enumerate(commands)]
        try:
            await master.execute_pipeline(calls)
        except (AuthenticationError, AuthorizationError) as error:
            raise LinkForbidden(str(error)) from error
        except (RedisError, OSError) as error:
            raise LinkBroken(error, sent=True) from error
        return [_as_reply(call.result) for call in calls]

    async def _refresh(self, seen: int) -> None:
        """Ask the cluster for its map, unless somebody did since ``seen``.

        That it can't be had is no error of its own: the next try asks again.
        """
        async with self._refreshing:
            if self._refreshes != seen:
                return
            try:
                await self._topology.initialize()
            except (RedisError, RedisClusterException, OSError) as error:
                logger.debug("the cluster's map could not be had: %s", error)
            else:
                self._refreshes += 1


def open_cluster(hosts: Sequence[tuple[str, int]], options: dict[str, Any]) -> Link:
    """Return a link to the cluster that the hosts belong to; options as redis-py names them."""
    cluster = RedisCluster(
        startup_nodes=[ClusterNode(host, port) for host, port in hosts],
        # A part of the slots without a master must not stop the rooms of the other parts.
        require_full_coverage=False,
        **options,
    )
    # Replies as they are, like those of the other links; the map of slots needs its own parsed.
    for name in [name for name in cluster.response_callbacks if not name.startswith("CLUSTER")]:
        del cluster.response_callbacks[name]
    return ClusterLink(cluster)


def _as_reply(result: Any) -> Reply:
    if isinstance(result, Exception) and not isinstance(result, ResponseError | OSError):
        # The connection broke between two replies: what had none may have been executed.
        return ConnectionError(str(result))
    return result
