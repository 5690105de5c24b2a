/**
 * Every string that a person sees comes from here. A catalogue is a flat object: a string, or for
 * a count one string a plural category; `{name}` stands for a parameter.
 */

import en from "./messages/en.js";

/** @typedef {typeof en} Catalogue */
/** @typedef {keyof Catalogue} Key */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Message */
/** @typedef {Record<string, string | number>} Parameters_ */

/**
 * The languages, by tag. `load` is there once a language is translated.
 * @type {Readonly<Record<string, {name: string, dir: "ltr"|"rtl", load?: () => Promise<{default: Record<Key, Message>}>}>>}
 */
export const LANGUAGES = Object.freeze({
  en: { name: "English", dir: "ltr", load: async () => ({ default: en }) },
  fr: { name: "Français", dir: "ltr" },
  es: { name: "Español", dir: "ltr" },
  pt: { name: "Português", dir: "ltr" },
  bg: { name: "Български", dir: "ltr" },
  vi: { name: "Tiếng Việt", dir: "ltr" },
  ar: { name: "العربية", dir: "rtl" },
});

const RTL_LETTERS = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** @type {Record<Key, Message>} */
let catalogue = en;
let language = "en";
let plural = new Intl.PluralRules(language);
// Times, numbers and codes are read across languages, so their digits are the same in all.
let numbers = new Intl.NumberFormat(language, { numberingSystem: "latn" });

/**
 * The languages that can be chosen.
 */
export function available() {
  return Object.entries(LANGUAGES).filter(([, { load }]) => load);
}

/**
 * The best of the languages that somebody reads, in order; English failing all.
 * @param {readonly string[]} wanted Language tags such as `pt-BR`.
 */
export function choose(wanted) {
  const tags = new Set(available().map(([tag]) => tag));
  const bases = wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "");
  return bases.find((tag) => tags.has(tag)) ?? "en";
}

/**
 * Takes a language into use, and tells the page its direction.
 * @param {string} tag
 */
export async function use(tag) {
  const { load, dir } = LANGUAGES[tag] ?? {};
  if (!load) return;
  catalogue = (await load()).default;
  language = tag;
  plural = new Intl.PluralRules(tag);
  numbers = new Intl.NumberFormat(tag, { numberingSystem: "latn" });
  document.documentElement.lang = tag;
  document.documentElement.dir = dir ?? "ltr";
}

/** The tag of the language in use. */
export function current() {
  return language;
}

/**
 * The message of a key; `count` picks the plural form, and numbers are written as the language
 * writes them.
 * @param {Key} key
 * @param {Parameters_} [parameters]
 */
export function t(key, parameters = {}) {
  return format(catalogue[key], parameters, plural, numbers, LANGUAGES[language]?.dir === "rtl");
}

/**
 * @param {Message} message
 * @param {Parameters_} parameters
 * @param {Intl.PluralRules} rules
 * @param {Intl.NumberFormat} writing
 * @param {boolean} [rtl] Whether the message runs from right to left.
 */
export function format(message, parameters, rules, writing, rtl = false) {
  const text = typeof message === "string" ? message : pick(message, parameters["count"], rules);
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = parameters[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? writing.format(value) : isolated(value, rtl);
  });
}

/**
 * A parameter that may run the other way than its message is set off, so that it turns nothing
 * around but itself.
 * @param {string} value
 * @param {boolean} rtl
 */
function isolated(value, rtl) {
  return rtl || RTL_LETTERS.test(value) ? `\u2068${value}\u2069` : value;
}

/**
 * @param {Partial<Record<Intl.LDMLPluralRule, string>>} forms
 * @param {string | number | undefined} count
 * @param {Intl.PluralRules} rules
 */
function pick(forms, count, rules) {
  return forms[rules.select(Number(count ?? 0))] ?? forms.other ?? "";
}

/** So many names are told, and of more how many more there are. */
const NAMES_MAX = 4;

/**
 * Names as the language lists them, each set off so that it turns nothing around but itself.
 * @param {readonly string[]} names
 */
export function nameList(names) {
  const rtl = LANGUAGES[language]?.dir === "rtl";
  const told = names.slice(0, names.length > NAMES_MAX + 1 ? NAMES_MAX : names.length).map((name) => isolated(name, rtl));
  const rest = names.length - told.length;
  const list = rest > 0 ? [...told, t("player.more", { count: rest })] : told;
  return new Intl.ListFormat(language, { type: "conjunction" }).format(list);
}

/**
 * A number as the language writes it.
 * @param {number} value
 * @param {Intl.NumberFormatOptions} [options]
 */
export function number(value, options) {
  if (!options) return numbers.format(value);
  return new Intl.NumberFormat(language, { numberingSystem: "latn", ...options }).format(value);
}
