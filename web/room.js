/**
 * A room as this client knows it: every frame about it folds in here and nowhere else. Pure:
 * no DOM, no socket, no clock of its own.
 */

import { stopwatchOf } from "./clock.js";
import { applied, bySeat, committed, eachPlayer } from "./events.js";
import { answered, madeUpTo, refused, runOf } from "./run.js";

/** @typedef {import("./protocol.js").RoomSnapshot} RoomSnapshot */
/** @typedef {import("./protocol.js").ServerFrame} ServerFrame */
/** @typedef {import("./protocol.js").Player} Player */
/** @typedef {{nowMs: number, lagMs: number}} At The server's time when a frame arrived. */
/**
 * @typedef {object} Room
 * @property {number} v The version of the last event.
 * @property {string} code
 * @property {import("./protocol.js").Phase} phase
 * @property {import("./protocol.js").Settings} settings
 * @property {import("./protocol.js").BoardSize} board
 * @property {number} host
 * @property {readonly Player[]} players By seat.
 * @property {number} spectators
 * @property {import("./protocol.js").RaceInfo | null} race
 * @property {number | null} goAtMs On the server's clock, as `endsAtMs`.
 * @property {number | null} endsAtMs
 * @property {{role: import("./protocol.js").Role, seat: number | null}} you
 * @property {import("./run.js").Run | null} run One's own.
 * @property {import("./clock.js").Stopwatch} watch One's own.
 * @property {import("./protocol.js").Result | null} result Of the last race, until the next one.
 * @property {Readonly<Record<number, string>>} commitments By round, as first told before its end.
 * @property {number} unprepared How often no guess-free board was found.
 * @property {number} stalls How many outages were credited.
 */

/**
 * The room of a snapshot.
 * @param {Room | null} before The same room before, or null.
 * @param {RoomSnapshot} frame
 * @returns {Room}
 */
export function fromSnapshot(before, frame) {
  const penalty = frame.settings.mine === "penalty";
  const race = frame.race ?? null;
  const sameRound = before?.race?.round === race?.round ? before : null;
  const run = frame.you.run
    ? runOf(sizeOf(frame), penalty, frame.you.run, sameRound?.run ?? null)
    : frame.phase === "lobby" ? (sameRound?.run ?? null) : null;
  return {
    v: frame.v,
    code: frame.code,
    phase: frame.phase,
    settings: frame.settings,
    board: frame.board,
    host: frame.host,
    players: bySeat(frame.players),
    spectators: frame.spectators,
    race,
    goAtMs: frame.clock.go_at_ms ?? null,
    endsAtMs: frame.clock.ends_at_ms ?? null,
    you: { role: frame.you.role, seat: frame.you.seat ?? null },
    run,
    watch: stopwatchOf(frame.clock),
    result: frame.result ?? null,
    commitments: committed(before?.commitments ?? {}, race, frame.phase),
    unprepared: before?.unprepared ?? 0,
    stalls: before?.stalls ?? 0,
  };
}

/**
 * A result outlives changes of the settings, and so does its board's size.
 * @param {RoomSnapshot} frame
 */
function sizeOf({ board, result }) {
  return result ? { width: result.width, height: result.height, mines: result.mines } : board;
}

/**
 * The room after a frame of the server's; the very same when the frame does not concern it.
 * @param {Room} room
 * @param {ServerFrame} frame
 * @param {At} at
 * @returns {Room}
 */
export function fold(room, frame, at) {
  switch (frame.t) {
    case "event":
      return frame.v === room.v + 1 ? { ...applied(room, frame.event), v: frame.v } : room;
    case "moved":
      return moved(room, frame, at);
    case "error":
      return room.run && isLost(frame) ? { ...room, run: refused(room.run, frame.n) } : room;
    case "progress":
      return progressed(room, frame.p);
    case "spectators":
      return { ...room, spectators: frame.count };
    case "clock":
      return clocked(room, frame.clock);
    case "missed":
      return caughtUp(room, frame, at);
    default:
      return room;
  }
}

/**
 * Whether an error says that a move was not made. Without a store nobody knows: it goes on waiting,
 * and is sent again.
 * @param {import("./protocol.js").ErrorFrame} frame
 * @returns {frame is import("./protocol.js").ErrorFrame & {n: number}}
 */
function isLost(frame) {
  return frame.n !== undefined && frame.code !== "store_unavailable";
}

/**
 * Whether an event cannot follow: some were lost, and only a snapshot helps.
 * @param {Room} room
 * @param {ServerFrame} frame
 */
export function hasGap(room, frame) {
  return frame.t === "event" && frame.v > room.v + 1;
}

/**
 * @param {Room} room
 * @param {import("./protocol.js").Missed} frame
 * @param {At} at
 */
function caughtUp(room, frame, at) {
  let next = room;
  for (const event of frame.events) next = fold(next, event, at);
  for (const move of frame.moves) next = fold(next, move, at);
  next = clocked(progressed(next, frame.progress), frame.clock);
  if (next.run) {
    const waiting = next.run.waiting.filter((move) => move.n > frame.n);
    const { n, held } = next.run;
    const made = madeUpTo(next.run.made, frame.n);
    const run = { ...next.run, n: Math.max(n, frame.n), held: Math.max(held, frame.n), waiting, made };
    next = { ...next, run };
  }
  return { ...next, v: frame.v, spectators: frame.spectators };
}

/**
 * @param {Room} room
 * @param {import("./protocol.js").Moved} frame
 * @param {At} at
 * @returns {Room}
 */
function moved(room, frame, { nowMs, lagMs }) {
  if (!room.run) return room;
  const run = answered(room.run, frame);
  const over = run.status === "won" || run.status === "lost";
  const watch = {
    ms: frame.ms,
    atMs: nowMs - lagMs,
    running: !over && (run.status === "playing" || room.watch.running),
    frozenUntilMs: frame.frozen_ms ? nowMs - lagMs + frame.frozen_ms : room.watch.frozenUntilMs,
  };
  return { ...room, run, watch };
}

/**
 * @param {Room} room
 * @param {import("./protocol.js").Clock} clock
 * @returns {Room}
 */
function clocked(room, clock) {
  return {
    ...room,
    watch: clock.own ? stopwatchOf(clock) : room.watch,
    goAtMs: clock.go_at_ms ?? room.goAtMs,
    endsAtMs: clock.ends_at_ms ?? room.endsAtMs,
  };
}

/**
 * @param {Room} room
 * @param {import("./protocol.js").ProgressRow[]} rows
 * @returns {Room}
 */
function progressed(room, rows) {
  const news = new Map(rows.map(([seat, percent, flags]) => [seat, { percent, flags }]));
  return eachPlayer(room, (player) => {
    const row = news.get(player.seat);
    return row ? { ...player, ...row } : player;
  });
}
