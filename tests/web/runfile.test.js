import assert from "node:assert/strict";
import { test } from "node:test";
import { boardCommand, runFile } from "../../web/runfile.js";
import { played } from "./played.js";

const RESULT = { seed: "0f".repeat(16), attempt: 0, width: 30, height: 16, mines: 60 };

test("the command that lays a board once more", () => {
  const seed = RESULT.seed;
  assert.equal(boardCommand(RESULT, 0), `demineur board --level expert --seed ${seed} --first-tap 0`);
  assert.equal(boardCommand({ ...RESULT, attempt: 7 }, 12), `demineur board --level expert --seed ${seed} --first-tap 12 --attempt 7`);
  assert.equal(boardCommand({ ...RESULT, mines: 61 }, 3), `demineur board --size 30x16 --mines 61 --seed ${seed} --first-tap 3`);
});

test("a run file has the moves that did something, and what the room recorded", () => {
  const { result, standing, run } = played({ startMs: 700 });
  const file = runFile(result, standing, run);
  assert.deepEqual(file.moves.slice(0, 2).map(([ms, kind]) => [ms, kind]), [[700, "tap"], [830, "flag"]]);
  assert.equal(file.moves[0][2], standing.first_tap);
  assert.deepEqual([file.result.status, file.result.elapsed_ms, file.result.flag_moves], ["won", standing.ms - 700, 3]);
});

test("a run that is not known whole is no file", () => {
  const { result, standing, run } = played();
  assert.equal(runFile(result, standing, { ...run, made: null }), null, "the page was loaded again");
  assert.equal(runFile(result, standing, { ...run, penalty: true }), null, "the format knows no penalties");
  assert.equal(runFile(result, standing, { ...run, made: run.made.slice(0, -1) }), null, "an answer is missing");
  assert.equal(runFile(result, { ...standing, ending: "timeout" }, run), null);
  assert.notEqual(runFile(result, { ...standing, ending: "timeout" }, { ...run, status: "playing" }), null);
});
