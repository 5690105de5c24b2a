import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { choose, format, LANGUAGES, nameList } from "../../web/i18n.js";
import en from "../../web/messages/en.js";

const WEB = new URL("../../web/", import.meta.url);
const sources = readdirSync(WEB, { recursive: true })
  .filter((name) => name.endsWith(".js") && !name.startsWith("messages"))
  .map((name) => readFileSync(new URL(name, WEB), "utf8"));
const literals = new Set(sources.flatMap((text) => [...text.matchAll(/"([a-z]+\.[A-Za-z_0-9]+)"/g)].map(([, key]) => key)));

test("every key of the catalogue is used", () => {
  assert.deepEqual(Object.keys(en).filter((key) => !literals.has(key)), []);
});

test("every key that is used is in the catalogue", () => {
  const used = sources.flatMap((text) => [...text.matchAll(/\bt\(\s*"([^"]+)"/g)].map(([, key]) => key));
  assert.ok(used.length > 100);
  assert.deepEqual(used.filter((key) => !(key in en)), []);
});

test("no view holds a text of its own", () => {
  // Whatever is between quotes and has a space and a capital at its start is meant for people.
  const texts = sources.flatMap((text) => [...text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "").matchAll(/"([A-Z][a-z]+ [^"]*)"/g)].map(([, found]) => found));
  assert.deepEqual(texts.filter((found) => !found.includes("SF Pro") && !found.includes("Segoe")), []);
});

test("parameters and plurals", () => {
  const rules = new Intl.PluralRules("en");
  const numbers = new Intl.NumberFormat("en");
  const mines = { one: "{count} mine", other: "{count} mines" };
  assert.equal(format(mines, { count: 1 }, rules, numbers), "1 mine");
  assert.equal(format(mines, { count: 1234 }, rules, numbers), "1,234 mines");
  assert.equal(format("{a} and {b} and {c}", { a: "x", b: 2 }, rules, numbers), "x and 2 and {c}");
  assert.equal(format("{name}", { name: "{a}" }, rules, numbers), "{a}", "a name is never a pattern");
});

test("a name that runs the other way is set off", () => {
  const say = (name, rtl) => format("{name}.", { name }, new Intl.PluralRules("en"), new Intl.NumberFormat("en"), rtl);
  assert.equal(say("Ann", false), "Ann.");
  assert.equal(say("محمد", false), "\u2068محمد\u2069.");
  assert.equal(say("Ann", true), "\u2068Ann\u2069.");
});

test("a language with six forms, and digits that stay", () => {
  const rules = new Intl.PluralRules("ar");
  const digits = new Intl.NumberFormat("ar", { numberingSystem: "latn" });
  const forms = { zero: "0", one: "1", two: "2", few: "few {count}", many: "many {count}", other: "other {count}" };
  assert.deepEqual([0, 1, 2, 3, 11, 100].map((count) => format(forms, { count }, rules, digits)), ["0", "1", "2", "few 3", "many 11", "other 100"]);
});

test("messages with a count have the forms that their language needs", () => {
  for (const [key, message] of Object.entries(en)) {
    if (typeof message === "string") assert.doesNotMatch(message, /\{count\}/, key);
    else assert.deepEqual(Object.keys(message).sort(), ["one", "other"], key);
  }
});

test("names are listed, and of many the first", () => {
  assert.equal(nameList(["Ann"]), "Ann");
  assert.equal(nameList(["Ann", "Bob"]), "Ann and Bob");
  assert.equal(nameList(["A", "B", "C", "D", "E"]), "A, B, C, D, and E");
  assert.equal(nameList(["A", "B", "C", "D", "E", "F"]), "A, B, C, D, and 2 more");
});

test("the languages of the game, and the best for a reader", () => {
  assert.deepEqual(Object.keys(LANGUAGES), ["en", "fr", "es", "pt", "bg", "vi", "ar"]);
  assert.equal(LANGUAGES.ar.dir, "rtl");
  assert.equal(choose(["xx", "en-GB"]), "en");
  assert.equal(choose([]), "en");
});
