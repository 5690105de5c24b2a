/** What lies over the board for a moment: the search, the countdown, a penalty. */

import { el, setAttribute, setText } from "../dom.js";
import { t } from "../i18n.js";

/** @typedef {import("../room.js").Room} Room */

/** "Go!" stays this long, and never takes a tap from the board. */
const GO_MS = 700;

export function overlay() {
  const big = el("p", { class: "overlay-big" });
  const title = el("p", { class: "overlay-title" });
  const text = el("p", { class: "overlay-text" });
  const spoken = el("div", { class: "visually-hidden", "aria-live": "assertive" });
  const panel = el("div", { class: "overlay", hidden: true, "aria-hidden": "true" }, title, big, text);
  const element = el("div", { class: "overlay-frame" }, panel, spoken);
  return {
    element,
    /**
     * @param {Room} room
     * @param {number} nowMs The server's time.
     */
    tick(room, nowMs) {
      const content = contentOf(room, nowMs);
      setAttribute(panel, "hidden", !content);
      if (!content) return;
      setAttribute(panel, "data-kind", content.kind);
      setAttribute(panel, "data-place", placeOf(room, content.kind));
      setText(title, content.title);
      if (big.textContent !== content.big) {
        setText(big, content.big);
        restart(big);
      }
      setText(text, content.text);
      setText(spoken, content.spoken);
    },
  };
}

/**
 * Where the countdown and "Go!" leave the marked cell in sight.
 * @param {Room} room
 * @param {string} kind
 */
function placeOf(room, kind) {
  if ((kind !== "count" && kind !== "go") || room.race?.marked === undefined) return "middle";
  return isInUpperHalf(room) ? "end" : "start";
}

/**
 * Whether the marked cell lies in the upper half of the board.
 * @param {Room} room
 */
export function isInUpperHalf({ race, board }) {
  return (race?.marked ?? 0) / board.width < board.height / 2;
}

/**
 * Plays the number's entrance again.
 * @param {HTMLElement} element
 */
function restart(element) {
  for (const animation of element.getAnimations()) {
    animation.cancel();
    animation.play();
  }
}

/**
 * @param {Room} room
 * @param {number} nowMs
 * @returns {{kind: string, title: string, big: string, text: string, spoken: string} | null}
 */
function contentOf(room, nowMs) {
  if (room.phase === "preparing") {
    return { kind: "search", title: t("race.preparing"), big: "", text: "", spoken: t("race.preparing") };
  }
  const toGo = (room.goAtMs ?? nowMs) - nowMs;
  if (room.phase === "countdown") {
    const count = String(Math.min(3, Math.max(1, Math.ceil(toGo / 1000))));
    const text = room.race?.marked === undefined ? t("race.startAnywhere") : t("race.startMarked");
    return { kind: "count", title: t("race.getReady"), big: count, text, spoken: count };
  }
  const untouched = room.run?.status === "ready";
  if (room.phase === "racing" && untouched && toGo > -GO_MS) {
    return { kind: "go", title: "", big: t("race.go"), text: "", spoken: t("race.go") };
  }
  return frozen(room, nowMs);
}

/**
 * @param {Room} room
 * @param {number} nowMs
 */
function frozen(room, nowMs) {
  const left = Math.ceil((room.watch.frozenUntilMs - nowMs) / 1000);
  if (room.phase !== "racing" || left <= 0) return null;
  const text = t("race.frozenFor", { count: left });
  // Said once: a count of ten would drown everything else.
  return { kind: "frozen", title: t("race.frozen"), big: "", text, spoken: t("race.frozen") };
}
