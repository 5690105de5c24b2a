/**
 * From seed to board (format version 1), and the check that a race was fair.
 *
 * Law: everything here follows from what the room published; nothing asks the server.
 */

import { around, square, HIDDEN, MINE_HIT } from "./grid.js";
import { fromHex, sha256, toHex } from "./sha256.js";

/** @typedef {import("./protocol.js").Result} Result */
/** @typedef {import("./grid.js").Shape & {mines: number}} BoardShape */

const encoder = new TextEncoder();

/**
 * The lower-case hex SHA-256 of a seed's 16 bytes.
 * @param {Uint8Array} seed
 */
export function commitment(seed) {
  return toHex(sha256(seed));
}

/**
 * The seed that attempt `a` of a guess-free search lays its board from.
 * @param {Uint8Array} seed
 * @param {number} attempt
 */
export function attemptSeed(seed, attempt) {
  if (attempt === 0) return seed;
  return sha256(join("demineur/attempt/1", seed, [[attempt, 4]])).slice(0, 16);
}

/**
 * The order of the cells: the first `mines + 9` of it, which is all that any board needs.
 * @param {Uint8Array} seed
 * @param {BoardShape} shape
 */
export function order(seed, { width, height, mines }) {
  const n = width * height;
  const length = Math.min(n, mines + 9);
  const cells = Uint16Array.from({ length: n }, (_, i) => i);
  const word = words(seed, { width, height, mines });
  for (let i = 0; i < length; i++) {
    const bound = n - i;
    const limit = Math.floor(2 ** 32 / bound) * bound;
    let drawn = word();
    while (drawn >= limit) drawn = word();
    const j = i + (drawn % bound);
    [cells[i], cells[j]] = [cells[j], cells[i]];
  }
  return cells.slice(0, length);
}

/**
 * The stream of 4-byte words of a seed and a shape.
 * @param {Uint8Array} seed
 * @param {BoardShape} shape
 * @returns {() => number}
 */
function words(seed, { width, height, mines }) {
  let k = 0;
  let at = 32;
  const block = new DataView(new ArrayBuffer(32));
  return () => {
    if (at === 32) {
      const fields = /** @type {[number, number][]} */ ([[width, 2], [height, 2], [mines, 2], [k++, 4]]);
      sha256(join("demineur/board/1", seed, fields)).forEach((byte, i) => block.setUint8(i, byte));
      at = 0;
    }
    at += 4;
    return block.getUint32(at - 4);
  };
}

/**
 * @param {string} tag ASCII.
 * @param {Uint8Array} seed
 * @param {[value: number, bytes: number][]} fields Big-endian.
 */
function join(tag, seed, fields) {
  const tail = fields.flatMap(([value, bytes]) =>
    Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** (bytes - 1 - i)) % 256),
  );
  return Uint8Array.from([...encoder.encode(tag), ...seed, ...tail]);
}

/**
 * The mines of the board that a first tap gets.
 * @param {Uint16Array} cells The order.
 * @param {BoardShape} shape
 * @param {number} firstTap
 * @returns {number[]} Ascending.
 */
export function minesFor(cells, shape, firstTap) {
  const safe = new Set(square(shape, firstTap));
  return Array.from(cells).filter((cell) => !safe.has(cell)).slice(0, shape.mines).sort((a, b) => a - b);
}

/**
 * The whole board: 0 to 8, `MINE_HIT` where a mine lies.
 * @param {BoardShape} shape
 * @param {Iterable<number>} mines
 */
export function numbers(shape, mines) {
  const board = new Uint8Array(shape.width * shape.height);
  const laid = [...mines];
  for (const mine of laid) {
    for (const cell of around(shape, mine)) board[cell]++;
  }
  for (const mine of laid) board[mine] = MINE_HIT;
  return board;
}

/**
 * 3BV and openings of a board.
 * @param {BoardShape} shape
 * @param {Uint8Array} board
 */
export function threeBv(shape, board) {
  const seen = new Uint8Array(board.length);
  let openings = 0;
  for (let start = 0; start < board.length; start++) {
    if (board[start] !== 0 || seen[start]) continue;
    openings++;
    const stack = [start];
    seen[start] = 1;
    for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
      for (const next of around(shape, cell)) {
        if (seen[next]) continue;
        seen[next] = 1;
        if (board[next] === 0) stack.push(next);
      }
    }
  }
  const isolated = board.reduce((sum, v, cell) => sum + (v !== MINE_HIT && !seen[cell] ? 1 : 0), 0);
  return { threeBv: openings + isolated, openings };
}

/**
 * The boards of a race, each by the player's first tap.
 * @param {Result} result
 * @returns {(firstTap: number) => Uint8Array}
 */
export function boardsOf(result) {
  const seed = fromHex(result.seed) ?? new Uint8Array(16);
  const cells = order(attemptSeed(seed, result.attempt), result);
  /** @type {Map<number, Uint8Array>} */
  const made = new Map();
  return (firstTap) => {
    const board = made.get(firstTap) ?? numbers(result, minesFor(cells, result, firstTap));
    made.set(firstTap, board);
    return board;
  };
}

/**
 * @typedef {object} Check
 * @property {boolean | null} commitment The seed is the one that was committed to before anybody
 *   tapped; null when this browser was not told before the end.
 * @property {boolean} boards Everybody's 3BV follows from the seed and the first tap, and a shared
 *   start was kept.
 * @property {boolean | null} own Every cell that one opened is as on the board from the seed; null
 *   for those who did not play.
 * @property {boolean} fair None of them is false.
 */

/**
 * Checks a race.
 * @param {Result} result
 * @param {string | null} seen The commitment that this browser was told before the end.
 * @param {{seat: number, cells: Uint8Array} | null} own One's own run as it ended.
 * @returns {Check}
 */
export function check(result, seen, own) {
  const seed = fromHex(result.seed);
  const sound = seed?.length === 16 && commitment(seed) === result.commitment;
  const committed = sound ? (seen === null ? null : seen === result.commitment) : false;
  const boardFor = boardsOf(result);
  const boards = sound && result.standings.every((s) => standingHolds(result, s, boardFor));
  const ownHolds = own && sound ? runHolds(result, own, boardFor) : own ? false : null;
  return {
    commitment: committed,
    boards,
    own: ownHolds,
    fair: committed !== false && boards && ownHolds !== false,
  };
}

/**
 * @param {Result} result
 * @param {import("./protocol.js").Standing} standing
 * @param {(firstTap: number) => Uint8Array} boardFor
 */
function standingHolds(result, standing, boardFor) {
  const { first_tap: firstTap, three_bv: claimed } = standing;
  if (firstTap === undefined) return claimed === undefined;
  if (result.marked !== undefined && firstTap !== result.marked) return false;
  return threeBv(result, boardFor(firstTap)).threeBv === claimed;
}

/**
 * @param {Result} result
 * @param {{seat: number, cells: Uint8Array}} own
 * @param {(firstTap: number) => Uint8Array} boardFor
 */
function runHolds(result, own, boardFor) {
  const firstTap = result.standings.find((s) => s.seat === own.seat)?.first_tap;
  const opened = (/** @type {number} */ content) => content !== HIDDEN;
  if (firstTap === undefined) return !own.cells.some(opened);
  const board = boardFor(firstTap);
  return own.cells.every((content, cell) => !opened(content) || content === board[cell]);
}
