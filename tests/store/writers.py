"""Writers who append without a pause and keep what they were told, to compare with the log."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

from demineur.store import Store, StoreError
from tests.store.conftest import begin

TTL_MS = 600_000
PATIENCE_S = 20.0


async def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.005)


class Writer:
    """Appends to one room without a pause, each event its own version, and keeps the answers."""

    def __init__(self, store: Store, code: str, epoch: int, padding: bytes = b"") -> None:
        self.store, self.code, self.epoch, self.padding = store, code, epoch, padding
        self.stored: list[bytes] = []
        self.errors: list[StoreError] = []
        self.longest_s = 0.0
        self._going = True

    async def run(self) -> None:
        while self._going and not self.errors:
            event = b"%s %d %s" % (self.code.encode(), len(self.stored) + 1, self.padding)
            began = time.monotonic()
            try:
                await self.store.append(
                    self.code, self.epoch, len(self.stored) + 1, [event], ttl_ms=TTL_MS
                )
            except StoreError as error:
                self.errors.append(error)
            else:
                self.stored.append(event)
            self.longest_s = max(self.longest_s, time.monotonic() - began)

    def stop(self) -> None:
        self._going = False


@contextlib.asynccontextmanager
async def writing(store: Store, *codes: str, padding: bytes = b"") -> AsyncIterator[list[Writer]]:
    """Writers that are under way while the block runs, and are done at its end."""
    writers = [Writer(store, code, (await begin(store, code)).epoch, padding) for code in codes]
    async with asyncio.TaskGroup() as tasks:
        for writer in writers:
            tasks.create_task(writer.run())
        await until(lambda: all(len(w.stored) > 5 for w in writers), "a first few events")
        try:
            yield writers
        finally:
            for writer in writers:
                writer.stop()


async def progress(writers: list[Writer], count: int = 5) -> None:
    """Wait until each writer has stored some more, or has failed."""
    goals = [len(w.stored) + count for w in writers]
    await until(
        lambda: all(w.errors or len(w.stored) >= g for w, g in zip(writers, goals, strict=True)),
        "progress",
    )


async def assert_nothing_lost(writers: list[Writer]) -> None:
    for writer in writers:
        assert writer.errors == []
        assert await writer.store.load(writer.code) == writer.stored
