import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { attemptSeed, boardsOf, check, commitment, minesFor, numbers, order, threeBv } from "../../web/fair.js";
import { HIDDEN, MINE_HIT } from "../../web/grid.js";
import { fromHex, sha256, toHex } from "../../web/sha256.js";

const vectors = JSON.parse(readFileSync(new URL("../vectors/boards.json", import.meta.url), "utf8"));
const draw = (board) => Array.from(board, (v) => (v === MINE_HIT ? "*" : v)).join("");

test("there are 36 boards", () => assert.equal(vectors.length, 36));

for (const vector of vectors) {
  test(`${vector.level} from ${vector.seed} at ${vector.first_tap}`, () => {
    const seed = fromHex(vector.seed);
    assert.equal(commitment(seed), vector.commitment);
    const mines = minesFor(order(seed, vector), vector, vector.first_tap);
    assert.deepEqual(mines, vector.mine_cells);
    const board = numbers(vector, mines);
    assert.equal(toHex(sha256(new TextEncoder().encode(draw(board)))), vector.numbers_sha256);
    assert.deepEqual(threeBv(vector, board), { threeBv: vector.three_bv, openings: vector.openings });
  });
}

test("an attempt is the seed itself, or drawn from it", () => {
  const seed = fromHex("000102030405060708090a0b0c0d0e0f");
  assert.equal(attemptSeed(seed, 0), seed);
  const drawn = new TextEncoder().encode("demineur/attempt/1");
  const expected = sha256(Uint8Array.from([...drawn, ...seed, 0, 0, 1, 2])).slice(0, 16);
  assert.deepEqual(attemptSeed(seed, 258), expected);
});

test("a board without room for more than the protected square", () => {
  const shape = { width: 9, height: 9, mines: 72 };
  const board = boardsOf({ ...shape, seed: vectors[0].seed, attempt: 0 })(40);
  assert.equal(board.filter((v) => v === MINE_HIT).length, 72);
  assert.equal(board[40], 0);
});

function raceFrom(vector) {
  const standing = {
    place: 1, seat: 3, name: "Ann", ending: "won", ms: 9000, percent: 100, three_bv: vector.three_bv,
    three_bv_solved: vector.three_bv, taps: 30, flags: 0, penalty_ms: 0, first_tap: vector.first_tap,
  };
  const { width, height, mines, seed, commitment: hash } = vector;
  return { round: 1, seed, attempt: 0, commitment: hash, width, height, mines, standings: [standing] };
}

test("a fair race is found fair", () => {
  const result = raceFrom(vectors[0]);
  const cells = boardsOf(result)(vectors[0].first_tap).map((v) => (v === MINE_HIT ? HIDDEN : v));
  const proof = check(result, result.commitment, { seat: 3, cells });
  assert.deepEqual(proof, { commitment: true, boards: true, own: true, fair: true });
});

test("who came late can check all but the commitment", () => {
  const proof = check(raceFrom(vectors[0]), null, null);
  assert.deepEqual(proof, { commitment: null, boards: true, own: null, fair: true });
});

test("another seed than was committed to is found out", () => {
  const result = raceFrom(vectors[0]);
  assert.equal(check(result, vectors[1].commitment, null).commitment, false);
  assert.equal(check({ ...result, seed: vectors[1].seed }, result.commitment, null).fair, false);
  assert.equal(check({ ...result, seed: "none" }, result.commitment, null).fair, false);
});

test("a wrong 3BV, a start beside the mark, and a cell that changed are found out", () => {
  const result = raceFrom(vectors[0]);
  const [standing] = result.standings;
  assert.equal(check({ ...result, standings: [{ ...standing, three_bv: 1 }] }, null, null).boards, false);
  assert.equal(check({ ...result, marked: 40 }, null, null).boards, false);
  const cells = new Uint8Array(81).fill(HIDDEN);
  cells[vectors[0].mine_cells[0]] = 1;
  assert.equal(check(result, null, { seat: 3, cells }).own, false);
});

test("one who never tapped has no board and nothing open", () => {
  const result = raceFrom(vectors[0]);
  const { first_tap: _, three_bv: __, ...idle } = result.standings[0];
  const none = { ...result, standings: [{ ...idle, ending: "absent" }] };
  const untouched = new Uint8Array(81).fill(HIDDEN);
  assert.equal(check(none, result.commitment, { seat: 3, cells: untouched }).fair, true);
  assert.equal(check(none, null, { seat: 3, cells: untouched.map((v, i) => (i ? v : 0)) }).own, false);
});
