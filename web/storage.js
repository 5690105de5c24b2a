/**
 * What the browser keeps: the identity token, the name, and choices. Where storing is forbidden
 * or full it lasts as long as the page. The token leaves here only for a `hello`.
 */

/** @typedef {"token"|"name"|"guest"|"theme"|"settings"|"language"} Key */

const PREFIX = "demineur.";

/** So many commitments are remembered, of the last races. */
const COMMITMENTS_MAX = 64;

/**
 * The commitments told to this page, for where storing is forbidden or full.
 * @type {readonly string[]}
 */
let commitments = [];

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
 * The commitments that this browser was told before their races ended, in any of its tabs.
 * @returns {readonly string[]}
 */
export function recallCommitments() {
  return [...new Set([...storedCommitments(), ...commitments])];
}

/** @param {readonly string[]} told */
export function keepCommitments(told) {
  commitments = latest([...commitments, ...told]);
  try {
    const all = latest([...storedCommitments(), ...told]);
    localStorage.setItem(`${PREFIX}commitments`, JSON.stringify(all));
  } catch {
    // Storing is forbidden or full: this page still knows them.
  }
}

/** @returns {string[]} */
function storedCommitments() {
  try {
    const kept = JSON.parse(localStorage.getItem(`${PREFIX}commitments`) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

/**
 * The last of them, each once: one that is told again counts as new.
 * @param {readonly string[]} told
 */
function latest(told) {
  return [...new Set([...told].reverse())].slice(0, COMMITMENTS_MAX).reverse();
}
