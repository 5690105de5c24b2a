/** The six levels, from the smallest; the server says a room's board again, and is right. */

/** @typedef {import("./protocol.js").LevelId} LevelId */

/** @type {readonly {id: LevelId, width: number, height: number, mines: number}[]} */
export const LEVELS = Object.freeze([
  { id: "beginner", width: 9, height: 9, mines: 10 },
  { id: "intermediate", width: 16, height: 10, mines: 25 },
  { id: "hard", width: 20, height: 12, mines: 40 },
  { id: "expert", width: 30, height: 16, mines: 60 },
  { id: "extreme", width: 40, height: 20, mines: 60 },
  { id: "marathon", width: 80, height: 40, mines: 240 },
]);

/** @type {import("./protocol.js").Settings} */
export const DEFAULT_SETTINGS = Object.freeze({
  level: "intermediate",
  start: "own",
  guess_free: false,
  mine: "out",
  players: 8,
  listed: false,
});

/**
 * The settings in a kept text, or the defaults where it is none of ours.
 * @param {string | null} text
 * @returns {import("./protocol.js").Settings}
 */
export function settingsFrom(text) {
  try {
    const kept = JSON.parse(text ?? "");
    const valid =
      LEVELS.some(({ id }) => id === kept.level) &&
      ["own", "shared"].includes(kept.start) &&
      ["out", "penalty"].includes(kept.mine) &&
      typeof kept.guess_free === "boolean" &&
      typeof kept.listed === "boolean" &&
      (!kept.guess_free || kept.start === "shared") &&
      Number.isInteger(kept.players) && kept.players >= 2 && kept.players <= 32;
    const { level, start, guess_free, mine, players, listed } = kept;
    return valid ? { level, start, guess_free, mine, players, listed } : DEFAULT_SETTINGS;
  } catch {
    return DEFAULT_SETTINGS;
  }
}
