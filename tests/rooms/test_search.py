"""The search's child: it answers what was asked, and never what was asked before."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from demineur.engine import LEVELS, Layout, is_guess_free
from demineur.rooms.search import BoardSearch

SEEDS = [f"{i:032x}" for i in range(1, 4)]


@pytest.fixture
async def search() -> AsyncIterator[BoardSearch]:
    search = BoardSearch()
    yield search
    await search.close()


def smallest(level: str, seed: str, marked: int) -> int:
    """The smallest attempt, by trying them all."""
    kind, attempt = LEVELS[level], 0
    while True:
        layout = Layout(kind.geometry, kind.mines, bytes.fromhex(seed), attempt)
        if is_guess_free(layout.board(marked), marked):
            return attempt
        attempt += 1


async def test_searches_are_answered_each(search: BoardSearch) -> None:
    found = await asyncio.gather(*(search.find("beginner", seed, 40) for seed in SEEDS))
    assert found == [smallest("beginner", seed, 40) for seed in SEEDS]


async def test_who_gives_up_does_not_leave_the_answer_to_the_next(search: BoardSearch) -> None:
    asked = asyncio.ensure_future(search.find("marathon", SEEDS[0], 0))
    while search._child is None:
        await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    for seed in SEEDS:
        assert await search.find("beginner", seed, 0) == smallest("beginner", seed, 0)


async def test_a_child_that_dies_costs_its_search_only(search: BoardSearch) -> None:
    assert await search.find("beginner", SEEDS[0], 40) is not None
    assert search._child is not None
    pid = search._child.pid
    os.kill(pid, signal.SIGKILL)
    lost = await search.find("beginner", SEEDS[0], 40)
    assert lost is None or lost == smallest("beginner", SEEDS[0], 40)
    found = await search.find("beginner", SEEDS[1], 40)
    assert found == smallest("beginner", SEEDS[1], 40)
    assert search._child is not None
    assert search._child.pid != pid
