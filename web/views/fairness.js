/** The proof that a race was fair, worked out here and shown in words. */

import { el, icon } from "../dom.js";
import { check } from "../fair.js";
import { t } from "../i18n.js";
import { recallCommitments } from "../storage.js";

/** @typedef {import("../room.js").Room} Room */
/** @typedef {import("../protocol.js").Result} Result */

/**
 * @param {Room} room
 * @param {Result} result
 */
export function fairPanel(room, result) {
  const before = recallCommitments().includes(result.commitment) ? result.commitment : null;
  const seen = room.commitments[result.round] ?? before;
  const raced = room.you.seat !== null && room.race?.round === result.round && room.run;
  const own = raced && room.you.seat !== null && room.run ? { seat: room.you.seat, cells: room.run.cells } : null;
  const proof = check(result, seen, own);
  const state = !proof.fair ? "failed" : proof.commitment === null ? "partly" : "verified";
  const title = { verified: t("fair.verified"), partly: t("fair.partly"), failed: t("fair.failed") }[state];
  return el("section", { class: "card fair", "data-state": state },
    el("h2", {}, t("fair.title")),
    el("p", { class: "fair-verdict" }, icon(state === "failed" ? "cross" : "shield"), title),
    el("ul", { class: "fair-list" },
      line(proof.commitment, t("fair.commitment"), t("fair.commitmentFailed"), t("fair.commitmentUnseen")),
      line(proof.boards, t("fair.boards"), t("fair.boardsFailed")),
      proof.own !== null && line(proof.own, t("fair.own"), t("fair.ownFailed"))),
    el("dl", { class: "fair-data" },
      datum(t("fair.seed"), result.seed), datum(t("fair.hash"), result.commitment),
      result.attempt > 0 && datum(t("fair.attempt"), String(result.attempt))));
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
