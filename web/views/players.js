/** Who is in the room: the waiting list, and everybody's progress in a race. */

import { el, fill, icon, setAttribute, setText } from "../dom.js";
import { t } from "../i18n.js";
import { exactTime, percent } from "../words.js";

/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../protocol.js").Player} Player */

/**
 * @param {Room} room
 * @param {Player} player
 */
function nameOf(room, player) {
  const own = player.seat === room.you.seat;
  return [
    // A name in another script must not turn the line around.
    el("bdi", { class: "player-name" }, player.name),
    own && el("span", { class: "player-you" }, t("player.you")),
  ];
}

/** The waiting list. */
export function playerList() {
  const element = el("ul", { class: "players" });
  return {
    element,
    /** @param {Room} room */
    show: (room) => fill(element, ...room.players.map((player) => listRow(room, player))),
  };
}

/**
 * @param {Room} room
 * @param {Player} player
 */
function listRow(room, player) {
  const host = player.seat === room.host;
  const [state, text] = !player.present ? ["away", t("player.away")]
    : host ? ["host", t("player.host")]
    : player.ready ? ["ready", t("player.ready")] : ["waiting", t("player.waiting")];
  return el("li", { class: "player", "data-state": state },
    el("span", { class: "player-dot", "aria-hidden": "true" }),
    el("span", { class: "player-label" }, ...nameOf(room, player)),
    el("span", { class: "player-state" }, host ? icon("crown") : player.ready && icon("check"), text));
}

/** The element that says what the share is. */
export const PROGRESS_HINT = "progress-hint";

/** So many rows are seen at once, even on a phone. */
const FEW = 5;

/**
 * Everybody's progress: a bar, the share solved, the flags, and how it ended. Among few, rows keep
 * their places, so that the eye finds a rival where it left them; among many, the leaders come first.
 */
export function progressList() {
  const element = el("ul", { class: "progress-list" });
  /** @type {Map<number, ReturnType<typeof progressRow>>} */
  const rows = new Map();
  return {
    element,
    /** @param {Room} room */
    show(room) {
      const racers = racersOf(room);
      for (const seat of rows.keys()) {
        if (!racers.some((player) => player.seat === seat)) rows.delete(seat);
      }
      for (const player of racers) {
        const row = rows.get(player.seat) ?? progressRow(room, player);
        rows.set(player.seat, row);
        row.show(player);
      }
      const wanted = racers.map((player) => /** @type {HTMLElement} */ (rows.get(player.seat)?.element));
      const same = wanted.length === element.childElementCount && wanted.every((row, i) => element.children[i] === row);
      if (!same) fill(element, ...wanted);
    },
  };
}

/**
 * Who races, oneself first.
 * @param {Room} room
 */
export function racersOf(room) {
  const racing = room.players.filter((player) => room.race?.seats.includes(player.seat));
  const own = (/** @type {Player} */ player) => (player.seat === room.you.seat ? 0 : 1);
  const ranked = racing.length > FEW;
  return racing.sort((a, b) => own(a) - own(b) || (ranked ? ahead(a, b) : 0) || a.seat - b.seat);
}

/**
 * Who has finished, by time; then who plays, by how far; then who is out, by the same.
 * @param {Player} a
 * @param {Player} b
 */
function ahead(a, b) {
  const group = (/** @type {Player} */ player) => ["finished", "playing", "out"].indexOf(player.status);
  const times = a.status === "finished" ? (a.ms ?? 0) - (b.ms ?? 0) : 0;
  return group(a) - group(b) || times || b.percent - a.percent;
}

/**
 * @param {Room} room
 * @param {Player} first
 */
function progressRow(room, first) {
  const bar = el("span", { class: "progress-fill" });
  const share = el("span", { class: "progress-share", title: t("race.progressHint") });
  const flags = el("span", { class: "progress-flags" });
  const name = el("bdi", { class: "player-name" });
  const flagCount = el("span", { class: "progress-flag" }, icon("flag"), flags);
  const own = first.seat === room.you.seat;
  const meter = el("span", { class: "progress-bar", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100, "aria-describedby": PROGRESS_HINT }, bar);
  const element = el("li", { class: "progress-row", "data-own": own },
    el("span", { class: "progress-who" }, name, own && el("span", { class: "player-you" }, t("player.you"))),
    el("span", { class: "progress-numbers" }, flagCount, share), meter);
  return {
    element,
    /** @param {Player} player */
    show(player) {
      setText(name, player.name);
      setText(flags, String(player.flags));
      setAttribute(flagCount, "hidden", player.status !== "playing");
      setText(share, standing(player));
      setAttribute(element, "data-status", player.present ? player.status : `${player.status} away`);
      setAttribute(meter, "aria-valuenow", player.percent);
      setAttribute(meter, "aria-label", t("player.progress", {
        name: player.name, percent: percent(player.percent), flags: t("player.flags", { count: player.flags }),
      }));
      bar.style.setProperty("--share", String(player.percent / 100));
    },
  };
}

/** @param {Player} player */
function standing(player) {
  if (player.status === "finished" && player.ms !== undefined) return exactTime(player.ms);
  if (player.left) return `${t("player.left")} · ${percent(player.percent)}`;
  if (player.status === "out") return `${t("player.out")} · ${percent(player.percent)}`;
  if (!player.present) return `${t("player.away")} · ${percent(player.percent)}`;
  return percent(player.percent);
}
