/**
 * The state of the page as plain data, and the machine that talks to a room: what to say when a
 * connection opens, what a frame changes, what a person's wish becomes on the wire. Pure: frames
 * to send are returned, never sent, and the token passes through without being kept.
 */

import { lag, newServerClock, ponged, serverTime, told } from "./clock.js";
import { fold, fromSnapshot, hasGap } from "./room.js";
import { withMove } from "./run.js";
import { mayMove } from "./select.js";

/** @typedef {import("./protocol.js").ClientFrame} ClientFrame */
/** @typedef {import("./protocol.js").ServerFrame} ServerFrame */
/** @typedef {import("./protocol.js").Settings} Settings */
/** @typedef {import("./room.js").Room} Room */
/**
 * @typedef {"connecting"|"online"|"reconnecting"|"superseded"|"closed"} Link
 *   `reconnecting`: was online before; `closed`: the room has ended.
 */
/**
 * @typedef {{kind: "create", settings: Settings} | {kind: "join", role: import("./protocol.js").Role}} Wish
 *   What one came for, until it is granted.
 */
/**
 * @typedef {object} State
 * @property {string} code The room of this address.
 * @property {Link} link
 * @property {"none"|"greeted"|"in"} stage How far this connection is. Moves go out only when it is
 *   in: one that overtook those from before would make the server take them for repetitions.
 * @property {boolean} holding Moves wait because the store did not take one: a later one that it
 *   took would make the server forget the earlier.
 * @property {string} name One's own name, as the server has it.
 * @property {Wish} wish
 * @property {Room | null} room
 * @property {string | null} refusal Why one is not in the room: an error code.
 * @property {{code: string, text: string, retryMs: number, id: number} | null} fault The last error that is worth
 *   telling; `id` tells two of the same apart.
 * @property {import("./clock.js").ServerClock} clock
 * @property {boolean} flagMode
 */
/**
 * @typedef {object} Next
 * @property {State} state
 * @property {ClientFrame[]} send
 * @property {string | null} [token] A new token to keep; null: forget the one that was sent, and
 *   say hello again without it.
 * @property {null} [name] Forget the name that was sent, and say hello again without it.
 */

/** Errors that keep one out of a room, as an answer to `create` or `join`. */
const REFUSALS = new Set([
  "no_room", "room_full", "race_running", "too_many_rooms", "busy", "bad_settings",
  "store_unavailable",
]);

/** Errors that say nothing to a person: the move came too late, and the board tells why. */
const SILENT = new Set(["run_over", "not_racing"]);

/**
 * @param {string} code
 * @param {Wish} wish
 * @returns {State}
 */
export function newState(code, wish) {
  return {
    code,
    link: "connecting",
    stage: "none",
    holding: false,
    name: "",
    wish,
    room: null,
    refusal: null,
    fault: null,
    clock: newServerClock(),
    flagMode: false,
  };
}

/**
 * A connection has opened.
 * @param {State} state
 * @param {{token: string | null, name: string | null}} identity
 * @returns {Next}
 */
export function opened(state, { token, name }) {
  const hello = /** @type {ClientFrame} */ ({ t: "hello", ...(token && { token }), ...(name && { name }) });
  return { state: { ...state, stage: "none" }, send: [hello] };
}

/**
 * A connection has closed, or could not be made.
 * @param {State} state
 * @param {Link} link
 * @returns {State}
 */
export function lost(state, link) {
  return { ...state, link, stage: "none" };
}

/**
 * A frame has come.
 * @param {State} state
 * @param {ServerFrame} frame
 * @param {number} localMs
 * @returns {Next}
 */
export function received(state, frame, localMs) {
  switch (frame.t) {
    case "welcome":
      return welcomed(state, frame, localMs);
    case "pong":
      return only({ ...state, clock: ponged(state.clock, frame, localMs) });
    case "room":
      return entered(state, frame, localMs);
    case "missed":
      return resumed(state, frame, localMs);
    case "error":
      return refusedBy(state, frame, localMs);
    default:
      return folded(state, frame, localMs);
  }
}

/**
 * @param {State} state
 * @returns {Next}
 */
function only(state) {
  return { state, send: [] };
}

/**
 * @param {State} state
 * @param {import("./protocol.js").Welcome} frame
 * @param {number} localMs
 * @returns {Next}
 */
function welcomed(state, frame, localMs) {
  const next = {
    ...state,
    link: /** @type {const} */ ("online"),
    stage: /** @type {const} */ ("greeted"),
    name: frame.name,
    clock: told(state.clock, frame.now_ms, localMs),
  };
  const sound = /** @type {ClientFrame} */ ({ t: "ping", at: localMs });
  const { state: after, send } = asking(next, frame.room);
  return { state: after, send: [sound, ...send], ...(frame.token && { token: frame.token }) };
}

/**
 * Asks for what one came for, where it can be had.
 * @param {State} state
 * @param {boolean} exists Whether the room does.
 * @returns {Next}
 */
