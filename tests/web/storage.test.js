import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

afterEach(() => {
  delete globalThis.localStorage;
});

/** The module as a tab has it: another one shares the store and nothing else. */
let tabs = 0;
const tab = () => import(`../../web/storage.js?tab=${++tabs}`);

function store(full = false) {
  const kept = new Map();
  const setItem = (key, value) => {
    if (full) throw new Error("full");
    kept.set(key, value);
  };
  globalThis.localStorage = { getItem: (key) => kept.get(key) ?? null, setItem, removeItem: (key) => kept.delete(key) };
  return kept;
}

test("a commitment told to one tab is known to the others", async () => {
  store();
  const [one, other] = [await tab(), await tab()];
  one.keepCommitments(["a"]);
  other.keepCommitments(["b"]);
  assert.deepEqual([...one.recallCommitments()].sort(), ["a", "b"]);
  assert.deepEqual((await tab()).recallCommitments(), ["a", "b"]);
});

test("the last 64 are kept, and one told again is among them", async () => {
  store();
  const one = await tab();
  one.keepCommitments(["first"]);
  for (let i = 0; i < 63; i++) one.keepCommitments([`c${i}`]);
  one.keepCommitments(["first", "last"]);
  const kept = (await tab()).recallCommitments();
  assert.equal(kept.length, 64);
  assert.deepEqual([kept[0], ...kept.slice(-2)], ["c1", "first", "last"]);
});

test("where nothing can be stored the page still knows", async () => {
  store(true);
  const one = await tab();
  one.keepCommitments(["a"]);
  assert.deepEqual(one.recallCommitments(), ["a"]);
  delete globalThis.localStorage;
  assert.deepEqual(one.recallCommitments(), ["a"]);
  assert.deepEqual((await tab()).recallCommitments(), []);
});

test("what is no list of texts is passed over", async () => {
  const kept = store();
  for (const bad of ["{", "1", "null", '{"a":1}', "[1, null]"]) {
    kept.set("demineur.commitments", bad);
    assert.deepEqual((await tab()).recallCommitments(), [], bad);
  }
});
