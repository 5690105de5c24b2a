/** The waiting room: the code to share, who is there, the settings, and the way to begin. */

import { button, el, fill, icon, setAttribute, setText } from "../dom.js";
import { copyText } from "../handout.js";
import { t } from "../i18n.js";
import { cutName, showCode } from "../protocol.js";
import { self } from "../select.js";
import { playerList } from "./players.js";
import { settingsForm, settingsSummary } from "./settings.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../page.js").RoomActions} RoomActions */

/**
 * @param {Room} first
 * @param {RoomActions} actions
 */
export function lobbyView(first, actions) {
  const list = playerList();
  const count = el("span", { class: "count", "aria-live": "polite" });
  const watching = el("p", { class: "hint" });
  const begin = beginCard(actions);
  const settings = settingsCard(first, actions);
  const element = el("main", { class: "lobby", id: "content" },
    el("h1", { class: "visually-hidden", tabindex: -1 }, t("lobby.title")),
    codeCard(first.code, actions),
    el("section", { class: "card lobby-players" },
      el("h2", {}, t("lobby.players"), count), list.element, watching,
      nameForm(actions), begin.element),
    settings.element);
  return {
    element,
    // Who has come by keyboard goes on with the link, or hears where this is.
    focus: () => /** @type {HTMLElement | null} */ (element.querySelector(first.you.seat === first.host ? ".code-card .primary" : "h1"))?.focus({ preventScroll: true }),
    /** @param {State} state */
    update({ room }) {
      if (!room) return;
      list.show(room);
      setText(count, t("lobby.count", { players: room.players.length, max: room.settings.players }));
      setText(watching, t("lobby.watching", { count: room.spectators }));
      setAttribute(watching, "hidden", room.spectators === 0);
      begin.show(room);
      settings.show(room);
    },
    destroy: () => {},
  };
}

/**
 * @param {string} code
 * @param {RoomActions} actions
 */
function codeCard(code, actions) {
  const link = `${location.origin}/r/${code}`;
  const share = { title: t("app.name"), text: t("lobby.shareText"), url: link };
  const shareButton = button({ class: "button" }, [icon("share"), t("lobby.share")], () => {
    // Closing the sheet is a rejection too, and needs no word.
    navigator.share(share).catch(() => {});
  });
  return el("section", { class: "card code-card" },
    el("p", { class: "code-label" }, t("lobby.code")),
    el("p", { class: "code", dir: "ltr", translate: "no" }, showCode(code)),
    el("div", { class: "buttons" },
      button({ class: "button primary" }, [icon("link"), t("lobby.copy")], () => void copyText(link).then(() => actions.say(t("lobby.copied")))),
      "share" in navigator && shareButton),
    el("p", { class: "hint" }, t(isLocal(location.hostname) ? "lobby.localHint" : "lobby.shareHint")),
    el("a", { class: "code-link", href: link, dir: "ltr", tabindex: -1, "aria-hidden": "true" }, link));
}

/**
 * Whether an address leads to this very machine, so that a link with it is of no use elsewhere.
 * @param {string} host
 */
function isLocal(host) {
  return host === "localhost" || host === "[::1]" || /^127\./.test(host);
}

/**
 * Who came by a link has not been asked for a name yet.
 * @param {RoomActions} actions
 */
function nameForm(actions) {
  const named = actions.name() !== null;
  const input = el("input", {
    type: "text", maxlength: 48, autocomplete: "nickname", spellcheck: "false", value: actions.name() ?? "",
    placeholder: t("home.namePlaceholder"), enterkeyhint: "done",
  });
  const label = el("span", {}, named ? t("lobby.rename") : t("lobby.askName"));
  const element = el("form", { class: "name-form", "data-asks": !named },
    el("label", { class: "field" }, label, input),
    el("button", { type: "submit", class: "button" }, t("lobby.save")));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    input.value = cutName(input.value);
    if (!input.value) return input.focus();
    actions.rename(input.value);
    setAttribute(element, "data-asks", false);
    setText(label, t("lobby.rename"));
    input.blur();
  });
  return element;
}