function asking(state, exists) {
  if (state.wish.kind === "create" && !exists) {
    return { state, send: [{ t: "create", settings: state.wish.settings }] };
  }
  if (!exists) return only({ ...state, room: null, refusal: "no_room" });
  const role = state.wish.kind === "join" ? state.wish.role : "player";
  const held = state.room && { since: state.room.v, n: state.room.run?.held ?? 0 };
  return { state, send: [{ t: "join", role, ...held }] };
}

/**
 * @param {State} state
 * @param {import("./protocol.js").RoomSnapshot} frame
 * @param {number} localMs
 * @returns {Next}
 */
function entered(state, frame, localMs) {
  const clock = told(state.clock, frame.clock.now_ms, localMs);
  return seated({ ...state, clock }, fromSnapshot(state.room, frame));
}

/**
 * @param {State} state
 * @param {import("./protocol.js").Missed} frame
 * @param {number} localMs
 * @returns {Next}
 */
function resumed(state, frame, localMs) {
  if (!state.room) return only(state);
  return seated(state, fold(state.room, frame, timeOf(state, localMs)));
}

/**
 * In the room, from now on or again: moves without an answer are said once more.
 * @param {State} state
 * @param {Room} room
 * @returns {Next}
 */
function seated(state, room) {
  const next = {
    ...state,
    room,
    stage: /** @type {const} */ ("in"),
    refusal: null,
    wish: /** @type {Wish} */ ({ kind: "join", role: room.you.role }),
    flagMode: sameRun(state.room, room) && state.flagMode,
  };
  return retrying(next);
}

/**
 * Flag mode starts off for each new run.
 * @param {Room | null} before
 * @param {Room} after
 */
function sameRun(before, after) {
  return before?.race?.round === after.race?.round && Boolean(before?.run) === Boolean(after.run);
}

/**
 * @param {State} state
 * @param {import("./protocol.js").ErrorFrame} frame
 * @param {number} localMs
 * @returns {Next}
 */
function refusedBy(state, frame, localMs) {
  if (frame.code === "bad_token") return { state, send: [], token: null };
  if (frame.code === "room_exists") {
    // Somebody was faster with this code: the room is there, so one joins it.
    const wish = /** @type {Wish} */ ({ kind: "join", role: "player" });
    return { state: { ...state, wish }, send: [{ t: "join", role: "player" }] };
  }
  const room = state.room && fold(state.room, frame, timeOf(state, localMs));
  const { code, text, retry_ms: retryMs = 0 } = frame;
  const fault = { code, text, retryMs, id: (state.fault?.id ?? 0) + 1 };
  if (frame.code === "bad_name" && state.stage === "none") return { state: { ...state, fault }, send: [], name: null };
  // In answer to a join, even to one that was to bring back what is still on screen.
  const refused = state.stage !== "in" && REFUSALS.has(frame.code);
  if (refused) return only({ ...state, room: null, refusal: frame.code, fault });
  const holding = state.holding || (frame.code === "store_unavailable" && frame.n !== undefined);
  return only({ ...state, room, holding, fault: SILENT.has(frame.code) ? state.fault : fault });
}

/**
 * @param {State} state
 * @param {ServerFrame} frame
 * @param {number} localMs
 * @returns {Next}
 */
function folded(state, frame, localMs) {
  if (!state.room) return only(state);
  if (hasGap(state.room, frame)) return resync(state, state.room);
  const room = fold(state.room, frame, timeOf(state, localMs));
  return only({ ...state, room, flagMode: sameRun(state.room, room) && state.flagMode });
}

/**
 * Moves that wait are said once more: a store that did not answer may do so now.
 * @param {State} state
 * @returns {Next}
 */
export function retrying(state) {
  const { room, stage } = state;
  const waiting = stage === "in" && room?.phase === "racing" ? (room.run?.waiting ?? []) : [];
  return { state: { ...state, holding: false }, send: [...waiting] };
}

/**
 * Asks for a whole snapshot.
 * @param {State} state
 * @param {Room} room
 * @returns {Next}
 */
function resync(state, room) {
  if (state.stage !== "in") return only(state);
  return { state: { ...state, stage: "greeted" }, send: [{ t: "join", role: room.you.role }] };
}

/**
 * @param {State} state
 * @param {number} localMs
 */
function timeOf(state, localMs) {
  return { nowMs: serverTime(state.clock, localMs), lagMs: lag(state.clock) };
}

/**
 * A person makes a move. It waits in the run until it is answered, so it is sent again after
 * a reconnection; without a connection it is only kept.
 * @param {State} state
 * @param {"tap"|"flag"} t
 * @param {number} cell
 * @param {number} localMs
 * @returns {Next}
 */
export function moving(state, t, cell, localMs) {
  const { room } = state;
  if (!room?.run || !mayMove(state, localMs)) return only(state);
  const made = withMove(room.run, t, cell, room.race?.marked);
  if (!made) return only(state);
  const next = { ...state, room: { ...room, run: made.run } };
  return { state: next, send: state.stage === "in" && !state.holding ? [made.move] : [] };
}
