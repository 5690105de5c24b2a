/**
 * One's own run as this client knows it: what the server has answered, and the moves that wait
 * for an answer. Pure: every function returns a new run.
 *
 * The server decides what a move does. A flag is drawn at once all the same, because what it
 * does is known; what a tap opens is not.
 */

import { around, eachOpened, HIDDEN, MINE_HIT } from "./grid.js";

/** @typedef {import("./protocol.js").Moved} Moved */
/** @typedef {import("./protocol.js").BoardSize} BoardSize */
/** @typedef {{n: number, t: "tap"|"flag", c: number}} Move */
/** @typedef {Move & {ms: number}} MadeMove With what one's own clock showed. */
/**
 * @typedef {object} Run
 * @property {BoardSize} size
 * @property {boolean} penalty A mine that opens counts as a flag and does not end the run.
 * @property {import("./protocol.js").RunStatus} status
 * @property {Uint8Array} cells What each cell holds (`grid.js`).
 * @property {Uint8Array} flags 1 where the server holds a flag.
 * @property {number} n The counter of the last move that the server has answered.
 * @property {number} held The last of them that did something: those that the rules ignore are in
 *   no log, so only this one may be claimed on return.
 * @property {readonly Move[]} waiting Moves without an answer, oldest first.
 * @property {readonly MadeMove[] | null} made All moves that did something, in order; null when not
 *   all are known, as after the page was loaded again.
 */

/**
 * @param {BoardSize} size
 * @param {boolean} penalty
 * @returns {Run}
 */
export function newRun(size, penalty) {
  const area = size.width * size.height;
  return {
    size,
    penalty,
    status: "ready",
    cells: new Uint8Array(area).fill(HIDDEN),
    flags: new Uint8Array(area),
    n: 0,
    held: 0,
    waiting: [],
    made: [],
  };
}

/**
 * The run of a snapshot. Moves of `before` that the server does not hold go on waiting.
 * @param {BoardSize} size
 * @param {boolean} penalty
 * @param {import("./protocol.js").OwnRun} own
 * @param {Run | null} before The same round's run, or null.
 * @returns {Run}
 */
export function runOf(size, penalty, own, before) {
  const run = newRun(size, penalty);
  run.status = own.status;
  run.n = run.held = own.n;
  run.waiting = (before?.waiting ?? []).filter((move) => move.n > own.n);
  run.made = madeUpTo(before?.made ?? null, own.n);
  eachOpened(own.open, (cell, content) => {
    run.cells[cell] = content;
  });
  for (const cell of own.exploded) run.cells[cell] = MINE_HIT;
  for (const cell of own.flags) run.flags[cell] = 1;
  return run;
}

/**
 * The moves made up to `n`, the last that did something; null when they are not all known. A server
 * that lost moves holds fewer than it said.
 * @param {readonly MadeMove[] | null} made
 * @param {number} n
 */
export function madeUpTo(made, n) {
  const kept = made?.filter((move) => move.n <= n) ?? [];
  return (kept.at(-1)?.n ?? 0) === n ? kept : null;
}

/**
 * The run with a move more that waits, and the move as it is to be sent; null for a move that
 * the rules ignore in any case, which is not worth a frame.
 * @param {Run} run
 * @param {"tap"|"flag"} t
 * @param {number} c
 * @param {number | undefined} marked Where a shared start has the first tap.
 * @returns {{run: Run, move: Move} | null}
 */
export function withMove(run, t, c, marked) {
  if (!isOpen(run) || !matters(run, t, c, marked)) return null;
  const n = (run.waiting.at(-1)?.n ?? run.n) + 1;
  const move = { n, t, c };
  return { run: { ...run, waiting: [...run.waiting, move] }, move };
}

/**
 * Whether moves may still be made.
 * @param {Run} run
 */
export function isOpen(run) {
  return run.status === "ready" || run.status === "playing";
}

/**
 * Whether a first tap has been made, answered or not.
 * @param {Run} run
 */
export function hasBegun(run) {
  return run.status !== "ready" || run.waiting.some((move) => move.t === "tap");
}

