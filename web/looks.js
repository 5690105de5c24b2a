/**
 * How each cell looks: one byte a cell, so that what has changed is found by comparing. Pure.
 */

import { around, HIDDEN, MINE_HIT } from "./grid.js";
import { flagsShown } from "./run.js";

/** @typedef {import("./run.js").Run} Run */

/** 0 to 8 is an open number; these are the rest. */
export const LOOK = Object.freeze({
  HIT: 9,
  HIDDEN: 10,
  FLAG: 11,
  PRESSED: 12,
  MARKED: 13,
  MINE: 14,
  RIGHT_FLAG: 15,
  WRONG_FLAG: 16,
});

/** How many looks there are. */
export const LOOKS = 17;

/**
 * A board before anything is known of it.
 * @param {number} area
 * @param {number | undefined} marked Where a shared start has the first tap.
 */
export function blankLooks(area, marked) {
  const looks = new Uint8Array(area).fill(LOOK.HIDDEN);
  if (marked !== undefined) looks[marked] = LOOK.MARKED;
  return looks;
}

/**
 * A run under way.
 * @param {Run} run
 * @param {number} pressed The cell under the finger, or -1.
 * @param {number | undefined} marked Where the first tap must be, before it is made.
 */
export function runLooks(run, pressed, marked) {
  const flags = flagsShown(run);
  const looks = run.cells.map((content, cell) =>
    content !== HIDDEN ? content : flags[cell] ? LOOK.FLAG : LOOK.HIDDEN,
  );
  if (marked !== undefined && run.status === "ready") looks[marked] = LOOK.MARKED;
  const press = (/** @type {number} */ cell) => {
    if (looks[cell] === LOOK.HIDDEN || looks[cell] === LOOK.MARKED) looks[cell] = LOOK.PRESSED;
  };
  for (const move of run.waiting) if (move.t === "tap") press(move.c);
  for (const cell of pressedCells(run, pressed)) press(cell);
  return looks;
}

/**
 * A press on a number shows what its chord would open.
 * @param {Run} run
 * @param {number} pressed
 */
function pressedCells(run, pressed) {
  if (pressed < 0) return [];
  const content = run.cells[pressed];
  return content > 0 && content < MINE_HIT ? around(run.size, pressed) : [pressed];
}

/**
 * A run that is over, on the board that it was played on: mines and wrong flags are shown, and
 * what stayed hidden stays so.
 * @param {Uint8Array} board The whole board (`fair.js`).
 * @param {Run} run
 */
export function endLooks(board, run) {
  return run.cells.map((content, cell) => {
    if (content !== HIDDEN) return content;
    const mine = board[cell] === MINE_HIT;
    if (run.flags[cell]) return mine ? LOOK.RIGHT_FLAG : LOOK.WRONG_FLAG;
    return mine ? LOOK.MINE : LOOK.HIDDEN;
  });
}

/**
 * A whole board.
 * @param {Uint8Array} board
 */
export function boardLooks(board) {
  return board.map((content) => (content === MINE_HIT ? LOOK.MINE : content));
}
