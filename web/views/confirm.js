/** Asks before something that cannot be taken back. */

import { button, el } from "../dom.js";
import { t } from "../i18n.js";

/**
 * Asks whether to leave a race that one still plays.
 * @param {() => void} leave
 */
export function confirmLeave(leave) {
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": "dialog-title" },
    el("h2", { id: "dialog-title" }, t("race.leaveTitle")), el("p", {}, t("race.leaveText")),
    el("div", { class: "buttons" },
      button({ class: "button primary", autofocus: true }, [t("race.stay")], () => dialog.close()),
      button({ class: "button danger" }, [t("race.leave")], () => {
        dialog.close();
        leave();
      })));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
