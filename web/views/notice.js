/** Pages that say why one is not in a room, and what to do about it. */

import { button, el } from "../dom.js";
import { t } from "../i18n.js";
import { showCode } from "../protocol.js";
import { errorText } from "../words.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../page.js").RoomActions} RoomActions */
/** @typedef {{title: string, text: string, actions: [label: string, run: () => void][]}} Notice */

/**
 * @param {State} state
 * @param {RoomActions} actions
 */
export function noticeView(state, actions) {
  const { title, text, actions: offered } = noticeOf(state, actions);
  const element = el("main", { class: "notice", id: "content" }, el("section", { class: "card" },
    el("h1", {}, title), el("p", {}, text),
    el("div", { class: "buttons" }, ...offered.map(([label, run], i) =>
      button({ class: i === 0 ? "button primary large" : "button quiet" }, [label], run)))));
  return { element, update: () => {}, destroy: () => {} };
}

/**
 * The address names no room.
 * @param {() => void} home
 */
export function badCodeView(home) {
  return el("main", { class: "notice", id: "content" }, el("section", { class: "card" },
    el("h1", {}, t("notice.badCode")), el("p", {}, t("notice.badCodeText")),
    el("div", { class: "buttons" }, button({ class: "button primary large" }, [t("notice.home")], home))));
}

/** While the first connection is made. */
export function connectingView() {
  const element = el("main", { class: "notice", id: "content" },
    el("p", { class: "connecting", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), t("link.connecting")));
  return { element, update: () => {}, destroy: () => {} };
}

/**
 * @param {State} state
 * @param {RoomActions} actions
 * @returns {Notice}
 */
function noticeOf({ link, refusal, code }, actions) {
  const home = /** @type {[string, () => void]} */ ([t("notice.home"), actions.home]);
  const watch = /** @type {[string, () => void]} */ ([t("notice.watch"), actions.watch]);
  const again = /** @type {[string, () => void]} */ ([t("notice.tryAgain"), actions.again]);
  if (link === "superseded") {
    return { title: t("notice.superseded"), text: t("notice.supersededText"), actions: [[t("notice.here"), actions.again], home] };
  }
  if (link === "closed") return { title: t("notice.closed"), text: t("notice.closedText"), actions: [home] };
  switch (refusal) {
    case "no_room":
      return {
        title: t("notice.noRoom", { code: showCode(code) }), text: t("notice.noRoomText"),
        actions: [[t("notice.createHere"), actions.createHere], home],
      };
    case "room_full":
      return { title: t("notice.full"), text: t("notice.fullText"), actions: [watch, home] };
    case "race_running":
      return { title: t("notice.running"), text: t("notice.runningText"), actions: [watch, home] };
    default:
      return { title: t("notice.refused"), text: errorText(refusal ?? ""), actions: [again, home] };
  }
}
