"""Ending a task of our own for certain."""

import asyncio

INSIST_S = 0.05


async def end(task: "asyncio.Task[None] | None") -> None:
    """Cancel a task and wait until it has ended; None is no task.

    Before Python 3.12 ``asyncio.wait_for``, which redis-py writes through, drops a cancellation
    that arrives in the turn in which it is done. So it is cancelled again until it ends.
    """
    if task is None:
        return
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=INSIST_S)
    if not task.cancelled():
        task.result()
