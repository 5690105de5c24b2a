/**
 * What the browser keeps: the identity token, the name, and choices. Where storing is forbidden
 * or full it lasts as long as the page. The token leaves here only for a `hello`.
 */

/** @typedef {"token"|"name"|"guest"|"theme"|"settings"|"language"} Key */

const PREFIX = "demineur.";

/** So many commitments are remembered, of the last races. */
const COMMITMENTS_MAX = 32;

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

/**
 * The commitments that this tab was told before their races ended; they outlive a reload.
 * @returns {string[]}
 */
export function recallCommitments() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(`${PREFIX}commitments`) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {readonly string[]} told */
export function keepCommitments(told) {
  try {
    const all = [...new Set([...recallCommitments(), ...told])].slice(-COMMITMENTS_MAX);
    sessionStorage.setItem(`${PREFIX}commitments`, JSON.stringify(all));
  } catch {
    // Without it a reload forgets, and the proof says so.
  }
}
