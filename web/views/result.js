/** The result: who won, the table, the proof, everybody's board, and the way to another round. */

import { Board } from "../board.js";
import { showExact } from "../clock.js";
import { button, el, fill, icon, setAttribute, setText } from "../dom.js";
import { boardsOf } from "../fair.js";
import { nameList, number, t } from "../i18n.js";
import { endScene } from "../scenes.js";
import { self } from "../select.js";
import { endingName, exactTime, levelName, percent, sizeText, traits } from "../words.js";
import { fairPanel } from "./fairness.js";
import { zoomControls } from "./zoom.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../protocol.js").Result} Result */
/** @typedef {import("../protocol.js").Standing} Standing */
/** @typedef {import("../page.js").RoomActions} RoomActions */

/**
 * @param {Room} room
 * @param {Result} result
 * @param {RoomActions} actions
 */
export function resultView(room, result, actions) {
  const fair = fairPanel(room, result, actions);
  const boards = boardsSection(room, result, fair.show);
  const again = againBar(actions);
  const top = headline(room, result);
  const element = el("main", { class: "result", id: "content" }, top,
    again.element,
    el("section", { class: "card standings" }, el("h2", {}, t("result.standings")), table(room, result)),
    el("div", { class: "result-side" }, boards.element, fair.element));
  return {
    element,
    board: boards.board,
    // A screen reader goes on with who won.
    focus: () => top.querySelector("h1")?.focus({ preventScroll: true }),
    /** @param {State} state */
    update(state) {
      if (state.room) again.show(state.room);
    },
    destroy: boards.destroy,
  };
}

/**
 * @param {Room} room
 * @param {Result} result
 */
function headline(room, result) {
  const winners = result.standings.filter((s) => s.place === 1 && s.ending === "won");
  const own = winners.some((s) => s.seat === room.you.seat);
  const names = winners.map((s) => s.name).join(", ");
  const title = own ? t("result.youWon") : winners.length ? t("result.wins", { name: names }) : t("result.nobody");
  const time = winners[0] && t("result.inTime", { time: exactTime(winners[0].ms) });
  const about = [levelName(room.settings.level), sizeText(result), ...traits(room.settings)].join(" · ");
  return el("div", { class: "headline", "data-own": own },
    el("h1", { tabindex: -1 }, title, time && el("span", { class: "headline-time" }, " ", time)),
    el("p", { class: "hint" }, about));
}

/**
 * A table whose roles are said outright: on a phone its rows are laid out as grids, which would
 * take them away.
 * @param {Room} room
 * @param {Result} result
 */
function table(room, result) {
  const head = (/** @type {string} */ name, kind = "", hint = "") =>
    el("th", { scope: "col", role: "columnheader", class: kind }, hint ? el("abbr", { title: hint }, name) : name);
  return el("table", { role: "table" },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" },
      head(t("result.place"), "num place"), head(t("result.name")), head(t("result.time"), "num"),
      head(t("result.threeBv"), "num", t("result.threeBvHint")), head(t("result.rate"), "num", t("result.rateHint")),
      head(t("result.efficiency"), "num", t("result.efficiencyHint")), head(t("result.ending")))),
    el("tbody", { role: "rowgroup" }, ...result.standings.map((standing) => tableRow(room, standing))));
}

/**
 * @param {Room} room
 * @param {Standing} s
 */
