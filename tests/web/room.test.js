import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, fromSnapshot, hasGap } from "../../web/room.js";
import { AT, BOARD, COMMITMENT, event, player, race, racing, run, SETTINGS, snapshot } from "./frames.js";

const lobby = () => fromSnapshot(null, snapshot());
const play = (fields) => fromSnapshot(null, racing(fields));
const one = (room, seat) => room.players.find((each) => each.seat === seat);

function folded(room, ...events) {
  return events.reduce((at, [e, fields]) => fold(at, event(at.v + 1, e, fields), AT), room);
}

test("who comes, goes, is ready, renamed, away, host", () => {
  let room = folded(lobby(), ["joined", { player: player(7, { name: "Ann" }) }], ["ready", { seat: 7, ready: true }],
    ["renamed", { seat: 7, name: "Anna" }], ["presence", { seat: 1, present: false }], ["host", { seat: 7 }]);
  assert.deepEqual(one(room, 7), player(7, { name: "Anna", ready: true }));
  assert.equal(one(room, 1).present, false);
  assert.equal(room.host, 7);
  room = folded(room, ["left", { seat: 0 }]);
  assert.deepEqual(room.players.map((each) => each.seat), [1, 7]);
  assert.equal(room.v, 11);
});

test("an event is taken once and in order", () => {
  const room = lobby();
  assert.equal(fold(room, event(5, "host", { seat: 1 }), AT), room, "had before");
  assert.equal(fold(room, event(7, "host", { seat: 1 }), AT), room, "one is missing");
  assert.equal(hasGap(room, event(7, "host", { seat: 1 })), true);
  assert.equal(hasGap(room, event(6, "host", { seat: 1 })), false);
});

test("other settings: nobody is ready, the old result is gone", () => {
  const room = folded({ ...lobby(), result: {} }, ["ready", { seat: 1, ready: true }],
    ["settings", { settings: { ...SETTINGS, level: "expert" }, board: { width: 30, height: 16, mines: 60 } }]);
  assert.deepEqual([room.settings.level, room.board.width, one(room, 1).ready, room.result], ["expert", 30, false, null]);
});

test("from the countdown to go: a fresh run for those who take part", () => {
  let room = folded(lobby(), ["ready", { seat: 1, ready: true }], ["countdown", { race: race(), go_at_ms: 5000 }]);
  assert.deepEqual([room.phase, room.goAtMs, room.run.status, room.watch.running], ["countdown", 5000, "ready", false]);
  assert.deepEqual(room.players.map((each) => [each.status, each.ready]), [["playing", false], ["playing", false]]);
  assert.deepEqual(room.commitments, { 1: COMMITMENT });
  room = folded(room, ["go", { ends_at_ms: 605_000 }]);
  assert.deepEqual([room.phase, room.endsAtMs], ["racing", 605_000]);
});

test("who was not ready watches", () => {
  const room = folded(lobby(), ["countdown", { race: race({ seats: [1] }), go_at_ms: 5000 }]);
  assert.equal(room.run, null);
  assert.equal(one(room, 0).status, "waiting");
});

test("a search that fails is counted, a countdown that stops is not", () => {
  let room = folded(lobby(), ["preparing"]);
  assert.equal(room.phase, "preparing");
  room = folded(room, ["unprepared", { reason: "no_board" }]);
  assert.deepEqual([room.phase, room.unprepared], ["lobby", 1]);
  assert.equal(folded(room, ["unprepared", { reason: "stopped" }]).unprepared, 1);
});

test("an answer to a move opens cells and sets the clock", () => {
  const room = fold(play(), { t: "moved", n: 1, ms: 0, open: [[0, "01"]], status: "playing" }, AT);
  assert.deepEqual([room.run.cells[0], room.run.cells[1], room.run.status], [0, 1, "playing"]);
  assert.deepEqual(room.watch, { ms: 0, atMs: 1980, running: true, frozenUntilMs: 0 });
});

test("a mine with a penalty freezes for a while", () => {
  const room = fold(play(), { t: "moved", n: 1, ms: 40, open: [[0, "*"]], frozen_ms: 10_000 }, AT);
  assert.equal(room.watch.frozenUntilMs, 11_980);
  const later = fold(room, { t: "moved", n: 2, ms: 60 }, AT);
  assert.equal(later.watch.frozenUntilMs, 11_980, "a move that is ignored does not thaw");
});

test("the clock stops with the run", () => {
  const begun = fold(play(), { t: "moved", n: 1, ms: 0, status: "playing" }, AT);
  const won = fold(begun, { t: "moved", n: 2, ms: 4321, status: "won" }, AT);
  assert.deepEqual([won.watch.running, won.watch.ms], [false, 4321]);
  const ended = folded(begun, ["ended", { seat: 0, status: "out", ms: 777 }]);
  assert.deepEqual([ended.watch.running, ended.watch.ms, one(ended, 0).status], [false, 777, "out"]);
});

test("others: how far, and how it ended", () => {
  let room = fold(play(), { t: "progress", p: [[1, 40, 3]] }, AT);
  assert.deepEqual([one(room, 1).percent, one(room, 1).flags], [40, 3]);
  room = folded(room, ["ended", { seat: 1, status: "finished", ms: 9000 }]);
  assert.deepEqual([one(room, 1).status, one(room, 1).percent, one(room, 1).ms], ["finished", 100, 9000]);
  assert.equal(room.watch.running, false, "one's own clock is another matter");
});

