/** The race: one's own board, the mine counter, the clock, and how far everybody is. */

import { Board } from "../board.js";
import { serverTime, showSeconds } from "../clock.js";
import { all, button, el, icon, on, setAttribute, setText } from "../dom.js";
import { number, t } from "../i18n.js";
import { hasBegun, mineCounter } from "../run.js";
import { raceScene } from "../scenes.js";
import { isAtMark, isRacing, mayMove, ownTime, self } from "../select.js";
import { exactTime, withUnit } from "../words.js";
import { confirmLeave } from "./confirm.js";
import { isInUpperHalf, overlay } from "./overlay.js";
import { PROGRESS_HINT, progressList } from "./players.js";
import { zoomControls } from "./zoom.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../page.js").RoomActions} RoomActions */

/** How often the clocks are written: tenths are shown. */
const TICK_MS = 100;
/** The end of the race is told this long before. */
const LAST_MINUTE_MS = 60_000;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {RoomActions} actions */
export function raceView(actions) {
  /** @type {State | null} */
  let state = null;
  const zoom = zoomControls(() => board);
  const board = new Board({
    gesture: (gesture, cell) => actions.gesture(gesture, cell),
    zoomable: (zoomable) => setAttribute(zoom, "hidden", !zoomable),
    size: (width, height) => {
      element.style.setProperty("--board-width", `${Math.round(width)}px`);
      element.style.setProperty("--board-height", `${Math.round(height)}px`);
    },
  });
  const leaving = () => (state?.room && mayStillPlay(state.room) ? confirmLeave(actions.leave) : actions.leave());
  const hud = headUp(actions, zoom, leaving);
  const progress = progressList();
  const over = overlay();
  const status = el("p", { class: "race-status", role: "status" });
  const leaveText = el("span", {});
  const leave = button({ class: "button quiet small" }, [icon("leave"), leaveText], leaving);
  const element = el("main", { class: "race", id: "content" },
    el("h1", { class: "visually-hidden" }, t("app.name")), hud.element,
    el("section", { class: "race-players" }, el("h2", {}, t("race.players")), progress.element,
      el("p", { class: "progress-hint", id: PROGRESS_HINT }, t("race.progressHint")), leave),
    el("div", { class: "race-stage" }, status, board.root, over.element));
  const tick = () => {
    if (!state?.room) return;
    hud.tick(state);
    over.tick(state.room, serverTime(state.clock, performance.now()));
    setText(status, statusText(state, state.room));
    setAttribute(status, "data-place", statusPlace(state.room));
  };
  return {
    element,
    board,
    // The keys belong to the board from the start.
    focus: () => board.focus(),
    /** @param {State} next */
    update(next) {
      state = next;
      const { room } = next;
      if (!room) return;
      setAttribute(element, "data-watching", !isRacing(room) && room.phase !== "preparing");
      setText(leaveText, mayStillPlay(room) ? t("race.leave") : t("lobby.leave"));
      progress.show(room);
      board.show(raceScene(room, () => state !== null && mayMove(state, performance.now())));
      hud.show(next);
      tick();
    },
    destroy: all([board.destroy, every(tick), bindFlagMode(actions)]),
  };
}

/** @param {() => void} run */
function every(run) {
  const timer = setInterval(run, TICK_MS);
  return () => clearInterval(timer);
}

/**
 * M turns flag mode wherever the focus is, but in a field.
 * @param {RoomActions} actions
 */
function bindFlagMode(actions) {
  return on(document, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const typing = event.target instanceof HTMLInputElement;
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.repeat;
    if (event.key.toLowerCase() === "m" && plain && !typing) actions.toggleFlagMode();
  });
}

/**
 * @param {RoomActions} actions
 * @param {HTMLElement} zoom
 * @param {() => void} leaving
 */
