/**
 * The shape of a board: cells by index (`row * width + column`), their neighbours, and what a
 * cell holds as this client knows it.
 */

/** @typedef {{width: number, height: number}} Shape */

/** A cell's content, as `Run.cells` holds it: 0 to 8, or one of these. */
export const MINE_HIT = 9;
export const HIDDEN = 10;

/**
 * The neighbours of a cell: 8; 5 on an edge; 3 in a corner.
 * @param {Shape} shape
 * @param {number} cell
 * @returns {number[]}
 */
export function around(shape, cell) {
  return square(shape, cell).filter((other) => other !== cell);
}

/**
 * The 3 × 3 square of a cell, cut at the edges: what a first tap protects.
 * @param {Shape} shape
 * @param {number} cell
 * @returns {number[]}
 */
export function square({ width, height }, cell) {
  const column = cell % width;
  const row = (cell - column) / width;
  const cells = [];
  for (let r = Math.max(0, row - 1); r <= Math.min(height - 1, row + 1); r++) {
    for (let c = Math.max(0, column - 1); c <= Math.min(width - 1, column + 1); c++) {
      cells.push(r * width + c);
    }
  }
  return cells;
}

/**
 * Calls `visit` with every cell of the segments and what it holds.
 * @param {import("./protocol.js").Segments} segments
 * @param {(cell: number, content: number) => void} visit
 */
export function eachOpened(segments, visit) {
  for (const [start, text] of segments) {
    for (let i = 0; i < text.length; i++) {
      visit(start + i, text[i] === "*" ? MINE_HIT : text.charCodeAt(i) - 48);
    }
  }
}
