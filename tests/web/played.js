/** Runs played by the client's own functions, as a server's answers would make them. */

import { readFileSync } from "node:fs";
import { boardsOf, threeBv } from "../../web/fair.js";
import { around, HIDDEN, MINE_HIT } from "../../web/grid.js";
import * as runs from "../../web/run.js";
import { runFile } from "../../web/runfile.js";

const vectors = JSON.parse(readFileSync(new URL("../vectors/boards.json", import.meta.url), "utf8"));

/** What a tap on a hidden cell opens, as the wire has it: one stretch a cell. */
function opening(shape, board, run, cell) {
  const opened = new Set([cell]);
  for (const at of opened) {
    if (board[at] === 0) around(shape, at).filter((next) => run.cells[next] === HIDDEN).forEach((next) => opened.add(next));
  }
  return [...opened].map((at) => [at, board[at] === MINE_HIT ? "*" : String(board[at])]);
}

/** The run after a move and its answer. */
export function moved(shape, board, run, t, c, ms) {
  const made = runs.withMove(run, t, c, undefined);
  if (!made) return run;
  const { n } = made.move;
  if (t === "flag") return runs.answered(made.run, { t: "moved", n, ms, flag: [c, !run.flags[c]] });
  const open = opening(shape, board, run, c);
  const cells = runs.answered(made.run, { t: "moved", n, ms, open }).cells;
  const won = board.every((content, cell) => content === MINE_HIT || cells[cell] === content);
  const status = board[c] === MINE_HIT ? "lost" : won ? "won" : "playing";
  return runs.answered(made.run, { t: "moved", n, ms, open, status });
}

/** A run of a recorded board, with a flag set and lifted and set, won or lost, and its result. */
export function played({ lose = false, startMs = 0, vector = vectors[0] } = {}) {
  const { width, height, mines, seed, commitment, first_tap: firstTap, three_bv: total } = vector;
  const shape = { width, height, mines };
  const result = { round: 1, seed, attempt: 0, commitment, ...shape, standings: [] };
  const board = boardsOf(result)(firstTap);
  let run = runs.newRun(shape, false);
  let ms = startMs;
  const make = (t, c) => (run = moved(shape, board, run, t, c, ms += 130));
  ms -= 130;
  make("tap", firstTap);
  for (let i = 0; i < 3; i++) make("flag", vector.mine_cells[0]);
  if (lose) make("tap", vector.mine_cells[1]);
  for (const cell of board.keys()) {
    const hidden = run.cells[cell] === HIDDEN;
    if (run.status === "playing" && hidden && board[cell] !== MINE_HIT) make("tap", cell);
  }
  const count = (kind) => run.made.filter(({ t }) => t === kind).length;
  const standing = {
    place: 1, seat: 0, name: "Ann", ending: run.status, ms: run.made.at(-1).ms, percent: lose ? 9 : 100,
    three_bv: total, three_bv_solved: lose ? 1 : threeBv(shape, board).threeBv, taps: count("tap"),
    flags: count("flag"), penalty_ms: 0, first_tap: firstTap,
  };
  return { result: { ...result, standings: [standing] }, standing, run };
}

/** Run files, won and lost, from clocks that started at the first tap and before it. */
export function saved() {
  return [played(), played({ lose: true }), played({ startMs: 700, vector: vectors[20] })]
    .map(({ result, standing, run }) => runFile(result, standing, run));
}
