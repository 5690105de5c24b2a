import assert from "node:assert/strict";
import { test } from "node:test";
import { eachOpened, HIDDEN, MINE_HIT } from "../../web/grid.js";
import * as runs from "../../web/run.js";

const SIZE = { width: 4, height: 3, mines: 2 };

/** Mines at 0 and 11; the row in the middle is open. */
function midway() {
  const run = runs.newRun(SIZE, false);
  return runs.answered(run, { t: "moved", n: 1, ms: 0, open: [[4, "1111"]], status: "playing" });
}

test("segments become cells", () => {
  const cells = [];
  eachOpened([[2, "01"], [8, "*8"]], (cell, content) => cells.push([cell, content]));
  assert.deepEqual(cells, [[2, 0], [3, 1], [8, MINE_HIT], [9, 8]]);
});

test("a fresh run takes one tap and no flag", () => {
  const run = runs.newRun(SIZE, false);
  assert.equal(runs.withMove(run, "flag", 3, undefined), null);
  const made = runs.withMove(run, "tap", 3, undefined);
  assert.deepEqual(made.move, { n: 1, t: "tap", c: 3 });
  assert.equal(runs.hasBegun(run), false);
  assert.equal(runs.hasBegun(made.run), true, "though it is not answered");
  assert.notEqual(runs.withMove(made.run, "flag", 5, undefined), null);
});

test("a shared start takes the marked cell only", () => {
  const run = runs.newRun(SIZE, false);
  assert.equal(runs.withMove(run, "tap", 3, 5), null);
  assert.deepEqual(runs.withMove(run, "tap", 5, 5).move, { n: 1, t: "tap", c: 5 });
});

test("flags are drawn at once, and taken back when refused", () => {
  let run = midway();
  run = runs.withMove(run, "flag", 0, undefined).run;
  assert.equal(runs.isFlagged(run, 0), true);
  assert.equal(runs.mineCounter(run), 1);
  const twice = runs.withMove(run, "flag", 0, undefined);
  assert.equal(twice.move.n, 3);
  assert.equal(runs.isFlagged(twice.run, 0), false);
  assert.equal(runs.isFlagged(runs.refused(run, 2), 0), false);
  const done = runs.answered(run, { t: "moved", n: 2, ms: 5, flag: [0, true] });
  assert.deepEqual([runs.isFlagged(done, 0), done.waiting.length, done.n], [true, 0, 2]);
});

test("what the server answers wins over what was guessed", () => {
  const run = runs.withMove(midway(), "flag", 0, undefined).run;
  const ignored = runs.answered(run, { t: "moved", n: 2, ms: 5 });
  assert.equal(runs.isFlagged(ignored, 0), false, "the rules ignored it");
});

test("only moves with an effect are in the server's log", () => {
  let run = runs.answered(midway(), { t: "moved", n: 2, ms: 5 });
  assert.deepEqual([run.n, run.held], [2, 1]);
  run = runs.answered(run, { t: "moved", n: 3, ms: 5, flag: [0, true] });
  assert.deepEqual([run.n, run.held], [3, 3]);
  assert.equal(runs.answered(run, { t: "moved", n: 4, ms: 5, open: [[1, "1"]] }).held, 4);
});

test("a cascade takes the flags off what it opens", () => {
  let run = midway();
  run = runs.answered(run, { t: "moved", n: 2, ms: 5, flag: [1, true] });
  run = runs.answered(run, { t: "moved", n: 3, ms: 9, open: [[1, "10"]] });
  assert.equal(run.flags[1], 0);
  assert.deepEqual([run.cells[1], run.cells[2]], [1, 0]);
});

test("moves that nothing can come of are not sent", () => {
  let run = runs.answered(midway(), { t: "moved", n: 2, ms: 5, open: [[1, "1"], [2, "00"]] });
  run = runs.answered(run, { t: "moved", n: 3, ms: 5, flag: [0, true] });
  assert.equal(runs.withMove(run, "tap", 2, undefined), null, "an empty cell");
  assert.equal(runs.withMove(run, "tap", 0, undefined), null, "a flag protects");
  assert.equal(runs.withMove(run, "flag", 4, undefined), null, "an open cell");
  assert.equal(runs.withMove(run, "tap", 1, undefined), null, "a number with nothing hidden but flags");
  assert.notEqual(runs.withMove(run, "tap", 5, undefined), null, "a chord");
});

