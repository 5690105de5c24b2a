/**
 * The page: which address shows what, and the wires between a room's connection, its state and
 * its view. What is decided is decided elsewhere.
 *
 * `window.demineur` is a read-only look at the state, for tests and the curious. It holds what
 * the server has told this client and nothing else; the token is not in it.
 */

import { choose, t, use } from "./i18n.js";
import { on } from "./dom.js";
import { settingsFrom } from "./levels.js";
import { LobbyFeed } from "./feed.js";
import { cleanCode, showCode } from "./protocol.js";
import { RoomPage } from "./page.js";
import { keep, recall } from "./storage.js";
import { header, skipLink, toasts } from "./views/chrome.js";
import { homeView } from "./views/home.js";
import { badCodeView } from "./views/notice.js";

/** @typedef {{destroy: () => void, debug?: () => object, wake?: () => void, hurry?: () => void}} Page */

const toast = toasts();
/** @type {Page | null} */
let page = null;
/** @type {HTMLElement} */
let stage = document.createElement("div");

/**
 * Goes to an address of this client.
 * @param {string} path
 * @param {import("./state.js").Wish} [wish] What one comes to a room for.
 */
function go(path, wish) {
  if (location.pathname !== path) history.pushState(null, "", path);
  open(wish);
}

/** @param {import("./state.js").Wish} [wish] */
function open(wish) {
  page?.destroy();
  const match = /^\/r\/([^/]+)\/?$/.exec(location.pathname);
  const code = match && cleanCode((match[1] ?? "").replaceAll("%20", " "));
  if (code) page = openRoom(code, wish ?? { kind: "join", role: "player" });
  else page = match ? openNoCode() : openHome();
  window.scrollTo(0, 0);
}

/** @returns {Page} */
function openHome() {
  document.title = `${t("app.name")} – ${t("app.tagline")}`;
  const kept = { name: recall("name") ?? "", settings: settingsFrom(recall("settings")) };
  const view = homeView(kept, {
    create: (code, settings) => go(`/r/${code}`, { kind: "create", settings }),
    join: (code) => go(`/r/${code}`),
    name: (name) => keep("name", name || null),
    settings: (settings) => keep("settings", JSON.stringify(settings)),
  });
  stage.replaceChildren(view.element);
  const feed = new LobbyFeed((rooms) => view.showRooms(rooms));
  const destroy = () => {
    feed.end();
    view.destroy();
  };
  return { destroy, wake: () => feed.wake(), hurry: () => feed.hurry() };
}

/** @returns {Page} */
function openNoCode() {
  document.title = `${t("notice.badCode")} – ${t("app.name")}`;
  stage.replaceChildren(badCodeView(() => go("/")));
  return { destroy: () => {} };
}

/**
 * @param {string} code
 * @param {import("./state.js").Wish} wish
 * @returns {Page}
 */
function openRoom(code, wish) {
  document.title = `${showCode(code)} – ${t("app.name")}`;
  return new RoomPage(code, wish, stage, { home: () => go("/"), say: toast.say });
}

/** Builds the page's frame in the language in use. */
function frame() {
  const top = header({
    home: () => go("/"),
    language: async (tag) => {
      keep("language", tag);
      await use(tag);
      frame();
      open();
    },
  });
  stage = document.createElement("div");
  stage.className = "stage";
  document.body.replaceChildren(skipLink(), top.element, stage, toast.element);
}

async function main() {
  const kept = recall("language");
  await use(choose([...(kept ? [kept] : []), ...navigator.languages]));
  frame();
  on(window, "popstate", () => open());
  on(window, "online", () => page?.hurry?.());
  on(document, "visibilitychange", () => {
    if (document.visibilityState === "visible") page?.wake?.();
  });
  Object.defineProperty(window, "demineur", { value: Object.freeze({ look: () => page?.debug?.() ?? null }) });
  open();
}

void main();
