import assert from "node:assert/strict";
import { test } from "node:test";
import { HIDDEN, MINE_HIT } from "../../web/grid.js";
import { blankLooks, boardLooks, endLooks, LOOK, LOOKS, runLooks } from "../../web/looks.js";
import { newRun } from "../../web/run.js";

const SIZE = { width: 3, height: 1, mines: 1 };
const run = (fields) => ({ ...newRun(SIZE, false), status: "playing", ...fields });
const bytes = (...values) => Uint8Array.from(values);

test("every look has a picture of its own", () => {
  assert.equal(new Set(Object.values(LOOK)).size, LOOKS - 9);
  assert.equal(Math.max(...Object.values(LOOK)), LOOKS - 1);
  assert.equal(LOOK.HIT, MINE_HIT);
  assert.equal(LOOK.HIDDEN, HIDDEN);
});

test("a run under way: numbers, flags, what is pressed, what waits", () => {
  const waiting = [{ n: 1, t: "flag", c: 2 }];
  assert.deepEqual(runLooks(run({ cells: bytes(0, 1, HIDDEN), waiting }), -1, undefined), bytes(0, 1, LOOK.FLAG));
  assert.deepEqual(runLooks(run({ cells: bytes(0, 1, HIDDEN) }), 1, undefined), bytes(0, 1, LOOK.PRESSED), "a chord to be");
  assert.deepEqual(runLooks(run({ cells: bytes(0, 1, HIDDEN), flags: bytes(0, 0, 1) }), 2, undefined), bytes(0, 1, LOOK.FLAG));
  const tap = [{ n: 1, t: "tap", c: 0 }];
  assert.deepEqual(runLooks(run({ waiting: tap }), -1, undefined), bytes(LOOK.PRESSED, HIDDEN, HIDDEN));
});

test("the marked cell, until the first tap", () => {
  assert.deepEqual(blankLooks(3, 1), bytes(HIDDEN, LOOK.MARKED, HIDDEN));
  assert.equal(runLooks(newRun(SIZE, false), -1, 1)[1], LOOK.MARKED);
  assert.equal(runLooks(run({}), -1, 1)[1], HIDDEN);
});

test("a run that is over shows mines and wrong flags, and keeps the rest hidden", () => {
  const board = bytes(1, MINE_HIT, 1);
  assert.deepEqual(endLooks(board, run({ flags: bytes(1, 0, 0) })), bytes(LOOK.WRONG_FLAG, LOOK.MINE, HIDDEN));
  assert.deepEqual(endLooks(board, run({ flags: bytes(0, 1, 0) })), bytes(HIDDEN, LOOK.RIGHT_FLAG, HIDDEN));
  assert.deepEqual(endLooks(board, run({ cells: bytes(1, MINE_HIT, HIDDEN) })), bytes(1, LOOK.HIT, HIDDEN));
  assert.deepEqual(boardLooks(board), bytes(1, LOOK.MINE, 1));
});
