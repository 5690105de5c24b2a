/** Which theme is on, and changes of it. */

import { all, on } from "./dom.js";
import { PALETTES } from "./palette.js";
import { keep } from "./storage.js";

/** @typedef {"light"|"dark"} Theme */

const CHANGED = "themechange";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {Theme} */
export function theme() {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return dark.matches ? "dark" : "light";
}

/** The board's colours in the theme that is on. */
export function palette() {
  return PALETTES[theme()];
}

/** Turns to the other theme, and keeps the choice. */
export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  keep("theme", next);
  document.dispatchEvent(new Event(CHANGED));
}

/**
 * Calls `changed` when another theme comes on, by choice or with the system's.
 * @param {() => void} changed
 */
export function onTheme(changed) {
  return all([on(document, CHANGED, changed), on(dark, "change", changed)]);
}