test("who leaves a race keeps the line, who leaves the lobby does not", () => {
  const raced = folded(play(), ["left", { seat: 1 }]);
  assert.deepEqual([one(raced, 1).present, one(raced, 1).left], [false, true]);
  assert.equal(one(folded(lobby(), ["left", { seat: 1 }]), 1), undefined);
  const after = folded(play(), ["presence", { seat: 1, present: false }], ["finished", { result: {} }]);
  assert.notEqual(one(folded(after, ["rematch", { seat: 0, round: 2 }]), 1), undefined, "away is not left");
  assert.equal(one(folded(after, ["left", { seat: 1 }], ["rematch", { seat: 0, round: 2 }]), 1), undefined);
});

test("an outage moves every deadline", () => {
  const begun = fold(play(), { t: "moved", n: 1, ms: 0, status: "playing" }, AT);
  const room = folded(begun, ["stalled", { ms: 3000 }]);
  assert.deepEqual([room.goAtMs, room.endsAtMs, room.watch.atMs, room.stalls], [3900, 603_900, 4980, 1]);
});

test("the end, and a rematch with the old result on screen", () => {
  const result = { round: 1, standings: [] };
  let room = folded(play(), ["finished", { result }]);
  assert.deepEqual([room.phase, room.result, room.run.waiting.length], ["finished", result, 0]);
  room = folded(room, ["rematch", { seat: 1, round: 2 }]);
  assert.deepEqual([room.phase, room.result, one(room, 1).ready, one(room, 0).ready], ["lobby", result, true, false]);
  room = folded(room, ["countdown", { race: race({ round: 2, commitment: "d" }), go_at_ms: 1 }]);
  assert.deepEqual([room.result, room.run.n, room.commitments], [null, 0, { 1: COMMITMENT, 2: "d" }]);
});

test("until go a new countdown has a new commitment", () => {
  const begun = folded(lobby(), ["countdown", { race: race(), go_at_ms: 5000 }]);
  assert.equal(folded(begun, ["countdown", { race: race({ commitment: "new" }), go_at_ms: 5000 }]).commitments[1], "new");
});

test("a commitment that is told twice in a race is the first one", () => {
  const room = fromSnapshot(play(), racing({ race: race({ commitment: "other" }) }));
  assert.equal(room.commitments[1], COMMITMENT);
  const late = fromSnapshot(null, snapshot({ phase: "finished", race: race() }));
  assert.deepEqual(late.commitments, {}, "after the end it proves nothing");
});

test("what was missed: events, moves, progress, times", () => {
  let before = play();
  before = { ...before, run: { ...before.run, waiting: [{ n: 1, t: "tap", c: 0 }, { n: 2, t: "flag", c: 9 }] } };
  const room = fold(before, {
    t: "missed", v: 7, n: 1, spectators: 2,
    events: [event(6, "presence", { seat: 1, present: false }), event(7, "stalled", { ms: 500 })],
    moves: [{ t: "moved", n: 1, ms: 0, open: [[0, "01"]], status: "playing" }],
    progress: [[1, 12, 1]],
    clock: { now_ms: 9000, go_at_ms: 1400, ends_at_ms: 601_400, own: { ms: 2500, running: true } },
  }, AT);
  assert.deepEqual([room.v, room.spectators, one(room, 1).percent, one(room, 1).present], [7, 2, 12, false]);
  assert.deepEqual(room.run.waiting, [{ n: 2, t: "flag", c: 9 }]);
  assert.deepEqual([room.watch.ms, room.watch.atMs, room.goAtMs], [2500, 9000, 1400]);
});

test("a move that the server holds is not waited for, though its answer went elsewhere", () => {
  const before = play();
  const waiting = [1, 2, 3].map((n) => ({ n, t: "flag", c: n }));
  const frame = { t: "missed", v: 5, n: 2, events: [], moves: [], progress: [], spectators: 0, clock: { now_ms: 1 } };
  const room = fold({ ...before, run: { ...before.run, waiting } }, frame, AT);
  assert.deepEqual([room.run.waiting.map(({ n }) => n), room.run.n], [[3], 2]);
});

test("a snapshot in mid-race is the whole of it", () => {
  const room = play({ you: { role: "player", seat: 0, run: run({ n: 4, status: "playing", open: [[0, "01"]], flags: [5], exploded: [7] }) } });
  assert.deepEqual([room.run.n, room.run.cells[0], room.run.flags[5], room.run.cells[7]], [4, 0, 1, 9]);
});

test("a result's run has the size of its own board, whatever the level is now", () => {
  const result = { round: 1, standings: [], ...BOARD };
  const frame = snapshot({ phase: "lobby", race: race(), result, board: { width: 30, height: 16, mines: 60 }, you: { role: "player", seat: 0, run: run() } });
  assert.equal(fromSnapshot(null, frame).run.cells.length, 81);
});

test("a refused move, a clock that began by itself, and the watchers", () => {
  let room = play();
  room = { ...room, run: { ...room.run, waiting: [{ n: 1, t: "tap", c: 0 }] } };
  room = fold(room, { t: "error", code: "too_fast", text: "", n: 1 }, AT);
  assert.equal(room.run.waiting.length, 0);
  const unsure = { ...room, run: { ...room.run, waiting: [{ n: 1, t: "tap", c: 0 }] } };
  const told = fold(unsure, { t: "error", code: "store_unavailable", text: "", n: 1 }, AT);
  assert.equal(told.run.waiting.length, 1, "it may have been made, and is sent again");
  room = fold(room, { t: "clock", clock: { now_ms: 12_000, own: { ms: 1100, running: true } } }, AT);
  assert.deepEqual([room.watch.ms, room.watch.running, room.goAtMs], [1100, true, 900]);
  assert.equal(fold(room, { t: "spectators", count: 4 }, AT).spectators, 4);
  assert.equal(fold(room, { t: "pong", at: 1, now_ms: 1 }, AT), room);
});
