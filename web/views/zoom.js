/** Zoom buttons, for boards that do not fit or are small. */

import { button, el, icon } from "../dom.js";
import { t } from "../i18n.js";

/**
 * @param {() => import("../board.js").Board} board
 */
export function zoomControls(board) {
  const control = (/** @type {import("../dom.js").Icon} */ sign, /** @type {string} */ name, /** @type {() => void} */ run) =>
    button({ class: "icon-button", "aria-label": name, title: name }, [icon(sign)], run);
  return el("div", { class: "zoom", hidden: true },
    control("minus", t("race.zoomOut"), () => board().zoom(-1)),
    control("fit", t("race.fit"), () => board().fit()),
    control("plus", t("race.zoomIn"), () => board().zoom(1)));
}
