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


class ClusterLink:
    """A link to all masters of a Cluster."""

    def __init__(self, cluster: RedisCluster) -> None:
        self._topology: Any = cluster.nodes_manager
        self._refreshing = asyncio.Lock()
        self._stale = True

    def lane(self, key: str) -> str:  # noqa: D102
        nodes = self._topology.slots_cache.get(slot(key))
        return str(nodes[0].name) if nodes else NOWHERE

    def group(self, key: str) -> int:  # noqa: D102
        return slot(key)

    async def send(self, lane: str, commands: Sequence[Command]) -> list[Reply]:  # noqa: D102
        if self._stale:
            await self._refresh()
        master = self._topology.nodes_cache.get(lane)
        if master is None:
            raise LinkBroken(KeyError("the slot's master has changed"), sent=False)
        replies = await self._pipeline(master, commands)
        for i, reply in enumerate(replies):
            if isinstance(reply, AskError) and not isinstance(reply, MovedError):
                replies[i] = await self._ask(reply, commands[i])
        if any(isinstance(reply, MovedError | ClusterDownError) for reply in replies):
            self._stale = True
        return replies

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
            self._stale = True
            raise LinkBroken(error, sent=True) from error
        replies = [call.result for call in calls]
        for reply in replies:
            if isinstance(reply, Exception) and not isinstance(reply, ResponseError):
                # The connection broke: what had no reply yet may have been executed.
                self._stale = True
                break
        return [_as_reply(reply) for reply in replies]

    async def _ask(self, ask: AskError, command: Command) -> Reply:
        target = self._topology.nodes_cache.get(get_node_name(ask.host, ask.port))
        if target is None:
            self._stale = True
            return ask
        return (await self._pipeline(target, [("ASKING",), command]))[1]

    async def _refresh(self) -> None:
        """Ask the cluster who is master of what; callers meanwhile wait for the one answer."""
        async with self._refreshing:
            if not self._stale:
                return
            try:
                await self._topology.initialize()
            except (RedisError, RedisClusterException, OSError) as error:
                raise LinkBroken(error, sent=False) from error
            self._stale = False


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
        return ConnectionError(str(result))
    return result
