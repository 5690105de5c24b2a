/**
 * What each event that everybody is told does to a room. Pure; `room.js` calls it, in the order of
 * the versions.
 */

import { elapsed, newStopwatch, stalled } from "./clock.js";
import { newRun } from "./run.js";

/** @typedef {import("./room.js").Room} Room */
/** @typedef {import("./protocol.js").RoomEvent} RoomEvent */
/** @typedef {import("./protocol.js").Player} Player */

/**
 * The room after an event.
 * @param {Room} room
 * @param {RoomEvent} event
 * @returns {Room}
 */
export function applied(room, event) {
  switch (event.e) {
    case "joined":
      return { ...room, players: bySeat([...without(room, event.player.seat), event.player]) };
    case "left":
      return left(room, event.seat);
    case "renamed":
      return withPlayer(room, event.seat, { name: event.name });
    case "ready":
      return withPlayer(room, event.seat, { ready: event.ready });
    case "presence":
      return withPlayer(room, event.seat, { present: event.present });
    case "host":
      return { ...room, host: event.seat };
    case "settings":
      return resettled(room, event);
    case "preparing":
      return { ...room, phase: "preparing" };
    case "unprepared":
      return unprepared(room, event.reason);
    case "countdown":
      return countingDown(room, event);
    case "go":
      return { ...room, phase: "racing", endsAtMs: event.ends_at_ms };
    case "ended":
      return ended(room, event);
    case "stalled":
      return shifted(room, event.ms);
    case "finished":
      return finished(room, event.result);
    case "rematch":
      return rematched(room, event.seat);
    default:
      return room;
  }
}

/**
 * Players in the order of their seats.
 * @param {readonly Player[]} players
 */
export function bySeat(players) {
  return [...players].sort((a, b) => a.seat - b.seat);
}

/**
 * The commitments known, with this race's where it was told before the end. Until "go" the last
 * word counts: a server that lost its countdown in a failure begins it again with another seed.
 * @param {Readonly<Record<number, string>>} known
 * @param {import("./protocol.js").RaceInfo | null} race
 * @param {string} phase
 */
export function committed(known, race, phase) {
  const first = phase === "racing" && race !== null && !(race.round in known);
  return race && (first || phase === "countdown") ? { ...known, [race.round]: race.commitment } : known;
}

/**
 * @param {Room} room
 * @param {(player: Player) => Player} change
 * @returns {Room}
 */
export function eachPlayer(room, change) {
  return { ...room, players: room.players.map(change) };
}

/**
 * @param {Room} room
 * @param {number} seat
 * @param {Partial<Player>} fields
 */
function withPlayer(room, seat, fields) {
  return eachPlayer(room, (player) => (player.seat === seat ? { ...player, ...fields } : player));
}

/**
 * @param {Room} room
 * @param {number} seat
 */
function without(room, seat) {
  return room.players.filter((player) => player.seat !== seat);
}

/**
 * In a race the place of one who leaves stays in the table.
 * @param {Room} room
 * @param {number} seat
 * @returns {Room}
 */
function left(room, seat) {
  const during = room.phase === "racing" || room.phase === "finished";
  if (during && room.race?.seats.includes(seat)) {
    return withPlayer(room, seat, { present: false, ready: false, left: true });
  }
  return { ...room, players: without(room, seat) };
}

/**
 * Other settings turn the page: the last result goes, and nobody is ready.
 * @param {Room} room
 * @param {{settings: Room["settings"], board: Room["board"]}} event
 * @returns {Room}
 */
function resettled(room, { settings, board }) {
  const next = { ...room, settings, board, result: null };
  return eachPlayer(next, (player) => ({ ...player, ready: false }));
}

/**
 * @param {Room} room
 * @param {"no_board"|"stopped"} reason
 * @returns {Room}
 */
function unprepared(room, reason) {
  const failed = reason === "no_board" ? 1 : 0;
  return { ...room, phase: "lobby", goAtMs: null, unprepared: room.unprepared + failed };
}

/**
 * @param {Room} room
 * @param {{race: import("./protocol.js").RaceInfo, go_at_ms: number}} event
 * @returns {Room}
 */
function countingDown(room, { race, go_at_ms: goAtMs }) {
  const racing = room.you.seat !== null && race.seats.includes(room.you.seat);
  const next = {
    ...room,
    phase: /** @type {const} */ ("countdown"),
    race,
    goAtMs,
    endsAtMs: null,
    result: null,
    run: racing ? newRun(room.board, room.settings.mine === "penalty") : null,
    watch: newStopwatch(),
    commitments: committed(room.commitments, race, "countdown"),
  };
  return eachPlayer(next, ({ ms: _, ...player }) => ({
    ...player,
    ready: false,
    status: race.seats.includes(player.seat) ? "playing" : "waiting",
    percent: 0,
    flags: 0,
  }));
}

/**
 * @param {Room} room
 * @param {{seat: number, status: "finished"|"out", ms: number}} event
 * @returns {Room}
 */
function ended(room, { seat, status, ms }) {
  const percent = status === "finished" ? { percent: 100 } : {};
  const next = withPlayer(room, seat, { status, ms, ...percent });
  if (seat !== room.you.seat) return next;
  return { ...next, watch: { ...newStopwatch(), ms } };
}

/**
 * @param {Room} room
 * @param {number} ms
 * @returns {Room}
 */
function shifted(room, ms) {
  return {
    ...room,
    stalls: room.stalls + 1,
    watch: stalled(room.watch, ms),
    goAtMs: room.goAtMs === null ? null : room.goAtMs + ms,
    endsAtMs: room.endsAtMs === null ? null : room.endsAtMs + ms,
  };
}

/**
 * @param {Room} room
 * @param {import("./protocol.js").Result} result
 * @returns {Room}
 */
function finished(room, result) {
  const watch = { ...room.watch, ms: elapsed(room.watch, room.watch.atMs), running: false };
  const run = room.run && { ...room.run, waiting: [] };
  const next = { ...room, phase: /** @type {const} */ ("finished"), result, watch, run };
  return eachPlayer(next, (player) => ({ ...player, ready: false }));
}

/**
 * @param {Room} room
 * @param {number} seat Who asked first, and so is ready.
 * @returns {Room}
 */
function rematched(room, seat) {
  const staying = room.players.filter((player) => !player.left);
  return eachPlayer({ ...room, phase: "lobby", players: staying }, (player) => ({
    ...player,
    ready: player.seat === seat,
  }));
}
