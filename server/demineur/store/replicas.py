"""Writes that count only when replicas hold them too, so that a failover takes nothing back.

Law of this file: replies are given out only when, at the server that made them, as many
replicas as are wanted and connected hold all that it has written. Otherwise the link counts as
broken, and what was sent may have been done: who sends it again must be able to tell.

Each write ends with ``ROLE`` and ``WAIT`` in the same pipeline, so it costs one round trip and a
batch waits once. ``ROLE`` comes after the writes: it tells how many replicas there were then, and
only that many are waited for. So where the replica is gone the master alone goes on.

``WAIT`` is about what its own connection wrote. Whoever finds an earlier write of its own done
must write something (``MARK``) before the replies to that mean anything.
"""

import logging
from collections.abc import Sequence

from demineur.store.link import Link, LinkBroken, LinkForbidden, Reply
from demineur.store.replies import code_of
from demineur.store.scripts import MARK, Command

logger = logging.getLogger(__name__)

WAIT_MS = 100
"""How long ``WAIT`` holds a connection up. A replica answers within a round trip; one that was
lost meanwhile is noticed only by asking again."""


class Replicas:
    """Sends writes over a link and waits for the replicas behind it.

    ``wanted`` is how many are waited for where there are so many; 0 waits for none and costs
    nothing. With ``tells`` a change of their number is logged.
    """

    def __init__(self, link: Link, wanted: int, *, tells: bool = True) -> None:
        self._link = link
        self._tells = tells
        self._expected: dict[str, int] = {}
        self.wanted = wanted

    async def write(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        """Send like ``Link.send``; return when the replicas hold it.

        Raises ``LinkBroken`` with ``sent`` also where they do not hold it after ``WAIT_MS``.
        """
        if self.wanted == 0:
            return await self._link.send(lane, commands)
        replies = await self._write_here(lane, commands)
        for i, reply in enumerate(replies):
            other = self._link.asked(reply)
            if other is not None:
                replies[i] = (await self._write_here(other, [("ASKING",), commands[i]]))[1]
        return replies

    async def _write_here(self, lane: str, commands: Sequence[Command]) -> list[Reply]:
        expected = self._expected.get(lane, self.wanted)
        tail: list[Command] = [("ROLE",)]
        if expected:
            tail.append(("WAIT", expected, WAIT_MS))
        replies = await self._link.send_here(lane, [*commands, *tail])
        replies, [role, *waited] = replies[: len(commands)], replies[len(commands) :]
        if not all(isinstance(reply, Exception) for reply in replies):
            await self._judge(lane, expected, role, waited)
        return replies

    async def _judge(self, lane: str, expected: int, role: Reply, waited: Sequence[Reply]) -> None:
        for reply in (role, *waited):
            if isinstance(reply, Exception):
                if code_of(reply) == "NOPERM":
                    raise LinkForbidden(str(reply))
                raise LinkBroken(reply, sent=True)
        if role[0] != b"master":
            raise LinkBroken(LookupError("the server is no master any more"), sent=True)
        connected = min(self.wanted, len(role[2]))
        if connected < expected:
            # A master that was taken for dead and is back has no replicas either: before this
            # one is believed alone, those who know are asked whether it still is the master.
            await self._link.renew(lane)
        if connected != self._expected.get(lane, self.wanted):
            self._expected[lane] = connected
            self._tell(lane, connected)
        if connected < expected or connected > sum(waited):
            raise LinkBroken(TimeoutError("the replicas do not hold it yet"), sent=True)

    def _tell(self, lane: str, connected: int) -> None:
        if not self._tells:
            return
        where = f"Redis {lane}".rstrip()
        if connected < self.wanted:
            logger.warning(
                "%s has %d of %d replicas connected: a failover now may lose answered moves",
                where,
                connected,
                self.wanted,
            )
        else:
            logger.warning("%s has %d replicas connected again", where, connected)


def mark(lease: str) -> Command:
    """Return a write that changes nothing; its reply is 1 if the key of the lease is there."""
    return MARK.whole(MARK.command([lease], []))
