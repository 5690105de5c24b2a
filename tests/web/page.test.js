import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { keyAction } from "../../web/input.js";
import { DEFAULT_SETTINGS, LEVELS, settingsFrom } from "../../web/levels.js";
import { racersOf } from "../../web/views/players.js";
import { consistent } from "../../web/views/settings.js";

const WEB = new URL("../../web/", import.meta.url);
const read = (name) => readFileSync(new URL(name, WEB), "utf8");
const files = readdirSync(WEB, { recursive: true }).filter((name) => /\.\w+$/.test(name));
const html = read("index.html");

test("the page holds no script, style or handler of its own", () => {
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:/);
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/);
});

test("nothing is fetched from anywhere else", () => {
  for (const name of files.filter((file) => /\.(js|css|html|webmanifest)$/.test(file))) {
    const urls = [...read(name).matchAll(/(?:https?:)?\/\/[\w.-]+\.\w{2,}/g)].map(([url]) => url);
    assert.deepEqual(urls, [], name);
  }
});

test("every file that the page and its styles name is there", () => {
  const named = [html, ...files.filter((name) => name.endsWith(".css")).map(read)]
    .flatMap((text) => [...text.matchAll(/\/static\/([\w./-]+)/g)].map(([, name]) => name));
  assert.ok(named.length > 20);
  assert.deepEqual(named.filter((name) => !existsSync(new URL(name, WEB))), []);
});

test("every module is asked for at once, not one after the other", () => {
  const preloaded = [...html.matchAll(/rel="modulepreload" href="\/static\/([^"]+)"/g)].map(([, name]) => name);
  const modules = files.filter((name) => name.endsWith(".js") && !["app.js", "theme.js"].includes(name));
  assert.deepEqual(preloaded.sort(), modules.sort());
});

test("every icon is drawn, and every drawing used", () => {
  const drawn = readdirSync(new URL("icons/", WEB)).map((name) => name.replace(".svg", ""));
  const styled = [...read("css/base.css").matchAll(/\.icon-(\w+) \{ --icon/g)].map(([, name]) => name);
  const typed = /@typedef \{([^}]*)\} Icon/.exec(read("dom.js"))?.[1]?.match(/\w+/g);
  assert.deepEqual(drawn.sort(), styled.sort());
  assert.deepEqual(typed?.sort(), styled.sort());
});

test("no markup is made from text, and nothing speaks to the console", () => {
  for (const name of files.filter((file) => file.endsWith(".js"))) {
    assert.doesNotMatch(read(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|console\./, name);
  }
});

test("the token is nowhere but in the hello and the store", () => {
  const holders = files.filter((name) => name.endsWith(".js") && /\btoken\b/.test(read(name).replace(/\/\*[\s\S]*?\*\//g, "")));
  assert.deepEqual(holders.sort(), ["feed.js", "page.js", "state.js"]);
});

test("styles mirror: no physical side where a logical one would do", () => {
  for (const name of files.filter((file) => file.endsWith(".css"))) {
    const physical = read(name).match(/(margin|padding|border)-(left|right)\b|float:|text-align: (left|right)/g);
    assert.equal(physical, null, name);
  }
});

test("the six levels", () => {
  assert.deepEqual(LEVELS.map(({ id, width, height, mines }) => [id, width, height, mines]), [
    ["beginner", 9, 9, 10], ["intermediate", 16, 10, 25], ["hard", 20, 12, 40],
    ["expert", 30, 16, 60], ["extreme", 40, 20, 60], ["marathon", 80, 40, 240],
  ]);
});

test("kept settings are taken only when they are ours", () => {
  const kept = { level: "expert", start: "shared", guess_free: true, mine: "penalty", players: 4, listed: true };
  assert.deepEqual(settingsFrom(JSON.stringify({ ...kept, more: 1 })), kept);
  for (const bad of [null, "", "{", "null", "[]", JSON.stringify({ ...kept, level: "hell" }), JSON.stringify({ ...kept, players: 33 }), JSON.stringify({ ...kept, start: "own" })]) {
    assert.equal(settingsFrom(bad), DEFAULT_SETTINGS);
  }
});

test("no guessing brings the marked cell, and goes with it", () => {
  const plain = DEFAULT_SETTINGS;
  const chosen = consistent({ ...plain, guess_free: true }, plain);
  assert.equal(chosen.start, "shared");
  assert.deepEqual(consistent({ ...chosen, start: "own" }, chosen), plain);
});

test("keys of the board", () => {
  const press = (key, more) => keyAction({ key, repeat: false, ctrlKey: false, altKey: false, metaKey: false, ...more });
  assert.deepEqual(press("ArrowLeft"), { do: "step", dx: -1, dy: 0 });
  assert.deepEqual([press("Enter"), press(" "), press("F"), press("f")].map((action) => action.do), ["tap", "tap", "flag", "flag"]);
  assert.equal(press("f", { ctrlKey: true }), null, "the browser's own");
  assert.equal(press("Enter", { repeat: true }), null, "a held key is not many taps");
  assert.notEqual(press("ArrowDown", { repeat: true }), null);
  assert.equal(press("constructor"), null);
});

test("few rivals keep their rows, of many the leaders come first", () => {
  const racer = (seat, status, percent, ms) => ({ seat, status, percent, ms });
  const many = [
    racer(0, "playing", 5), racer(1, "out", 90), racer(2, "playing", 40), racer(3, "finished", 100, 9000),
    racer(4, "finished", 100, 8000), racer(5, "playing", 60), racer(6, "waiting", 0),
  ];
  const room = (players, seats) => ({ players, race: { seats }, you: { seat: 0 } });
  const order = (...args) => racersOf(room(...args)).map(({ seat }) => seat);
  assert.deepEqual(order(many, [0, 1, 2, 3, 4, 5]), [0, 4, 3, 5, 2, 1]);
  assert.deepEqual(order(many, [1, 2, 3, 0]), [0, 1, 2, 3]);
});