/** @param {RoomActions} actions */
function beginCard(actions) {
  const hint = el("p", { class: "hint", "aria-live": "polite" });
  const ready = button({ class: "button primary large" }, [], () => actions.ready());
  const start = button({ class: "button primary large" }, [], () => actions.start());
  const seat = button({ class: "button primary large" }, [t("lobby.seat")], () => actions.takeSeat());
  const watch = button({ class: "button quiet" }, [icon("eye"), t("lobby.watchInstead")], () => actions.giveSeatUp());
  const leave = button({ class: "button quiet" }, [icon("leave"), t("lobby.leave")], () => actions.leave());
  const back = button({ class: "button" }, [t("result.backToResult")], () => actions.showLobby(false));
  const element = el("div", { class: "begin" }, hint, el("div", { class: "buttons" }, start, ready, seat, back, watch, leave));
  return {
    element,
    /** @param {Room} room */
    show(room) {
      const me = self(room);
      const host = me?.seat === room.host;
      setAttribute(start, "hidden", !host);
      setAttribute(back, "hidden", !room.result);
      setAttribute(ready, "hidden", !me || host);
      // A room without players closes, and there would be nothing to watch.
      setAttribute(watch, "hidden", !me || room.players.filter((player) => !player.left).length < 2);
      setAttribute(seat, "hidden", Boolean(me) || room.players.length >= room.settings.players);
      setAttribute(ready, "class", `button large ${me?.ready ? "pressed" : "primary"}`);
      setAttribute(ready, "aria-pressed", me?.ready ? "true" : "false");
      fill(ready, me?.ready && icon("check"), me?.ready ? t("lobby.notReady") : t("lobby.ready"));
      const others = othersOf(room);
      setText(start, others.present === 0 ? t("lobby.startAlone") : t("lobby.start"));
      setAttribute(start, "disabled", others.present > 0 && others.ready === 0);
      setText(hint, beginHint(room, me, others));
    },
  };
}

/** @param {Room} room */
function othersOf(room) {
  const present = room.players.filter((player) => player.present && player.seat !== room.you.seat);
  return { present: present.length, ready: present.filter((player) => player.ready).length };
}

/**
 * @param {Room} room
 * @param {import("../protocol.js").Player | undefined} me
 * @param {{present: number, ready: number}} others
 */
function beginHint(room, me, others) {
  const host = room.players.find((player) => player.seat === room.host)?.name ?? t("player.host");
  if (!me) return t("lobby.youWatch");
  if (me.seat !== room.host) return me.ready ? t("lobby.waitHost", { host }) : t("lobby.waitReady", { host });
  if (others.present === 0) return t("lobby.aloneHint");
  if (others.ready === 0) return t("lobby.startWait");
  return others.ready === others.present ? t("lobby.startAll") : t("lobby.startSome", { count: others.ready });
}

/**
 * The host's form, everybody else's summary.
 * @param {Room} first
 * @param {RoomActions} actions
 */
function settingsCard(first, actions) {
  const form = settingsForm(first.settings, (settings) => actions.settings(settings));
  const summary = el("div", {});
  const fields = el("div", { class: "settings-fields" }, form.levels, form.options);
  const element = el("section", { class: "card lobby-settings" }, el("h2", {}, t("settings.title")), fields, summary);
  let shown = "";
  return {
    element,
    /** @param {Room} room */
    show(room) {
      const host = room.you.seat === room.host;
      const state = JSON.stringify([host, room.settings, room.players.length]);
      if (state === shown) return;
      shown = state;
      setAttribute(fields, "hidden", !host);
      setAttribute(summary, "hidden", host);
      form.write(room.settings, Math.max(2, room.players.length));
      fill(summary, settingsSummary(room.settings, room.board));
    },
  };
}
