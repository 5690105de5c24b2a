"""A real server and a real Chromium for the browser's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from tests.server_process import ServerProcess

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for the tests of a file."""
    with ServerProcess(tmp_path_factory.mktemp("server")) as process:
        yield process.start().ready()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A Chromium of the test's own."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        await opened.close()


class People:
    """Browsers of people who do not share an identity; what goes wrong in one is remembered."""

    def __init__(self, browser: Browser, base: str, shots: Path) -> None:
        self._browser = browser
        self.base = base
        self.shots = shots
        self.contexts: list[BrowserContext] = []
        self.wrong: list[str] = []
        self.expected: tuple[str, ...] = ()
        """Parts of what the console may say: a server that is gone makes it speak."""

    async def arrive(self, path: str = "/", *, name: str = "", **device: Any) -> Page:
        """A new person's page."""
        context = await self._browser.new_context(**(device or DESK))
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        return await self.open(context, path, name=name)

    async def open(self, context: BrowserContext, path: str, *, name: str = "") -> Page:
        """Another tab of the same person."""
        page = await context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("request", lambda request: self._watch(request.url))
        if name:
            await page.add_init_script(
                f"localStorage.getItem('demineur.name') ?? "
                f"localStorage.setItem('demineur.name', '{name}')"
            )
        await page.goto(self.base + path)
        return page

    def _hear(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not any(part in text for part in self.expected):
            self.wrong.append(f"{kind}: {text}")

    def _watch(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.base).netloc:
            self.wrong.append(f"a request elsewhere: {url}")

    async def shoot(self, page: Page, stage: str) -> None:
        """A picture of a stage, for people to look at."""
        self.shots.mkdir(exist_ok=True)
        await page.screenshot(path=self.shots / f"{stage}.png")


@pytest.fixture
async def people(browser: Browser, server: ServerProcess, tmp_path: Path) -> AsyncIterator[People]:
    """People at the server; in the end nothing may have gone wrong in any of their browsers."""
    crowd = People(browser, f"http://127.0.0.1:{server.port}", tmp_path / "shots")
    yield crowd
    for context in crowd.contexts:
        await context.close()
    assert crowd.wrong == []
