/** What leaves the page for elsewhere: text for the clipboard, and files. */

import { el } from "./dom.js";

/** A browser may read a file's address a while after the click. */
const FILE_LIFE_MS = 60_000;

/**
 * The clipboard exists on secure origins only; elsewhere a selection is copied the old way.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const before = document.activeElement;
    const field = el("textarea", { class: "visually-hidden", readonly: true }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}

/**
 * Offers a JSON document as a download.
 * @param {string} name
 * @param {object} content
 */
export function saveJson(name, content) {
  const file = new Blob([`${JSON.stringify(content)}\n`], { type: "application/json" });
  const href = URL.createObjectURL(file);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), FILE_LIFE_MS);
}
