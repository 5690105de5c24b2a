/** Words for what the wire names: levels, endings, phases, errors. */

import { showExact } from "./clock.js";
import { number, t } from "./i18n.js";

/** @typedef {import("./i18n.js").Key} Key */

/** @type {Readonly<Record<import("./protocol.js").LevelId, Key>>} */
const LEVEL = Object.freeze({
  beginner: "level.beginner",
  intermediate: "level.intermediate",
  hard: "level.hard",
  expert: "level.expert",
  extreme: "level.extreme",
  marathon: "level.marathon",
});

/** @type {Readonly<Record<import("./protocol.js").Ending, Key>>} */
const ENDING = Object.freeze({
  won: "result.won",
  lost: "result.lost",
  left: "result.left",
  absent: "result.absent",
  timeout: "result.timeout",
});

/** @type {Readonly<Record<import("./protocol.js").Phase, Key>>} */
const PHASE = Object.freeze({
  lobby: "phase.lobby",
  preparing: "phase.preparing",
  countdown: "phase.countdown",
  racing: "phase.racing",
  finished: "phase.finished",
});

/** @type {Readonly<Record<string, Key>>} */
const ERROR = Object.freeze({
  not_host: "error.not_host",
  not_ready: "error.not_ready",
  bad_name: "error.bad_name",
  bad_settings: "error.bad_settings",
  wrong_phase: "error.wrong_phase",
  room_full: "error.room_full",
  race_running: "error.race_running",
  too_fast: "error.too_fast",
  too_many_rooms: "error.too_many_rooms",
  busy: "error.busy",
  store_unavailable: "error.store_unavailable",
  moves_lost: "error.moves_lost",
  too_many_moves: "error.too_many_moves",
});

/** @param {import("./protocol.js").LevelId} level */
export const levelName = (level) => t(LEVEL[level]);

/** @param {import("./protocol.js").Ending} ending */
export const endingName = (ending) => t(ENDING[ending]);

/** @param {import("./protocol.js").Phase} phase */
export const phaseName = (phase) => t(PHASE[phase]);

/** @param {string} code A code of the wire; those that only a broken client earns share a text. */
export const errorText = (code) => t(ERROR[code] ?? "error.other");

/** @param {number} value 0 to 100. */
export const percent = (value) => number(value / 100, { style: "percent" });

/**
 * A time as results show it, with its unit where nothing else tells that it is one: `7.042 s`,
 * `1:07.042`.
 * @param {number} ms
 */
export const exactTime = (ms) => withUnit(showExact(ms));

/** @param {string} time As `clock.js` shows it. */
export const withUnit = (time) => (time.includes(":") ? time : t("time.seconds", { time }));

/**
 * Columns by rows, in this order in every language: a board does not mirror.
 * @param {import("./grid.js").Shape} shape
 */
export function shapeText({ width, height }) {
  const text = t("level.size", { width, height });
  return document.documentElement.dir === "rtl" ? `\u2066${text}\u2069` : text;
}

/** @param {import("./protocol.js").BoardSize} size */
export function sizeText(size) {
  return `${shapeText(size)} · ${t("level.mines", { count: size.mines })}`;
}

/**
 * The settings that differ from the plain race, each in a word or two.
 * @param {import("./protocol.js").Settings} settings
 */
export function traits(settings) {
  return [
    settings.guess_free ? t("settings.guessFree") : settings.start === "shared" ? t("settings.shared") : null,
    settings.mine === "penalty" ? t("settings.penalty") : null,
  ].filter((word) => word !== null);
}
