import assert from "node:assert/strict";
import { test } from "node:test";
import { awaited, isAtMark, isRacing, mayMove, ownTime, screenOf, self } from "../../web/select.js";
import * as machine from "../../web/state.js";
import { event, race, racing, run, SETTINGS, snapshot } from "./frames.js";

const WELCOME = { t: "welcome", player: "p", name: "Ann", now_ms: 1000, room: true, member: true };
const join = { kind: "join", role: "player" };
const sent = (frames, ...kinds) => assert.deepEqual(frames.map((frame) => frame.t), kinds);

/** A client past its hello. */
function greeted(wish = join, welcome = WELCOME) {
  const { state } = machine.opened(machine.newState("K7MP3QXZ", wish), { token: "secret", name: "Ann" });
  return machine.received(state, welcome, 0);
}

function inRoom(frame = snapshot()) {
  return machine.received(greeted().state, frame, 0).state;
}

test("a hello names what is kept, and nothing that is not", () => {
  const state = machine.newState("K7MP3QXZ", join);
  assert.deepEqual(machine.opened(state, { token: "secret", name: null }).send, [{ t: "hello", token: "secret" }]);
  assert.deepEqual(machine.opened(state, { token: null, name: null }).send, [{ t: "hello" }]);
});

test("the token passes through and is nowhere in the state", () => {
  const next = greeted(join, { ...WELCOME, token: "fresh" });
  assert.equal(next.token, "fresh");
  assert.doesNotMatch(JSON.stringify(next.state), /fresh|secret/);
  assert.equal("token" in greeted(), false, "no news of it: what is kept stays");
});

test("a token that the server does not know is forgotten", () => {
  const { state } = machine.opened(machine.newState("K7MP3QXZ", join), { token: "old", name: null });
  assert.equal(machine.received(state, { t: "error", code: "bad_token", text: "" }, 0).token, null);
});

test("a name that the server refuses is forgotten, and keeps nobody out", () => {
  const { state } = machine.opened(machine.newState("K7MP3QXZ", join), { token: null, name: "\u202e" });
  const refused = machine.received(state, { t: "error", code: "bad_name", text: "" }, 0);
  assert.equal(refused.name, null);
  assert.equal(refused.state.fault.code, "bad_name", "it is told why");
  assert.equal("name" in machine.received(inRoom(), { t: "error", code: "bad_name", text: "" }, 0), false);
});

test("who joins asks to join, who creates asks to create", () => {
  sent(greeted().send, "ping", "join");
  const create = { kind: "create", settings: SETTINGS };
  const next = greeted(create, { ...WELCOME, room: false });
  assert.deepEqual(next.send.at(-1), { t: "create", settings: SETTINGS });
  sent(greeted(create).send, "ping", "join");
});

test("a room that is not there", () => {
  const { state, send } = greeted(join, { ...WELCOME, room: false });
  sent(send, "ping");
  assert.equal(screenOf(state), "refused");
});

test("a code that somebody else took first is joined", () => {
  const { state } = greeted({ kind: "create", settings: SETTINGS }, { ...WELCOME, room: false });
  sent(machine.received(state, { t: "error", code: "room_exists", text: "" }, 0).send, "join");
});

test("in the room; a return names what is held", () => {
  const state = inRoom(racing({ you: { role: "player", seat: 0, run: run({ n: 4 }) } }));
  assert.equal(state.stage, "in");
  const again = machine.received(machine.opened(machine.lost(state, "reconnecting"), { token: null, name: null }).state, WELCOME, 0);
  assert.deepEqual(again.send.at(-1), { t: "join", role: "player", since: 5, n: 4 });
});

test("a move without an answer is sent again, as it was", () => {
  const first = machine.moving(inRoom(racing()), "tap", 3, 0);
  assert.deepEqual(first.send, [{ n: 1, t: "tap", c: 3 }]);
  const away = machine.lost(first.state, "reconnecting");
  const second = machine.moving(away, "flag", 9, 0);
  assert.deepEqual(second.send, [], "kept, not sent");
  const back = machine.received(second.state, WELCOME, 0).state;
  const early = machine.moving(back, "flag", 10, 0);
  assert.deepEqual(early.send, [], "not before the older ones have gone");
  const missed = { t: "missed", v: 5, n: 0, events: [], moves: [], progress: [], spectators: 0, clock: { now_ms: 1 } };
  assert.deepEqual(machine.received(early.state, missed, 0).send, [
    { n: 1, t: "tap", c: 3 }, { n: 2, t: "flag", c: 9 }, { n: 3, t: "flag", c: 10 },
  ]);
});

test("what is held is the last move with an effect; what the store did not take is said again", () => {
  let state = machine.moving(inRoom(racing()), "tap", 3, 0).state;
  state = machine.received(state, { t: "moved", n: 1, ms: 0, open: [[3, "1"]], status: "playing" }, 0).state;
  state = machine.received(machine.moving(state, "flag", 9, 0).state, { t: "moved", n: 2, ms: 5 }, 0).state;
  state = machine.moving(state, "flag", 10, 0).state;
  const unsure = { t: "error", code: "store_unavailable", text: "", n: 3, retry_ms: 700 };
  state = machine.received(state, unsure, 0).state;
  assert.equal(state.fault.retryMs, 700);
  const later = machine.moving(state, "flag", 11, 0);
  assert.deepEqual(later.send, [], "none overtakes it");
  const again = machine.retrying(later.state);
  assert.deepEqual(again.send, [{ n: 3, t: "flag", c: 10 }, { n: 4, t: "flag", c: 11 }]);
  assert.equal(machine.moving(again.state, "flag", 12, 0).send.length, 1);
  const away = machine.lost(state, "reconnecting");
  assert.deepEqual(machine.retrying(away).send, [], "not without a connection");
  assert.equal(machine.received(away, WELCOME, 0).send.at(-1).n, 1);
});

