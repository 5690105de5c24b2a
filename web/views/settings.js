/** The form that picks a race: on the start page, and for the host of a room. */

import { el, setAttribute, setText } from "../dom.js";
import { t } from "../i18n.js";
import { LEVELS } from "../levels.js";
import { levelName, shapeText, sizeText } from "../words.js";

/** @typedef {import("../protocol.js").Settings} Settings */

/** The width of the largest level's little picture, in pixels. */
const PICTURE = 56;
const PLAYER_CHOICES = Object.freeze([2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32]);

let forms = 0;

/**
 * @typedef {object} SettingsForm
 * @property {HTMLElement} levels
 * @property {HTMLElement} options
 * @property {() => Settings} read
 * @property {(settings: Settings, least?: number) => void} write `least`: players already there.
 */

/**
 * @param {Settings} initial
 * @param {(settings: Settings) => void} changed
 * @returns {SettingsForm}
 */
export function settingsForm(initial, changed) {
  let settings = initial;
  const name = `settings-${++forms}`;
  const set = (/** @type {Partial<Settings>} */ part) => {
    settings = consistent({ ...settings, ...part }, settings);
    show();
    changed(settings);
  };
  const levels = choices(`${name}-level`, "levels", t("settings.level"), LEVELS.map((level) => ({
    value: level.id,
    label: levelTile(level),
  })), (level) => set({ level }));
  const start = choices(`${name}-start`, "segments", t("settings.start"), /** @type {const} */ ([
    { value: "own", label: [t("settings.own")] },
    { value: "shared", label: [t("settings.shared")] },
  ]), (value) => set({ start: value }));
  const mine = choices(`${name}-mine`, "segments", t("settings.mine"), /** @type {const} */ ([
    { value: "out", label: [t("settings.out")] },
    { value: "penalty", label: [t("settings.penalty")] },
  ]), (value) => set({ mine: value }));
  const guessFree = toggle(t("settings.guessFree"), t("settings.guessFreeHint"), (on) => set({ guess_free: on }));
  const listed = toggle(t("settings.listed"), null, (on) => set({ listed: on }));
  const players = playerSelect((count) => set({ players: count }));
  const startHint = el("p", { class: "hint" }, t("settings.startHint"));
  const options = el("div", { class: "options" },
    el("div", { class: "option-block" }, start.element, startHint, guessFree.element), mine.element,
    el("div", { class: "option-row" }, players.element, listed.element));

  function show(least = 2) {
    levels.set(settings.level);
    start.set(settings.start);
    mine.set(settings.mine);
    guessFree.set(settings.guess_free);
    listed.set(settings.listed);
    players.set(settings.players, least);
  }
  show();
  return {
    levels: levels.element,
    options,
    read: () => settings,
    write: (next, least) => {
      settings = next;
      show(least);
    },
  };
}

/**
 * Guess-free needs the marked cell: choosing it chooses that, and giving that up gives it up.
 * @param {Settings} settings
 * @param {Settings} before
 * @returns {Settings}
 */
export function consistent(settings, before) {
  if (!settings.guess_free || settings.start === "shared") return settings;
  return before.guess_free ? { ...settings, guess_free: false } : { ...settings, start: "shared" };
}

/** @param {typeof LEVELS[number]} level */
function levelTile(level) {
  const picture = el("span", { class: "level-picture", "aria-hidden": "true" });
  // The root of the width: side by side at one scale, Marathon would be forty times Beginner.
  const width = PICTURE * Math.sqrt(level.width / 80);
  picture.style.inlineSize = `${width.toFixed(1)}px`;
  picture.style.blockSize = `${((width * level.height) / level.width).toFixed(1)}px`;
  return [
    el("span", { class: "level-frame" }, picture),
    el("span", { class: "level-name" }, levelName(level.id)),
    el("span", { class: "level-size" }, shapeText(level)),
    el("span", { class: "level-size" }, t("level.mines", { count: level.mines })),
  ];
}

/**
 * @template {string} Value
 * @param {string} name
 * @param {string} kind
 * @param {string} title
 * @param {readonly {value: Value, label: import("../dom.js").Child[]}[]} items
 * @param {(value: Value) => void} chosen
 */
function choices(name, kind, title, items, chosen) {
  const inputs = items.map(({ value }) => {
    const input = el("input", { type: "radio", name, value, class: "visually-hidden" });
    input.addEventListener("change", () => chosen(value));
    return input;
  });
  const element = el("fieldset", { class: `choices ${kind}` }, el("legend", {}, title),
    el("div", { class: "choices-items" },
      ...items.map(({ label }, i) => el("label", { class: "choice" }, inputs[i],
        el("span", { class: "choice-face" }, ...label)))));
  const set = (/** @type {Value} */ value) => {
    for (const input of inputs) input.checked = input.value === value;
  };
  return { element, set };
}

/**
 * @param {string} title
 * @param {string | null} hint
 * @param {(on: boolean) => void} changed
 */
function toggle(title, hint, changed) {
  const input = el("input", { type: "checkbox", role: "switch", class: "visually-hidden" });
  input.addEventListener("change", () => changed(input.checked));
  const element = el("label", { class: "toggle" }, input,
    el("span", { class: "toggle-track", "aria-hidden": "true" }),
    el("span", { class: "toggle-text" }, title, hint && el("small", { class: "hint" }, hint)));
  return { element, set: (/** @type {boolean} */ on) => void (input.checked = on) };
}

/** @param {(count: number) => void} changed */
function playerSelect(changed) {
  const select = el("select", {});
  select.addEventListener("change", () => changed(Number(select.value)));
  const element = el("label", { class: "field-inline" }, el("span", {}, t("settings.players")), select);
  const set = (/** @type {number} */ count, /** @type {number} */ least) => {
    const wanted = [...new Set([...PLAYER_CHOICES, count])].sort((a, b) => a - b);
    if (select.childElementCount !== wanted.length) {
      select.replaceChildren(...wanted.map((value) => el("option", { value })));
    }
    for (const [i, value] of wanted.entries()) {
      const option = /** @type {HTMLOptionElement} */ (select.options[i]);
      setText(option, t("settings.playersValue", { count: value }));
      option.value = String(value);
      setAttribute(option, "disabled", value < least && value !== count);
    }
    select.value = String(count);
  };
  return { element, set };
}

/**
 * The settings in words, for those who cannot change them.
 * @param {Settings} settings
 * @param {import("../protocol.js").BoardSize} board
 */
export function settingsSummary(settings, board) {
  const row = (/** @type {string} */ name, /** @type {string} */ value) =>
    el("div", { class: "summary-row" }, el("dt", {}, name), el("dd", {}, value));
  const start = settings.start === "own" ? t("settings.own") : t("settings.shared");
  return el("dl", { class: "summary" },
    row(t("settings.level"), `${levelName(settings.level)}, ${sizeText(board)}`),
    row(t("settings.start"), settings.guess_free ? `${start}, ${t("settings.guessFree").toLowerCase()}` : start),
    row(t("settings.mine"), settings.mine === "out" ? t("settings.out") : t("settings.penalty")),
    row(t("settings.players"), t("settings.playersValue", { count: settings.players })),
    row(t("settings.access"), settings.listed ? t("settings.public") : t("settings.private")));
}
