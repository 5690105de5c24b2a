/** Frames for the tests, whole and valid; a test says only what it is about. */

export const SETTINGS = Object.freeze({
  level: "beginner", start: "own", guess_free: false, mine: "out", players: 8, listed: false,
});

export const BOARD = Object.freeze({ width: 9, height: 9, mines: 10 });

export const COMMITMENT = "c".repeat(64);

export function player(seat, fields = {}) {
  return {
    seat, name: `player ${seat}`, ready: false, present: true, status: "waiting", percent: 0, flags: 0, ...fields,
  };
}

export function snapshot(fields = {}) {
  return {
    t: "room", v: 5, code: "K7MP3QXZ", phase: "lobby", settings: SETTINGS, board: BOARD, host: 0,
    players: [player(0), player(1)], spectators: 0, clock: { now_ms: 1000 },
    you: { role: "player", seat: 0 }, ...fields,
  };
}

export function race(fields = {}) {
  return { round: 1, commitment: COMMITMENT, seats: [0, 1], ...fields };
}

export function run(fields = {}) {
  return { n: 0, status: "ready", open: [], flags: [], exploded: [], ...fields };
}

export function racing(fields = {}) {
  return snapshot({
    phase: "racing", race: race(), clock: { now_ms: 1000, go_at_ms: 900, ends_at_ms: 600_900, own: { ms: 0, running: false } },
    players: [player(0, { status: "playing" }), player(1, { status: "playing" })],
    you: { role: "player", seat: 0, run: run() }, ...fields,
  });
}

export function event(v, e, fields = {}) {
  return { t: "event", v, event: { e, ...fields } };
}

export const AT = Object.freeze({ nowMs: 2000, lagMs: 20 });
