/** The proof that a race was fair, worked out here and shown in words, and how to repeat it. */

import { button, el, fill, icon, setAttribute, setText } from "../dom.js";
import { check } from "../fair.js";
import { copyText, saveJson } from "../handout.js";
import { t } from "../i18n.js";
import { boardCommand, runFile } from "../runfile.js";
import { recallCommitments } from "../storage.js";

/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../protocol.js").Result} Result */
/** @typedef {import("../protocol.js").Standing} Standing */
/** @typedef {import("../page.js").RoomActions} RoomActions */

/**
 * @param {Room} room
 * @param {Result} result
 * @param {RoomActions} actions
 */
export function fairPanel(room, result, actions) {
  const before = recallCommitments().includes(result.commitment) ? result.commitment : null;
  const seen = room.commitments[result.round] ?? before;
  const raced = room.you.seat !== null && room.race?.round === result.round && room.run;
  const own = raced && room.you.seat !== null && room.run ? { seat: room.you.seat, cells: room.run.cells } : null;
  const proof = check(result, seen, own);
  const state = !proof.fair ? "failed" : proof.commitment === null ? "partly" : "verified";
  const title = { verified: t("fair.verified"), partly: t("fair.partly"), failed: t("fair.failed") }[state];
  const repeat = repeatPart(result, actions, own && runOf(room, result));
  const element = el("section", { class: "card fair", "data-state": state },
    el("h2", {}, t("fair.title")),
    el("p", { class: "fair-verdict" }, icon(state === "failed" ? "cross" : "shield"), title),
    el("ul", { class: "fair-list" },
      line(proof.commitment, t("fair.commitment"), t("fair.commitmentFailed"), t("fair.commitmentUnseen")),
      line(proof.boards, t("fair.boards"), t("fair.boardsFailed")),
      proof.own !== null && line(proof.own, t("fair.own"), t("fair.ownFailed"))),
    el("dl", { class: "fair-data" },
      datum(t("fair.seed"), result.seed), datum(t("fair.hash"), result.commitment),
      result.attempt > 0 && datum(t("fair.attempt"), String(result.attempt))), repeat.element);
  return { element, show: repeat.show };
}

/**
 * @param {Room} room
 * @param {Result} result
 */
function runOf(room, result) {
  const standing = result.standings.find(({ seat }) => seat === room.you.seat);
  const file = standing && room.run ? runFile(result, standing, room.run) : null;
  return file && { name: `demineur-${room.code}-${result.round}.json`, file };
}

/**
 * The command for the board that is shown, and one's own run as a file.
 * @param {Result} result
 * @param {RoomActions} actions
 * @param {{name: string, file: object} | null} own
 */
function repeatPart(result, actions, own) {
  const about = el("p", {});
  const command = el("code", { dir: "ltr", translate: "no", tabindex: 0 });
  const copied = () => actions.say(t("fair.copied"));
  const copy = button({ class: "button small" }, [t("fair.copy")], () => void copyText(command.textContent ?? "").then(copied));
  const save = own && button({ class: "button small" }, [t("fair.save")], () => saveJson(own.name, own.file));
  const board = el("div", { class: "fair-command" }, about, command);
  const element = el("div", { class: "fair-repeat" }, el("h3", {}, t("fair.repeat")), board,
    el("div", { class: "buttons" }, copy, save), own && el("p", { class: "hint" }, t("fair.saveHint", { file: own.name })));
  return {
    element,
    /** @param {Standing} standing Whose board is shown. */
    show({ name, first_tap: firstTap }) {
      const none = firstTap === undefined;
      setAttribute(element, "hidden", none && !own);
      setAttribute(board, "hidden", none);
      setAttribute(copy, "hidden", none);
      if (none) return;
      setText(about, t("fair.command", { name }));
      const words = boardCommand(result, firstTap).split(" ");
      fill(command, ...words.flatMap((word, i) => [i > 0 && " ", el("span", {}, word)]));
    },
  };
}

/**
 * @param {boolean | null} holds
 * @param {string} yes
 * @param {string} no
 * @param {string} [unknown]
 */
function line(holds, yes, no, unknown = yes) {
  const state = holds === null ? "unknown" : holds ? "yes" : "no";
  const text = { yes, no, unknown }[state];
  return el("li", { "data-state": state }, icon(state === "yes" ? "check" : state === "no" ? "cross" : "eye"), el("span", {}, text));
}

/**
 * @param {string} name
 * @param {string} value
 */
function datum(name, value) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, el("code", { dir: "ltr", translate: "no" }, value)));
}
