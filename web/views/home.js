/** The start page: create a race, join one by its code, or pick one that is open. */

import { button, el, fill, icon, setAttribute, setText } from "../dom.js";
import { t } from "../i18n.js";
import { cleanCode, cutName, newCode, showCode } from "../protocol.js";
import { levelName, phaseName, traits } from "../words.js";
import { settingsForm } from "./settings.js";
import { vignette } from "./vignette.js";

/** @typedef {import("../protocol.js").ListedRoom} ListedRoom */
/** @typedef {import("../protocol.js").Settings} Settings */
/**
 * @typedef {object} HomeActions
 * @property {(code: string, settings: Settings) => void} create
 * @property {(code: string) => void} join
 * @property {(name: string) => void} name
 * @property {(settings: Settings) => void} settings
 */

/**
 * @param {{name: string, settings: Settings}} kept
 * @param {HomeActions} actions
 */
export function homeView(kept, actions) {
  const rooms = openRooms(actions.join);
  const picture = vignette();
  const element = el("main", { class: "home", id: "content" },
    el("div", { class: "hero" }, el("h1", {}, t("app.tagline")), picture.element),
    el("div", { class: "home-grid" }, createCard(kept, actions),
      el("div", { class: "home-side" }, joinCard(actions.join), rooms.element, howCard())));
  return { element, showRooms: rooms.show, destroy: picture.destroy };
}

/**
 * @param {{name: string, settings: Settings}} kept
 * @param {HomeActions} actions
 */
function createCard(kept, actions) {
  const form = settingsForm(kept.settings, actions.settings);
  const name = nameField(kept.name, actions.name);
  const element = el("form", { class: "card create" }, el("h2", {}, t("home.create")), form.levels,
    el("details", { class: "more" }, el("summary", {}, t("home.options")), form.options),
    el("div", { class: "create-row" }, name,
      el("button", { type: "submit", class: "button primary large" }, icon("flag"), t("home.createButton"))));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    actions.create(newCode(), form.read());
  });
  return element;
}

/**
 * @param {string} kept
 * @param {(name: string) => void} changed
 */
function nameField(kept, changed) {
  const input = el("input", {
    type: "text", maxlength: 48, autocomplete: "nickname", spellcheck: "false", value: kept,
    placeholder: t("home.namePlaceholder"),
  });
  input.addEventListener("input", () => changed(cutName(input.value)));
  input.addEventListener("change", () => {
    input.value = cutName(input.value);
  });
  return el("label", { class: "field" }, el("span", {}, t("home.name")), input);
}

/** @param {(code: string) => void} join */
function joinCard(join) {
  const input = el("input", {
    type: "text", class: "code-input", autocomplete: "off", autocapitalize: "characters", spellcheck: "false",
    placeholder: "K7MP-3QXZ", "aria-describedby": "code-hint", dir: "ltr", enterkeyhint: "go",
  });
  const hint = el("p", { class: "hint error", id: "code-hint", role: "alert" });
  const element = el("form", { class: "card join" }, el("h2", {}, t("home.join")),
    el("div", { class: "join-row" },
      el("label", { class: "field" }, el("span", {}, t("home.code")), input),
      el("button", { type: "submit", class: "button large" }, t("home.joinButton"))), hint);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = cleanCode(input.value);
    setText(hint, code ? "" : t("home.badCode"));
    setAttribute(input, "aria-invalid", !code && "true");
    if (code) join(code);
    else input.focus();
  });
  return element;
}

/** @param {(code: string) => void} join */
function openRooms(join) {
  const list = el("ul", { class: "rooms" });
  const empty = el("p", { class: "hint" }, t("home.loading"));
  const element = el("section", { class: "card" }, el("h2", {}, t("home.open")), empty, list);
  return {
    element,
    /** @param {ListedRoom[]} rooms */
    show(rooms) {
      setText(empty, t("home.none"));
      setAttribute(empty, "hidden", rooms.length > 0);
      fill(list, ...rooms.map((room) => roomRow(room, join)));
    },
  };
}

/**
 * @param {ListedRoom} room
 * @param {(code: string) => void} join
 */
function roomRow(room, join) {
  const { settings, players } = room;
  const waiting = room.phase === "lobby" || room.phase === "finished";
  return el("li", {}, button({ class: "room-row" }, [
    el("span", { class: "room-main" },
      el("bdi", { class: "room-host" }, room.host),
      el("span", { class: "room-level" }, [levelName(settings.level), ...traits(settings)].join(" · "))),
    el("span", { class: "room-side" },
      el("span", { class: `badge ${waiting ? "open" : "busy"}` }, phaseName(room.phase)),
      el("span", { class: "room-count", title: t("home.playersLong", { players, max: settings.players }) },
        t("home.players", { players, max: settings.players }))),
    el("span", { class: "visually-hidden" }, showCode(room.code)),
  ], () => join(room.code)));
}

function howCard() {
  return el("section", { class: "how" }, el("h2", {}, t("home.how")),
    el("ol", {}, el("li", {}, t("home.how1")), el("li", {}, t("home.how2")), el("li", {}, t("home.how3"))));
}