test("after the end no move is made", () => {
  for (const status of ["won", "lost"]) {
    assert.equal(runs.withMove({ ...midway(), status }, "tap", 0, undefined), null);
  }
});

test("what a gesture means", () => {
  const run = midway();
  assert.equal(runs.meaning(run, "tap", 0, false), "tap");
  assert.equal(runs.meaning(run, "tap", 0, true), "flag");
  assert.equal(runs.meaning(run, "tap", 5, true), "tap", "flag mode still chords");
  assert.equal(runs.meaning(run, "flag", 0, false), "flag");
  assert.equal(runs.meaning(run, "flag", 5, false), null);
  assert.equal(runs.meaning(run, "chord", 5, false), "tap");
  assert.equal(runs.meaning(run, "chord", 0, false), null, "both buttons never open a hidden cell");
  assert.equal(runs.meaning(runs.newRun(SIZE, false), "tap", 0, true), "tap", "no flags before the first tap");
});

test("with a penalty a mine that opened counts as a flag", () => {
  const run = runs.answered(runs.newRun(SIZE, true), { t: "moved", n: 1, ms: 0, open: [[0, "*"]], status: "playing" });
  assert.equal(run.cells[0], MINE_HIT);
  assert.equal(runs.mineCounter(run), 1);
  assert.equal(runs.mineCounter({ ...run, penalty: false }), 2);
});

test("a snapshot keeps the moves that the server has not had", () => {
  let before = midway();
  before = runs.withMove(before, "flag", 0, undefined).run;
  before = runs.withMove(before, "tap", 1, undefined).run;
  const own = { n: 2, status: "playing", open: [[4, "1111"]], flags: [0], exploded: [] };
  const run = runs.runOf(SIZE, false, own, before);
  assert.deepEqual(run.waiting, [{ n: 3, t: "tap", c: 1 }]);
  assert.deepEqual([run.n, run.flags[0], run.cells[5], run.cells[0]], [2, 1, 1, HIDDEN]);
});

test("moves that did something are kept with their times", () => {
  let run = runs.withMove(runs.newRun(SIZE, false), "tap", 5, undefined).run;
  run = runs.withMove(run, "flag", 0, undefined).run;
  run = runs.answered(run, { t: "moved", n: 1, ms: 0, open: [[4, "1111"]], status: "playing" });
  run = runs.answered(run, { t: "moved", n: 2, ms: 40, flag: [0, true] });
  run = runs.answered(run, { t: "moved", n: 2, ms: 90, flag: [0, true], again: true });
  run = runs.answered(run, { t: "moved", n: 3, ms: 95 });
  assert.deepEqual(run.made, [{ n: 1, ms: 0, t: "tap", c: 5 }, { n: 2, ms: 40, t: "flag", c: 0 }]);
  const elsewhere = runs.answered(run, { t: "moved", n: 4, ms: 99, flag: [11, true] });
  assert.equal(elsewhere.made, null, "one that this page did not make");
});

test("a snapshot keeps the moves made when it holds no other", () => {
  let before = runs.withMove(runs.newRun(SIZE, false), "tap", 5, undefined).run;
  before = runs.answered(before, { t: "moved", n: 1, ms: 0, open: [[4, "1111"]], status: "playing" });
  before = runs.withMove(before, "flag", 0, undefined).run;
  before = runs.answered(before, { t: "moved", n: 2, ms: 9, flag: [0, true] });
  const made = (n, from) => runs.runOf(SIZE, false, { n, status: "playing", open: [], flags: [], exploded: [] }, from).made;
  assert.deepEqual(made(2, before), before.made);
  assert.deepEqual(made(1, before), before.made.slice(0, 1), "the store lost the last");
  assert.equal(made(3, before), null);
  assert.equal(made(2, null), null, "the page was loaded again");
  assert.deepEqual(made(0, null), []);
});