/**
 * @param {Run} run
 * @param {"tap"|"flag"} t
 * @param {number} c
 * @param {number | undefined} marked
 */
function matters(run, t, c, marked) {
  const content = run.cells[c];
  if (!hasBegun(run)) return t === "tap" && (marked === undefined || marked === c);
  if (content === HIDDEN) return t === "flag" || !isFlagged(run, c);
  if (t === "flag" || content === MINE_HIT || content === 0) return false;
  return around(run.size, c).some((other) => run.cells[other] === HIDDEN && !isFlagged(run, other));
}

/**
 * Which move a gesture on a cell makes; null for none.
 * @param {Run} run
 * @param {"tap"|"flag"|"chord"} gesture
 * @param {number} c
 * @param {boolean} flagMode
 * @returns {"tap"|"flag"|null}
 */
export function meaning(run, gesture, c, flagMode) {
  if (run.cells[c] !== HIDDEN) return gesture === "flag" ? null : "tap";
  if (gesture === "chord") return null;
  // Before the first tap there are no flags, so there is no flag mode either.
  return gesture === "flag" || (flagMode && hasBegun(run)) ? "flag" : "tap";
}

/**
 * Whether a cell is drawn with a flag: as the server holds it, and then as the waiting moves
 * leave it.
 * @param {Run} run
 * @param {number} cell
 */
export function isFlagged(run, cell) {
  if (run.cells[cell] !== HIDDEN) return false;
  const toggles = run.waiting.filter((move) => move.t === "flag" && move.c === cell).length;
  return (run.flags[cell] + toggles) % 2 === 1;
}

/**
 * Flags of all cells, as `isFlagged` has them. O(area).
 * @param {Run} run
 */
export function flagsShown(run) {
  const flags = run.flags.slice();
  for (const move of run.waiting) {
    if (move.t === "flag" && run.cells[move.c] === HIDDEN) flags[move.c] ^= 1;
  }
  return flags;
}

/**
 * Mines less flags; may be negative. Before the first tap all mines are there.
 * @param {Run} run
 */
export function mineCounter(run) {
  const flags = flagsShown(run).reduce((sum, flag) => sum + flag, 0);
  const hit = run.penalty ? run.cells.reduce((sum, v) => sum + (v === MINE_HIT ? 1 : 0), 0) : 0;
  return run.size.mines - flags - hit;
}

/**
 * The run after the server's answer to a move.
 * @param {Run} run
 * @param {Moved} moved
 * @returns {Run}
 */
export function answered(run, moved) {
  const next = {
    ...run,
    n: Math.max(run.n, moved.n),
    held: moved.open || moved.flag ? Math.max(run.held, moved.n) : run.held,
    // Answers come in the order of the moves, so an older one that still waits never gets one.
    waiting: run.waiting.filter((move) => move.n > moved.n),
    made: withMade(run, moved),
  };
  if (moved.status) next.status = moved.status;
  if (moved.open) {
    const cells = (next.cells = run.cells.slice());
    const flags = (next.flags = run.flags.slice());
    eachOpened(moved.open, (cell, content) => {
      cells[cell] = content;
      flags[cell] = 0;
    });
  }
  if (moved.flag) {
    next.flags = next.flags === run.flags ? run.flags.slice() : next.flags;
    next.flags[moved.flag[0]] = moved.flag[1] ? 1 : 0;
  }
  return next;
}

/**
 * The moves made, and the one that was answered if it did something.
 * @param {Run} run
 * @param {Moved} moved
 */
function withMade({ made, waiting }, { n, ms, open, flag }) {
  if (!made || !(open || flag) || n <= (made.at(-1)?.n ?? 0)) return made;
  const move = waiting.find((each) => each.n === n);
  return move ? [...made, { ...move, ms }] : null;
}

/**
 * The run after the server refused move `n`: that move was never made.
 * @param {Run} run
 * @param {number} n
 * @returns {Run}
 */
export function refused(run, n) {
  return { ...run, waiting: run.waiting.filter((move) => move.n !== n) };
}
