/**
 * What the browser keeps: the identity token, the name, and choices. Where storing is forbidden
 * or full it lasts as long as the page. The token leaves here only for a `hello`.
 */

/** @typedef {"token"|"name"|"theme"|"settings"|"language"} Key */

const PREFIX = "demineur.";

/** @type {Map<string, string>} */
const fallback = new Map();

/**
 * @param {Key} key
 * @returns {string | null}
 */
export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key) ?? fallback.get(key) ?? null;
  } catch {
    return fallback.get(key) ?? null;
  }
}

/**
 * @param {Key} key
 * @param {string | null} value Null forgets.
 */
export function keep(key, value) {
  if (value === null) fallback.delete(key);
  else fallback.set(key, value);
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // Storing is forbidden or full: the fallback holds it.
  }
}