test("moves count from go to the end of one's run, and not in a penalty", () => {
  assert.equal(mayMove(inRoom(), 0), false);
  const state = inRoom(racing());
  assert.equal(mayMove(state, 0), true);
  assert.deepEqual(machine.moving(inRoom(snapshot()), "tap", 3, 0).send, []);
  const frozen = inRoom(racing({ clock: { now_ms: 1000, own: { ms: 5, running: true, frozen_ms: 10_000 } } }));
  assert.equal(mayMove(frozen, 0), false);
  assert.equal(mayMove(frozen, 10_001), true);
  const out = machine.received(state, event(6, "ended", { seat: 0, status: "out", ms: 9 }), 0).state;
  assert.equal(mayMove(out, 0), false);
});

test("an answer is due to the oldest move on the wire", () => {
  let state = machine.moving(inRoom(racing()), "tap", 3, 0).state;
  state = machine.moving(state, "flag", 9, 0).state;
  assert.equal(awaited(state), 1);
  assert.equal(awaited(machine.lost(state, "reconnecting")), 0);
  const unsure = { t: "error", code: "store_unavailable", text: "", n: 1, retry_ms: 700 };
  assert.equal(awaited(machine.received(state, unsure, 0).state), 0, "the server lives, its store does not");
  state = machine.received(state, { t: "moved", n: 1, ms: 0, open: [[3, "1"]], status: "playing" }, 0).state;
  assert.equal(awaited(state), 2);
  state = machine.received(state, { t: "moved", n: 2, ms: 5 }, 0).state;
  assert.equal(awaited(state), 0);
});

test("the marked cell is said until the first tap is made", () => {
  const marked = inRoom(racing({ race: race({ marked: 40 }) }));
  assert.equal(isAtMark(marked.room), true);
  assert.deepEqual(machine.moving(marked, "tap", 3, 0).send, [], "beside it");
  assert.equal(isAtMark(machine.moving(marked, "tap", 40, 0).state.room), false);
  assert.equal(isAtMark(inRoom(racing()).room), false);
});

test("a gap asks for the whole room, once", () => {
  const next = machine.received(inRoom(), event(9, "host", { seat: 1 }), 0);
  assert.deepEqual(next.send, [{ t: "join", role: "player" }]);
  sent(machine.received(next.state, event(10, "host", { seat: 0 }), 0).send);
  assert.equal(machine.received(next.state, snapshot({ v: 10 }), 0).state.room.v, 10);
});

test("a refusal to join is a page, a refusal in the room is a word", () => {
  const full = machine.received(greeted().state, { t: "error", code: "room_full", text: "" }, 0).state;
  assert.deepEqual([screenOf(full), full.refusal], ["refused", "room_full"]);
  const told = machine.received(inRoom(), { t: "error", code: "room_full", text: "" }, 0).state;
  assert.deepEqual([screenOf(told), told.fault.code], ["lobby", "room_full"]);
  const quiet = machine.received(inRoom(racing()), { t: "error", code: "run_over", text: "", n: 1 }, 0).state;
  assert.equal(quiet.fault, null);
});

test("a refusal to come back takes the stale room away", () => {
  const back = machine.received(machine.lost(inRoom(), "reconnecting"), WELCOME, 0).state;
  const state = machine.received(back, { t: "error", code: "race_running", text: "" }, 0).state;
  assert.deepEqual([state.room, screenOf(state)], [null, "refused"]);
});

test("flag mode starts off for each new run", () => {
  const on = { ...inRoom(racing()), flagMode: true };
  assert.equal(machine.received(on, { t: "progress", p: [] }, 0).state.flagMode, true);
  const next = machine.received(on, event(6, "countdown", { race: race({ round: 2 }), go_at_ms: 1 }), 0).state;
  assert.equal(next.flagMode, false);
});

test("one's own clock runs on the server's", () => {
  let state = inRoom(racing());
  state = machine.received(state, { t: "pong", at: 0, now_ms: 1020 }, 40).state;
  state = machine.received(state, { t: "moved", n: 1, ms: 0, status: "playing" }, 100).state;
  assert.equal(ownTime(state, 1080), 1000);
});

test("which screen shows what", () => {
  const at = (frame) => screenOf(inRoom(frame));
  assert.equal(at(snapshot()), "lobby");
  for (const phase of ["preparing", "countdown", "racing"]) assert.equal(at(racing({ phase })), "race");
  const result = { round: 1, standings: [], width: 9, height: 9, mines: 10 };
  assert.equal(at(snapshot({ phase: "finished", result })), "result");
  assert.equal(at(snapshot({ phase: "lobby", result })), "result");
  assert.equal(screenOf(machine.newState("K7MP3QXZ", join)), "connecting");
  assert.equal(screenOf(machine.lost(inRoom(), "superseded")), "superseded");
  assert.equal(screenOf(machine.lost(inRoom(), "reconnecting")), "lobby", "what was there stays there");
});

test("a spectator has no place and does not race", () => {
  const { room } = inRoom(racing({ you: { role: "spectator" } }));
  assert.deepEqual([self(room), isRacing(room), room.run], [undefined, false, null]);
});
