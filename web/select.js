/** What views ask of the state. Pure. */

import { elapsed, serverTime } from "./clock.js";
import { hasBegun, isOpen } from "./run.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./room.js").Room} Room */

/**
 * Whether one's own moves count now.
 * @param {State} state
 * @param {number} localMs
 */
export function mayMove({ room, clock }, localMs) {
  if (!room?.run || room.phase !== "racing" || !isOpen(room.run)) return false;
  const me = self(room);
  const ended = me?.status === "finished" || me?.status === "out";
  return !ended && serverTime(clock, localMs) >= room.watch.frozenUntilMs;
}

/**
 * The counter of the oldest move on the wire without an answer; 0 for none. Those that the store did
 * not take have had one.
 * @param {State} state
 */
export function awaited({ room, stage, holding }) {
  return stage === "in" && !holding && room?.phase === "racing" ? (room.run?.waiting[0]?.n ?? 0) : 0;
}

/**
 * Whether one has still to begin, on the marked cell and nowhere else.
 * @param {Room} room
 */
export function isAtMark({ phase, race, run }) {
  return phase === "racing" && race?.marked !== undefined && run !== null && isOpen(run) && !hasBegun(run);
}

/**
 * One's own place among the players; undefined for a spectator.
 * @param {Room} room
 */
export function self(room) {
  return room.players.find((player) => player.seat === room.you.seat);
}

/**
 * Whether one takes part in the round under way.
 * @param {Room} room
 */
export function isRacing(room) {
  return room.you.seat !== null && (room.race?.seats.includes(room.you.seat) ?? false);
}

/**
 * What one's own clock shows.
 * @param {State} state
 * @param {number} localMs
 */
export function ownTime({ room, clock }, localMs) {
  return room ? elapsed(room.watch, serverTime(clock, localMs)) : 0;
}

/** @typedef {"connecting"|"refused"|"superseded"|"closed"|"lobby"|"race"|"result"} Screen */

/**
 * Which screen shows this state.
 * @param {State} state
 * @returns {Screen}
 */
export function screenOf({ link, room, refusal }) {
  if (link === "superseded" || link === "closed") return link;
  if (refusal) return "refused";
  if (!room) return "connecting";
  if (room.phase !== "lobby" && room.phase !== "finished") return "race";
  return room.result ? "result" : "lobby";
}
