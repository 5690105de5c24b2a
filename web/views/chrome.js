/** What is on every page: the header, the banner of a lost line, and short messages. */

import { theme, onTheme, toggleTheme } from "../appearance.js";
import { button, el, icon, on, setAttribute, setText } from "../dom.js";
import { available, current, LANGUAGES, t } from "../i18n.js";

const TOAST_MS = 5_000;

/**
 * The name of the game; the pennant of its sign is the accent on its first e.
 */
export function wordmark() {
  return el("span", { class: "wordmark", "aria-hidden": "true" },
    "D", el("span", { class: "pennant" }, "e"), "mineur");
}

/**
 * @param {{home: () => void, language: (tag: string) => void}} actions
 */
export function header(actions) {
  const home = el("a", { href: "/", class: "home-link", "aria-label": t("app.home") }, wordmark());
  on(home, "click", (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    actions.home();
  });
  const sign = icon("moon");
  const themeButton = button({ class: "icon-button", "aria-label": t("app.theme"), title: t("app.theme") }, [sign], toggleTheme);
  const show = () => sign.setAttribute("class", `icon icon-${theme() === "dark" ? "sun" : "moon"}`);
  show();
  const element = el("header", { class: "header" }, home, el("div", { class: "header-tools" },
    languageSelect(actions.language), themeButton));
  return { element, destroy: onTheme(show) };
}

/**
 * Null while there is only one language.
 * @param {(tag: string) => void} chosen
 */
function languageSelect(chosen) {
  if (available().length < 2) return null;
  const select = el("select", { class: "language", "aria-label": t("app.language") },
    ...available().map(([tag]) => el("option", { value: tag, lang: tag }, LANGUAGES[tag]?.name)));
  select.value = current();
  on(select, "change", () => chosen(select.value));
  return select;
}

/**
 * The banner of a line that is being made again.
 * @param {() => void} retry
 */
export function linkBanner(retry) {
  const text = el("strong", {}, t("link.reconnecting"));
  const hint = el("span", {}, t("link.kept"));
  const element = el("div", { class: "banner", role: "status", hidden: true },
    el("span", { class: "spinner", "aria-hidden": "true" }), el("div", { class: "banner-text" }, text, hint),
    button({ class: "button small" }, [t("link.retry")], retry));
  return {
    element,
    /**
     * @param {boolean} lost
     * @param {boolean} racing
     */
    show(lost, racing) {
      setAttribute(element, "hidden", !lost);
      setAttribute(hint, "hidden", !racing);
    },
  };
}

/** The way past the header, for those who come by keyboard. */
export function skipLink() {
  const link = el("a", { class: "skip", href: "#content" }, t("app.skip"));
  on(link, "click", (/** @type {MouseEvent} */ event) => {
    event.preventDefault();
    const content = document.getElementById("content");
    content?.setAttribute("tabindex", "-1");
    content?.focus();
  });
  return link;
}

/** Short messages that go away by themselves, one at a time. */
export function toasts() {
  const element = el("div", { class: "toast", role: "status", "aria-live": "polite" });
  let timer = 0;
  return {
    element,
    /** @param {string} text */
    say(text) {
      clearTimeout(timer);
      setText(element, text);
      element.classList.add("shown");
      timer = window.setTimeout(() => {
        element.classList.remove("shown");
        setText(element, "");
      }, TOAST_MS);
    },
  };
}