function headUp(actions, zoom, leaving) {
  const mines = el("span", { class: "hud-value" });
  const seconds = el("span", {});
  const tenths = el("span", { class: "hud-tenths" });
  const left = el("span", { class: "hud-left", role: "status" });
  const flagHint = el("span", { class: "flag-hint" });
  const flagMode = button({ class: "flag-mode", "aria-pressed": "false", "aria-keyshortcuts": "M" }, [
    icon("flag"), el("span", { class: "flag-text" }, el("span", {}, t("race.flagMode")), flagHint),
  ], actions.toggleFlagMode);
  const element = el("div", { class: "hud" },
    el("div", { class: "gauges" }, gauge("mine", t("race.mines"), mines),
      gauge("clock", t("race.time"), el("span", { class: "hud-value", dir: "ltr" }, seconds, tenths)), left,
      button({ class: "icon-button leave", "aria-label": t("race.leave"), title: t("race.leave") }, [icon("leave")], leaving)),
    el("div", { class: "race-controls" }, zoom, flagMode));
  return {
    element,
    /** @param {State} state */
    show({ room, flagMode: isOn }) {
      if (!room) return;
      const counter = room.run ? mineCounter(room.run) : room.board.mines;
      setText(mines, number(counter));
      setAttribute(flagMode, "aria-pressed", isOn ? "true" : "false");
      setAttribute(flagMode, "disabled", !room.run || !hasBegun(room.run) || !mayStillPlay(room));
      setText(flagHint, isOn ? t("race.flagModeOn") : t("race.flagModeOff"));
    },
    /** @param {State} state */
    tick(state) {
      const ms = ownTime(state, performance.now());
      setText(seconds, showSeconds(ms));
      const running = state.room?.watch.running && calm.matches;
      setText(tenths, running ? "" : `.${Math.floor(ms / 100) % 10}`);
      setText(left, timeLeft(state));
    },
  };
}

/**
 * @param {import("../dom.js").Icon} sign
 * @param {string} name
 * @param {HTMLElement} value
 */
function gauge(sign, name, value) {
  return el("div", { class: `gauge gauge-${sign}`, title: name }, icon(sign), el("span", { class: "visually-hidden" }, name), value);
}

/** @param {Room} room */
function mayStillPlay(room) {
  return isRacing(room) && self(room)?.status === "playing";
}

/**
 * The line over the board's foot: how one's own run ended, or that one watches.
 * @param {State} state
 * @param {Room} room
 */
function statusText(state, room) {
  if (room.phase === "countdown" && !isRacing(room)) return `${t("race.watching")} ${startsIn(state, room)}`;
  if (room.phase !== "racing") return "";
  const playing = room.players.filter((player) => player.status === "playing").length;
  const others = playing ? t("race.stillPlaying", { count: playing }) : "";
  if (!isRacing(room)) return [t("race.watching"), t("race.watchingHint"), timeLeft(state)].filter(Boolean).join(" ");
  const own = ownEnding(room);
  if (isAtMark(room)) return t("race.startMarked");
  return own && [own, others].filter(Boolean).join(" ");
}

/**
 * At the end of the board where the marked cell is not.
 * @param {Room} room
 */
function statusPlace(room) {
  return isAtMark(room) && !isInUpperHalf(room) ? "start" : "end";
}

/**
 * @param {State} state
 * @param {Room} room
 */
function startsIn({ clock }, { goAtMs }) {
  const left = (goAtMs ?? 0) - serverTime(clock, performance.now());
  return t("race.startsIn", { seconds: Math.min(3, Math.max(1, Math.ceil(left / 1000))) });
}

/**
 * The last minute of the race, told where it moves nothing.
 * @param {State} state
 */
function timeLeft({ room, clock }) {
  if (room?.phase !== "racing" || room.endsAtMs === null) return "";
  const left = room.endsAtMs - serverTime(clock, performance.now());
  return left < LAST_MINUTE_MS ? t("race.endsIn", { time: withUnit(showSeconds(Math.max(0, left))) }) : "";
}

/** @param {Room} room */
function ownEnding(room) {
  const me = self(room);
  if (room.run?.status === "won" || me?.status === "finished") return t("race.won", { time: exactTime(me?.ms ?? room.watch.ms) });
  if (room.run?.status === "lost") return t("race.lost");
  return me?.status === "out" ? t("race.out") : "";
}
