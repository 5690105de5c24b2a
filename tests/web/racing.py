"""Drives the web client as a person does: it reads what a page was sent, and clicks.

`window.demineur.look()` gives the client's own state, which holds only what the server has told
it; so a player here knows no more than the person at that page would.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from playwright.async_api import Page

from demineur.engine import View, geometry
from demineur.engine.player import Action, Move, Player, Style

READ_RUN = """() => {
  const { state, screen, mayMove } = window.demineur.look() ?? {};
  const room = state?.room;
  const run = room?.run;
  return {
    screen,
    mayMove,
    phase: room?.phase,
    status: run?.status,
    waiting: run?.waiting.length,
    width: run?.size.width, height: run?.size.height, mines: run?.size.mines,
    cells: run && Array.from(run.cells),
    flags: run && Array.from(run.flags),
    marked: room?.race?.marked,
    flagMode: state?.flagMode,
    code: state?.code,
  };
}"""

ANSWERED = "() => window.demineur.look()?.state.room?.run?.waiting.length === 0"
HIDDEN = 10
MINE_HIT = 9


async def read(page: Page) -> dict[str, Any]:
    """What the page knows of its own run."""
    known: dict[str, Any] = await page.evaluate(READ_RUN)
    return known


def view_of(known: dict[str, Any]) -> View:
    """The same as the engine's players see it."""
    shape = geometry(known["width"], known["height"])
    view = View.empty(shape, known["mines"])
    marks = "012345678*"
    view.add(
        (cell, marks[content]) for cell, content in enumerate(known["cells"]) if content != HIDDEN
    )
    for cell, flagged in enumerate(known["flags"]):
        if flagged:
            view.flag(cell)
    return view


LOCATE = """cell => {
  const box = document.querySelector(".board").getBoundingClientRect();
  const place = window.demineur.look().locate(cell);
  const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
  const within = (by, room) => Math.max(-room / 2.5, Math.min(room / 2.5, by));
  const dx = within(middle.x - place.x, box.width);
  const dy = within(middle.y - place.y, box.height);
  return { ...place, dx, dy, middle };
}"""


async def point(page: Page, cell: int) -> tuple[float, float]:
    """Where a cell lies in the window; drags bring it into sight where it is not."""
    for _ in range(12):
        place = await page.evaluate(LOCATE, cell)
        if place["inside"]:
            return place["x"], place["y"]
        x, y = place["middle"]["x"], place["middle"]["y"]
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x + place["dx"], y + place["dy"], steps=4)
        await page.mouse.up()
    raise AssertionError(f"cell {cell} could not be brought into sight")


async def click(page: Page, cell: int, button: Any = "left") -> None:
    """A click of the mouse on a cell."""
    x, y = await point(page, cell)
    await page.mouse.click(x, y, button=button)


async def answered(page: Page) -> None:
    """Waits until the server has answered every move."""
    await page.wait_for_function(ANSWERED)


async def wait_for_screen(page: Page, screen: str, timeout_ms: int = 15_000) -> None:
    """Waits for one of the client's screens: lobby, race, result…"""
    await page.wait_for_function(
        "screen => window.demineur.look()?.screen === screen", arg=screen, timeout=timeout_ms
    )


async def wait_for_go(page: Page) -> None:
    """Waits until moves count."""
    await page.wait_for_function("() => window.demineur.look()?.mayMove", timeout=20_000)


class Clicker:
    """Plays a page's run with real clicks, by logic, guessing only where logic ends."""

    def __init__(self, page: Page, seed: int = 1) -> None:
        self.page = page
        self._player: Player | None = None
        self._seed = seed

    async def think(self) -> Move | None:
        """The next move; None when the run has ended or no move is left."""
        known = await read(self.page)
        if known["status"] not in {"ready", "playing"}:
            return None
        if self._player is None:
            middle = (known["height"] // 2) * known["width"] + known["width"] // 2
            start = middle if known["marked"] is None else known["marked"]
            self._player = Player(Style(pace_ms=0), random.Random(self._seed), start=start)
        return self._player.next(view_of(known))

    async def make(self, move: Move) -> None:
        """Clicks a move, and waits for its answer."""
        await click(self.page, move.cell, "right" if move.action is Action.FLAG else "left")
        await answered(self.page)

    async def play(self, moves: int = 10_000) -> int:
        """Makes up to so many moves; says how many it made."""
        for made in range(moves):
            move = await self.think()
            if move is None:
                return made
            await self.make(move)
        return moves

    async def until(self, wanted: Callable[[Move, dict[str, Any]], bool]) -> Move:
        """Plays up to the first move that is wanted, and returns that one unmade."""
        while True:
            move = await self.think()
            assert move is not None, "the run ended before such a move came up"
            if wanted(move, await read(self.page)):
                return move
            await self.make(move)

    async def lose(self) -> None:
        """Plays until a mine is proved, and opens it."""
        move = await self.until(lambda move, _: move.action is Action.FLAG)
        await click(self.page, move.cell)
        await answered(self.page)


def is_chord(move: Move, known: dict[str, Any]) -> bool:
    """Whether a move is a tap on an open number."""
    return move.action is Action.TAP and known["cells"][move.cell] != HIDDEN