function tableRow(room, s) {
  const own = s.seat === room.you.seat;
  const won = s.ending === "won";
  const moves = s.taps + s.flags;
  const rate = s.ms > 0 ? number(s.three_bv_solved / (s.ms / 1000), { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : "–";
  const bv = s.three_bv === undefined ? "–" : won ? number(s.three_bv) : `${number(s.three_bv_solved)}/${number(s.three_bv)}`;
  const penalty = s.penalty_ms > 0 && el("small", {}, t("result.penalty", { time: s.penalty_ms / 1000 }));
  const cell = (/** @type {string} */ kind, /** @type {string} */ name, /** @type {import("../dom.js").Child[]} */ ...children) =>
    el("td", { role: "cell", class: kind, "data-name": name }, ...children);
  return el("tr", { role: "row", "data-own": own, "data-won": won },
    cell("num place", "", number(s.place)),
    el("th", { scope: "row", role: "rowheader" }, el("span", { class: "standing-who" },
      el("bdi", { class: "player-name", title: s.name }, s.name), own && el("span", { class: "player-you" }, t("player.you")))),
    cell("num time", "", el("span", { dir: "ltr" }, showExact(s.ms)), penalty),
    cell("num fact", t("result.threeBv"), el("span", { dir: "ltr" }, bv)),
    cell("num fact", t("result.rate"), rate),
    cell("num fact", t("result.efficiency"), moves ? percent((100 * s.three_bv_solved) / moves) : "–"),
    cell("ending", "", won ? endingName(s.ending)
      : `${endingName(s.ending)} · ${t("result.solved", { percent: percent(s.percent) })}`));
}

/**
 * @param {Room} room
 * @param {Result} result
 * @param {(standing: Standing) => void} shown Told whose board is shown.
 */
function boardsSection(room, result, shown) {
  const zoom = zoomControls(() => board);
  const board = new Board({ gesture: () => false, zoomable: (can) => setAttribute(zoom, "hidden", !can) });
  const hint = el("p", { class: "hint" });
  const boardFor = boardsOf(result);
  const name = `board-of-${result.round}`;
  const show = (/** @type {Standing} */ s) => {
    shown(s);
    const tapped = s.first_tap !== undefined;
    setAttribute(board.root, "hidden", !tapped);
    const shared = new Set(result.standings.map((each) => each.first_tap).filter((tap) => tap !== undefined)).size <= 1;
    setText(hint, !tapped ? t("result.boardNone", { name: s.name }) : shared ? t("result.boardSame") : t("result.boardHint"));
    if (s.first_tap === undefined) return;
    board.show(endScene(room, result, boardFor(s.first_tap), s.seat === room.you.seat ? room.run : null));
  };
  const initial = result.standings.find((s) => s.seat === room.you.seat) ?? result.standings[0];
  const picks = result.standings.map((s) => {
    const input = el("input", { type: "radio", name, class: "visually-hidden", checked: s === initial });
    input.addEventListener("change", () => show(s));
    const label = t("result.boardOf", { name: s.name });
    return el("label", { class: "choice", title: label }, input, el("span", { class: "choice-face" }, el("bdi", {}, s.name)));
  });
  board.root.style.setProperty("--ratio", `${result.width} / ${result.height}`);
  const element = el("section", { class: "card boards" }, el("h2", {}, t("result.board")),
    el("fieldset", { class: "choices chips" }, el("legend", { class: "visually-hidden" }, t("result.board")),
      el("div", { class: "choices-items" }, ...picks)), board.root, zoom, hint);
  if (initial) show(initial);
  return { element, board, destroy: board.destroy };
}

/**
 * How many want another race, whom they wait for, and who need not wait.
 * @param {Room} room
 * @param {readonly import("../protocol.js").Player[]} present
 */
function rematchText(room, present) {
  const missing = present.filter((player) => !player.ready);
  const host = present.find((player) => player.seat === room.host);
  const others = missing.filter((player) => player.seat !== room.you.seat);
  const hosting = room.you.seat === room.host;
  const mayStart = hosting
    ? others.length > 0 && present.some((player) => player.ready && player !== host) && t("result.startHint")
    : host && missing.some((player) => player !== host) && t("result.hostMayStart", { host: host.name });
  return [
    t("result.rematchCount", { ready: present.length - missing.length, players: present.length }),
    others.length < missing.length && t("result.waitYou"),
    others.length > 0 && t("result.waitFor", { names: nameList(others.map(({ name }) => name)) }),
    mayStart,
  ].filter(Boolean).join(" ");
}

/**
 * Rematch in one tap; the host may start as soon as somebody else wants one too.
 * @param {RoomActions} actions
 */
function againBar(actions) {
  const rematch = button({ class: "button primary large" }, [], () => actions.rematch());
  const start = button({ class: "button large" }, [], () => actions.start());
  const settings = button({ class: "button" }, [t("result.settings")], () => actions.showLobby(true));
  const seat = button({ class: "button primary large" }, [t("lobby.seat")], () => actions.takeSeat());
  const leave = button({ class: "button quiet" }, [icon("leave"), t("lobby.leave")], () => actions.leave());
  const count = el("p", { class: "hint", role: "status" });
  const element = el("div", { class: "again" }, el("div", { class: "buttons" }, rematch, seat, start, settings, leave), count);
  return {
    element,
    /** @param {Room} room */
    show(room) {
      const me = self(room);
      const present = room.players.filter((player) => player.present);
      const ready = present.filter((player) => player.ready).length;
      const asked = room.phase === "lobby" && Boolean(me?.ready);
      const host = me?.seat === room.host;
      setAttribute(rematch, "hidden", !me);
      setAttribute(rematch, "disabled", asked);
      fill(rematch, icon(asked ? "check" : "again"), asked ? t("result.rematchAsked") : t("result.rematch"));
      setAttribute(seat, "hidden", Boolean(me) || room.players.length >= room.settings.players);
      const offered = host && room.phase === "lobby" && present.some((p) => p.ready && p !== me);
      setAttribute(start, "hidden", !offered);
      setAttribute(start, "class", `button large ${asked ? "primary" : ""}`);
      setText(start, t("result.startNow", { count: present.filter((p) => p.ready || p === me).length }));
      setAttribute(settings, "hidden", !host);
      setText(count, ready ? rematchText(room, present) : "");
    },
  };
}
