"""Whole races between pages of the web client, with real clicks, against a real server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, WebSocketRoute, expect

from demineur.engine.player import Action
from tests.server_process import ServerProcess
from tests.web.conftest import PHONE, People
from tests.web.racing import (
    HIDDEN,
    MINE_HIT,
    Clicker,
    answered,
    click,
    is_chord,
    read,
    wait_for_go,
    wait_for_screen,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


async def create(page: Page, level: str = "beginner", *options: str) -> str:
    """Creates a race on the start page as a person does; returns the room's code."""
    await page.locator(f".levels .choice:has(input[value={level}])").click()
    if options:
        await page.locator("details.more summary").click()
    for option in options:
        await page.locator(".create .toggle, .create .choice").filter(has_text=option).first.click()
    await page.get_by_role("button", name="Create race").click()
    await wait_for_screen(page, "lobby")
    return str((await read(page))["code"])


async def start(host: Page, *others: Page) -> None:
    """Everybody gets ready, the host starts; returns when moves count."""
    for other in others:
        await other.get_by_role("button", name="I’m ready").click()
    await host.get_by_role("button", name="Start the race" if others else "Start alone").click()
    for page in (host, *others):
        await wait_for_go(page)


async def test_a_whole_race_won_and_lost_and_a_rematch(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await people.shoot(ann, "1-home")
    code = await create(ann, "intermediate", "No guessing", "Show in open races")
    bob = await people.arrive(name="Bob")
    await bob.get_by_role("button", name="Ann").click()
    await wait_for_screen(bob, "lobby")
    assert code in bob.url
    await people.shoot(ann, "2-lobby-host")
    await people.shoot(bob, "2-lobby-guest")

    await bob.get_by_role("button", name="I’m ready").click()
    await ann.get_by_role("button", name="Start the race").click()
    await wait_for_screen(bob, "race")
    await expect(bob.locator(".overlay-big")).to_have_text("2", timeout=30_000)
    await people.shoot(bob, "3-countdown")
    await wait_for_go(ann)
    await wait_for_go(bob)

    winner, loser = Clicker(ann), Clicker(bob, seed=2)
    await winner.play(8)
    await loser.lose()
    await expect(bob.locator(".race-status")).to_contain_text("You hit a mine.")
    await expect(ann.locator(".progress-row").nth(1)).to_contain_text("Out")
    known = await read(bob)
    assert known["status"] == "lost"
    assert MINE_HIT in known["cells"]
    await people.shoot(ann, "4-race")
    await people.shoot(bob, "4-race-out")

    await winner.play()
    await wait_for_screen(ann, "result")
    await wait_for_screen(bob, "result")
    await expect(ann.get_by_role("heading", level=1)).to_contain_text("You win!")
    await expect(bob.get_by_role("heading", level=1)).to_contain_text("Ann wins")
    for page in (ann, bob):
        rows = page.get_by_role("row")
        await expect(rows.nth(1)).to_contain_text("Ann")
        await expect(rows.nth(1)).to_contain_text("Cleared")
        await expect(rows.nth(2)).to_contain_text("Hit a mine")
        await expect(page.locator(".fair")).to_have_attribute("data-state", "verified")
        await expect(page.locator(".fair-list li")).to_have_count(3)
    await people.shoot(ann, "5-result")
    await check_by_command_line(ann, people.shots / "saved.json")
    await check_by_command_line(bob, people.shots / "saved.json")
    await bob.locator(".boards .choice", has_text="Ann").click()
    await expect(bob.locator(".fair-repeat")).to_contain_text("the board of Ann")
    await people.shoot(bob, "5-result-of-ann")

    await bob.get_by_role("button", name="Rematch").click()
    await expect(ann.locator(".again .hint")).to_have_text(
        "1 of 2 want a rematch. They wait for you."
    )
    await expect(bob.locator(".again .hint")).to_have_text(
        "1 of 2 want a rematch. Waiting for Ann."
    )
    await expect(bob.get_by_role("button", name="Waiting for the others")).to_be_disabled()
    await people.shoot(bob, "6-rematch")
    await ann.get_by_role("button", name="Rematch").click()
    await wait_for_go(ann)
    await wait_for_go(bob)
    fresh = await read(ann)
    assert (fresh["status"], set(fresh["cells"])) == ("ready", {HIDDEN})


async def check_by_command_line(page: Page, path: Path) -> None:
    """The command that the page shows lays a board, and the run that it saves holds."""
    program = str(Path(sys.executable).with_name("demineur"))
    shown = await page.locator(".fair-command code").inner_text()
    name, *arguments = shown.split()
    assert name == "demineur"
    laid = await asyncio.to_thread(subprocess.run, [program, *arguments], capture_output=True)
    assert laid.returncode == 0, laid.stderr
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Save run").click()
    await (await download.value).save_as(path)
    held = await asyncio.to_thread(
        subprocess.run, [program, "verify", str(path)], capture_output=True, text=True
    )
    assert held.returncode == 0, held.stdout + held.stderr
    assert "1 run: all that is recorded holds (2 results" in held.stdout


async def test_a_race_that_everybody_loses(people: People) -> None:
    ann = await people.arrive(name="Ann")
    code = await create(ann, "intermediate", "No guessing")
    bob = await people.arrive(f"/r/{code}", name="Bob")
    await wait_for_screen(bob, "lobby")
    await start(ann, bob)
    for page in (ann, bob):
        await Clicker(page).lose()
    await wait_for_screen(ann, "result")
    await expect(ann.get_by_role("heading", level=1)).to_have_text("Nobody cleared the board")
    await expect(ann.locator(".fair")).to_have_attribute("data-state", "verified")
    await people.shoot(ann, "lost")


async def test_mines_cost_time_where_the_host_says_so(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "intermediate", "No guessing", "10 s penalty")
    await start(ann)
    await Clicker(ann).lose()
    await expect(ann.locator(".overlay[data-kind=frozen]")).to_be_visible()
    known = await read(ann)
    assert (known["status"], known["mayMove"]) == ("playing", False)
    hidden = known["cells"].index(HIDDEN)
    await click(ann, hidden, "right")
    assert (await read(ann))["waiting"] == 0, "a move in a penalty is not even sent"
    await people.shoot(ann, "frozen")
    await wait_for_go(ann)
    await expect(ann.locator(".overlay")).to_be_hidden()
    await click(ann, hidden, "right")
    await answered(ann)
    assert (await read(ann))["flags"][hidden] == 1


async def test_the_server_is_killed_and_comes_back(
    browser: Browser, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with ServerProcess(tmp_path_factory.mktemp("mortal")) as server:
        server.start().ready()
        people = People(browser, f"http://127.0.0.1:{server.port}", tmp_path / "shots")
        people.expected = ("WebSocket", "ERR_CONNECTION")
        ann = await people.arrive(name="Ann")
        await create(ann, "intermediate", "No guessing")
        await start(ann)
        clicker = Clicker(ann)
        await clicker.play(6)
        before = await read(ann)
        hidden = [
            c for c, v in enumerate(before["cells"]) if v == HIDDEN and not before["flags"][c]
        ]

        server.kill()
        await expect(ann.locator(".banner")).to_be_visible()
        await click(ann, hidden[-1], "right")
        assert (await read(ann))["waiting"] == 1
        await people.shoot(ann, "reconnecting")
        stopped_ms = await ann.evaluate("performance.now()")
        server.start().ready()
        await expect(ann.locator(".banner")).to_be_hidden()
        await answered(ann)
        outage_ms = await ann.evaluate("performance.now()") - stopped_ms

        after = await read(ann)
        assert after["cells"] == before["cells"]
        assert after["flags"][hidden[-1]] == 1, "what was tapped meanwhile counts"
        shown = float((await ann.locator(".gauge-clock .hud-value").inner_text()).replace("\n", ""))
        assert shown * 1000 < outage_ms + 5_000
        await click(ann, hidden[-1], "right")
        await answered(ann)
        await clicker.play()
        await wait_for_screen(ann, "result")
        await expect(ann.get_by_role("heading", level=1)).to_contain_text("You win!")
        assert people.wrong == []


WATCH_BANNER = """() => {
  const banner = document.querySelector(".banner");
  const seen = () => { window.bannerSeen ||= !banner.hidden; };
  new MutationObserver(seen).observe(banner, { attributes: true });
}"""


class SilentLine:
    """A page's websockets, which can fall silent without anybody being told."""

    def __init__(self) -> None:
        self.silent: list[WebSocketRoute] = []
        self.opened: list[WebSocketRoute] = []

    def take(self, page_side: WebSocketRoute) -> None:
        """Stands between a page and the server."""
        server_side = page_side.connect_to_server()
        self.opened.append(page_side)
        page_side.on_message(lambda said: self._pass(page_side, server_side, said))
        server_side.on_message(lambda said: self._pass(page_side, page_side, said))

    def _pass(self, line: WebSocketRoute, to: WebSocketRoute, said: str | bytes) -> None:
        if line not in self.silent:
            to.send(said)


async def test_a_line_that_died_without_a_word_is_found_out_by_a_move(people: People) -> None:
    ann = await people.arrive(name="Ann")
    line = SilentLine()
    await ann.route_web_socket("**/ws/*", line.take)
    await ann.reload()
    await create(ann, "intermediate", "No guessing")
    await start(ann)
    clicker = Clicker(ann)
    await clicker.play(3)
    line.silent = [*line.opened]
    await ann.evaluate(WATCH_BANNER)
    move = await clicker.think()
    assert move is not None
    await click(ann, move.cell, "right" if move.action is Action.FLAG else "left")
    await ann.wait_for_function("() => window.bannerSeen", timeout=9_000)
    await answered(ann)
    await expect(ann.locator(".banner")).to_be_hidden()
    assert len(line.opened) == len(line.silent) + 1
    await clicker.play()
    await wait_for_screen(ann, "result")
    await expect(ann.get_by_role("button", name="Save run")).to_be_visible()


async def test_a_page_that_is_loaded_again_has_the_same_run(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "intermediate", "No guessing")
    await start(ann)
    clicker = Clicker(ann)
    await clicker.play(5)
    before = await read(ann)
    await ann.reload()
    await wait_for_go(ann)
    after = await read(ann)
    assert (after["cells"], after["flags"]) == (before["cells"], before["flags"])
    await clicker.play()
    await wait_for_screen(ann, "result")
    await expect(ann.locator(".fair")).to_have_attribute("data-state", "verified")
    await expect(ann.get_by_role("button", name="Copy command")).to_be_visible()
    await expect(ann.get_by_role("button", name="Save run")).to_have_count(0)
    await ann.reload()
    await wait_for_screen(ann, "result")
    await expect(ann.locator(".fair")).to_have_attribute("data-state", "verified")


async def test_buttons_of_the_mouse_chord(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "expert", "No guessing")
    await start(ann)
    clicker = Clicker(ann)
    for how in ("left", "middle", "both"):
        move = await clicker.until(is_chord)
        before = (await read(ann))["cells"]
        if how == "both":
            await click_both(ann, move.cell)
        else:
            await click(ann, move.cell, how)
        await answered(ann)
        opened = [a for a, b in zip((await read(ann))["cells"], before, strict=True) if a != b]
        assert opened, how


async def click_both(page: Page, cell: int) -> None:
    """Left and right together, on an open number."""
    place = await page.evaluate("cell => window.demineur.look().locate(cell)", cell)
    await page.mouse.move(place["x"], place["y"])
    await page.mouse.down(button="left")
    await page.mouse.down(button="right")
    await page.mouse.up(button="left")
    await page.mouse.up(button="right")


async def test_both_buttons_open_no_hidden_cell_and_drags_do_nothing(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "intermediate", "No guessing")
    await start(ann)
    await Clicker(ann).play(1)
    before = await read(ann)
    hidden = before["cells"].index(HIDDEN)
    await click_both(ann, hidden)
    place = await ann.evaluate("cell => window.demineur.look().locate(cell)", hidden)
    await ann.mouse.move(place["x"], place["y"])
    await ann.mouse.down()
    await ann.mouse.move(place["x"] + 200, place["y"] + 90, steps=5)
    await ann.mouse.up()
    await answered(ann)
    assert (await read(ann))["cells"] == before["cells"]


async def test_flag_mode(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "intermediate", "No guessing")
    await start(ann)
    mode = ann.get_by_role("button", name="Flag mode")
    await expect(mode).to_be_disabled()
    clicker = Clicker(ann)
    await clicker.play(1)
    await mode.click()
    await expect(mode).to_have_attribute("aria-pressed", "true")
    await people.shoot(ann, "flag-mode")
    hidden = (await read(ann))["cells"].index(HIDDEN)
    for flagged in (1, 0):
        await click(ann, hidden)
        await answered(ann)
        assert (await read(ann))["flags"][hidden] == flagged
    await ann.keyboard.press("m")
    await expect(mode).to_have_attribute("aria-pressed", "false")


async def test_keys_play_and_say_what_is_there(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann, "beginner")
    await start(ann)
    words = ann.locator(".board-frame [aria-live]")
    await ann.keyboard.press("ArrowRight")
    await expect(words).to_have_text("Row 5, column 5: hidden")
    await ann.keyboard.press("Home")
    await ann.keyboard.press("PageUp")
    await expect(words).to_have_text("Row 1, column 1: hidden")
    await ann.keyboard.press("Enter")
    await expect(words).to_have_text("Row 1, column 1: empty")
    hidden = (await read(ann))["cells"].index(HIDDEN)
    for _ in range(hidden % 9):
        await ann.keyboard.press("ArrowRight")
    for _ in range(hidden // 9):
        await ann.keyboard.press("ArrowDown")
    await ann.keyboard.press("f")
    await expect(words).to_have_text(f"Row {hidden // 9 + 1}, column {hidden % 9 + 1}: flagged")
    await answered(ann)
    assert (await read(ann))["flags"][hidden] == 1
    await people.shoot(ann, "keyboard")


class Fingers:
    """Touches of a phone's screen."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def __aenter__(self) -> Fingers:
        self.session = await self.page.context.new_cdp_session(self.page)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.detach()

    async def touch(self, kind: str, *points: tuple[float, float]) -> None:
        """`touchStart`, `touchMove` or `touchEnd` with the fingers that are down then."""
        places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        event = {"type": kind, "touchPoints": places}
        await self.session.send("Input.dispatchTouchEvent", event)

    async def place(self, cell: int) -> tuple[float, float]:
        """Where a cell lies."""
        place = await self.page.evaluate("cell => window.demineur.look().locate(cell)", cell)
        return place["x"], place["y"]


async def test_fingers_tap_flag_pan_and_zoom(people: People) -> None:
    ann = await people.arrive(name="Ann", **PHONE)
    await create(ann, "marathon")
    await start(ann)
    await ann.evaluate("navigator.vibrate = ms => { window.buzzed = ms; return true; }")
    middle = 20 * 80 + 40
    async with Fingers(ann) as fingers:
        x, y = await fingers.place(middle)
        await fingers.touch("touchStart", (x, y))
        await fingers.touch("touchEnd")
        await answered(ann)
        known = await read(ann)
        assert known["cells"][middle] == 0, "a tap opens"

        await fingers.touch("touchStart", (x, y))
        for step in range(1, 9):
            await fingers.touch("touchMove", (x - 15 * step, y))
        await fingers.touch("touchEnd")
        await ann.wait_for_function(
            "([cell, x]) => window.demineur.look().locate(cell).x < x - 80", arg=[middle, x]
        )
        assert (await read(ann))["cells"] == known["cells"], "a drag pans and opens nothing"

        box = await ann.evaluate(
            "document.querySelector('.board').getBoundingClientRect().toJSON()"
        )
        seen = None
        for cell, content in enumerate(known["cells"]):
            cx, cy = (await fingers.place(cell)) if content == HIDDEN else (-1.0, -1.0)
            if box["left"] < cx < box["right"] and box["top"] < cy < box["bottom"]:
                seen = cell, cx, cy
                break
        assert seen is not None
        cell, cx, cy = seen
        await fingers.touch("touchStart", (cx, cy))
        await ann.wait_for_function(
            "cell => window.demineur.look().state.room.run.flags[cell]", arg=cell
        )
        await fingers.touch("touchEnd")
        await answered(ann)
        assert (await read(ann))["flags"][cell] == 1, "a long press flags, and once"
        assert await ann.evaluate("window.buzzed") > 0

        across = "() => window.demineur.look().locate(1).x - window.demineur.look().locate(0).x"
        width = await ann.evaluate(across)
        await fingers.touch("touchStart", (150, 400), (250, 400))
        for step in range(1, 7):
            await fingers.touch("touchMove", (150 - 10 * step, 400), (250 + 10 * step, 400))
        await fingers.touch("touchEnd")
        assert await ann.evaluate(across) > width * 1.5
        assert (await read(ann))["flags"][cell] == 1
        await people.shoot(ann, "phone-marathon")
        await ann.get_by_role("button", name="Show the whole board").click()
        await people.shoot(ann, "phone-marathon-whole")


async def test_settings_names_and_places(people: People) -> None:
    ann = await people.arrive(name="Ann")
    code = await create(ann)
    bob = await people.arrive(f"/r/{code.lower()}", name="Bob")
    await wait_for_screen(bob, "lobby")
    await expect(bob.locator(".summary")).to_contain_text("Beginner")
    await ann.locator(".levels .choice:has(input[value=hard])").click()
    await expect(bob.locator(".summary")).to_contain_text("Hard, 20 × 12 · 40 mines")
    await bob.get_by_label("Change your name").fill("Robert")
    await bob.get_by_role("button", name="Save").click()
    await expect(ann.locator(".players")).to_contain_text("Robert")
    await bob.get_by_label("Change your name").fill("\u202enope")
    await bob.get_by_role("button", name="Save").click()
    await expect(bob.locator(".toast")).to_contain_text("A name has 1 to 24 characters")
    await ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ann.get_by_role("button", name="Copy link").click()
    await expect(ann.locator(".toast")).to_have_text("Link copied")
    assert await ann.evaluate("navigator.clipboard.readText()") == f"{people.base}/r/{code}"
    await bob.get_by_role("button", name="Leave").click()
    await expect(ann.locator(".players li")).to_have_count(1)
    assert bob.url == people.base + "/"


async def test_who_comes_by_a_link_is_asked_for_a_name(people: People) -> None:
    ann = await people.arrive()
    code = await create(ann)
    await expect(ann.locator(".players")).to_contain_text("Player ")
    bob = await people.arrive(f"/r/{code}")
    await bob.get_by_label("What do your friends call you?").fill("Bob")
    await bob.keyboard.press("Enter")
    await expect(ann.locator(".players")).to_contain_text("Bob")
    await expect(bob.get_by_label("Change your name")).to_have_value("Bob")
    await bob.reload()
    await expect(bob.get_by_label("Change your name")).to_have_value("Bob")


async def test_a_marked_cell_is_in_sight_on_a_board_that_is_not(people: People) -> None:
    ann = await people.arrive(name="Ann", **PHONE)
    await create(ann, "marathon", "Marked cell")
    await start(ann)
    marked = (await read(ann))["marked"]
    place = await ann.evaluate("cell => window.demineur.look().locate(cell)", marked)
    assert place["inside"]
    await expect(ann.locator(".race-status")).to_have_text("Begin on the marked cell.")
    await ann.touchscreen.tap(place["x"] + 70, place["y"])
    await expect(ann.locator(".toast")).to_have_text("Begin on the marked cell.")
    await people.shoot(ann, "beside-the-mark")
    await ann.touchscreen.tap(place["x"], place["y"])
    await answered(ann)
    assert (await read(ann))["cells"][marked] == 0
    await expect(ann.locator(".race-status")).to_have_text("")


async def test_a_full_room_can_be_watched_until_there_is_a_place(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await ann.locator("details.more summary").click()
    await ann.locator(".create select").select_option("2")
    await ann.get_by_role("button", name="Create race").click()
    await wait_for_screen(ann, "lobby")
    code = (await read(ann))["code"]
    bob = await people.arrive(f"/r/{code}", name="Bob")
    await wait_for_screen(bob, "lobby")
    eve = await people.arrive(f"/r/{code}", name="Eve")
    await expect(eve.get_by_role("heading", level=1)).to_have_text("This room is full")
    await eve.get_by_role("button", name="Watch").click()
    await expect(eve.get_by_text("You are watching.")).to_be_visible()
    await expect(eve.get_by_role("button", name="Take a place")).to_be_hidden()
    await expect(ann.get_by_text("1 person is watching")).to_be_visible()
    await bob.get_by_role("button", name="Leave").click()
    await eve.get_by_role("button", name="Take a place").click()
    await expect(ann.locator(".players")).to_contain_text("Eve")
    await expect(ann.get_by_text("1 person is watching")).to_be_hidden()


async def test_who_comes_late_watches_and_then_takes_a_place(people: People) -> None:
    ann = await people.arrive(name="Ann")
    code = await create(ann, "intermediate", "No guessing")
    await start(ann)
    await Clicker(ann).play(4)
    eve = await people.arrive(f"/r/{code}", name="Eve")
    await expect(eve.get_by_role("heading", level=1)).to_have_text("A race is under way")
    await people.shoot(eve, "running")
    await eve.get_by_role("button", name="Watch").click()
    await wait_for_screen(eve, "race")
    await expect(eve.locator(".race-status")).to_contain_text("You are watching.")
    await expect(eve.locator(".board")).to_be_hidden()
    await expect(eve.locator(".progress-row")).to_contain_text("Ann")
    await people.shoot(eve, "watching")
    await Clicker(ann).play()
    await wait_for_screen(eve, "result")
    await expect(eve.locator(".fair")).to_have_attribute("data-state", "verified")
    await eve.get_by_role("button", name="Take a place").click()
    await eve.get_by_role("button", name="Rematch").click()
    await expect(ann.locator(".again .hint")).to_contain_text("1 of 2 want a rematch")
    await ann.get_by_role("button", name="Start now with 2 players").click()
    await wait_for_go(eve)


async def test_a_rematch_says_whom_it_waits_for_and_one_may_watch_instead(people: People) -> None:
    ann = await people.arrive(name="Ann")
    code = await create(ann, "intermediate", "No guessing")
    long = "Wolfeschlegelsteinhausen"
    bob = await people.arrive(f"/r/{code}", name=long)
    await wait_for_screen(bob, "lobby")
    cid = await people.arrive(f"/r/{code}", name="Cid", **PHONE)
    await wait_for_screen(cid, "lobby")
    await cid.get_by_role("button", name="Watch instead").click()
    await expect(cid.get_by_text("You are watching.")).to_be_visible()
    await expect(ann.locator(".players li")).to_have_count(2)
    await people.shoot(cid, "watch-instead")
    await cid.get_by_role("button", name="Take a place").click()
    await expect(ann.locator(".players li")).to_have_count(3)
    await people.shoot(cid, "took-a-place")

    await start(ann, bob, cid)
    for page in (ann, bob, cid):
        await Clicker(page).lose()
    await wait_for_screen(ann, "result")
    await ann.get_by_role("button", name="Rematch").click()
    await bob.get_by_role("button", name="Rematch").click()
    hint = ann.locator(".again .hint")
    await expect(hint).to_have_text(
        "2 of 3 want a rematch. Waiting for Cid. If you start now, who has not asked will watch."
    )
    await expect(bob.locator(".again .hint")).to_have_text(
        "2 of 3 want a rematch. Waiting for Cid. Ann may start without waiting."
    )
    for page, stage in ((ann, "rematch-host"), (bob, "rematch-guest"), (cid, "rematch-phone")):
        await people.shoot(page, stage)
    await expect(bob.locator("tr .player-you")).to_be_in_viewport(ratio=1)
    await ann.get_by_role("button", name="Start now with 2 players").click()
    await wait_for_go(bob)
    assert (await read(cid))["screen"] == "race"


async def test_rooms_that_are_not_there_or_open_elsewhere(people: People) -> None:
    ann = await people.arrive("/r/ZZZZ-2345", name="Ann")
    await expect(ann.get_by_role("heading", level=1)).to_have_text("There is no room ZZZZ-2345")
    await people.shoot(ann, "no-room")
    await ann.get_by_role("button", name="Create a race with this code").click()
    await wait_for_screen(ann, "lobby")
    again = await people.open(ann.context, "/r/ZZZZ-2345")
    await wait_for_screen(again, "lobby")
    await expect(ann.get_by_role("heading", level=1)).to_have_text("Opened somewhere else")
    await people.shoot(ann, "superseded")
    await ann.get_by_role("button", name="Continue here").click()
    await wait_for_screen(ann, "lobby")
    await expect(again.get_by_role("heading", level=1)).to_have_text("Opened somewhere else")


async def test_an_address_that_is_no_code_says_so(people: People) -> None:
    ann = await people.arrive("/r/nonsense!!", name="Ann")
    await expect(ann.get_by_role("heading", level=1)).to_have_text("That is no room code")
    await people.shoot(ann, "no-code")
    await ann.get_by_role("button", name="Back to the start").click()
    await expect(ann.get_by_role("button", name="Create race")).to_be_visible()


async def test_who_creates_by_keyboard_goes_on_with_the_link(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await ann.get_by_label("Your name").press("Enter")
    await wait_for_screen(ann, "lobby")
    await expect(ann.get_by_role("button", name="Copy link")).to_be_focused()


async def test_leaving_a_race_is_asked_about(people: People) -> None:
    ann = await people.arrive(name="Ann")
    code = await create(ann)
    bob = await people.arrive(f"/r/{code}", name="Bob")
    await wait_for_screen(bob, "lobby")
    await start(ann, bob)
    await Clicker(bob).play(1)
    await bob.get_by_role("button", name="Leave the race").click()
    await bob.get_by_role("button", name="Keep playing").click()
    assert (await read(bob))["screen"] == "race"
    await bob.get_by_role("button", name="Leave the race").click()
    await bob.get_by_role("dialog").get_by_role("button", name="Leave the race").click()
    await expect(ann.locator(".progress-row").nth(1)).to_contain_text("Left")
    assert bob.url == people.base + "/"


async def test_the_page_mirrors_and_the_board_does_not(people: People) -> None:
    ann = await people.arrive(name="Ann")
    await create(ann)
    await ann.evaluate("document.documentElement.dir = 'rtl'")
    await start(ann)
    first, second = [
        await ann.evaluate("cell => window.demineur.look().locate(cell).x", cell) for cell in (0, 1)
    ]
    assert first < second
    players = await ann.locator(".race-players").bounding_box()
    assert players is not None
    assert players["x"] < 640, "the list of players is on the other side"
    await people.shoot(ann, "rtl")


async def test_the_theme_is_the_systems_until_another_is_chosen(people: People) -> None:
    ann = await people.arrive(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = await ann.evaluate(ground)
    await people.shoot(ann, "dark")
    await ann.get_by_role("button", name="Light or dark").click()
    light = await ann.evaluate(ground)
    assert light != dark
    await ann.reload()
    await expect(ann.get_by_role("button", name="Light or dark")).to_be_visible()
    assert await ann.evaluate(ground) == light
