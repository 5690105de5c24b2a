/** What a screen reader says of a cell. */

import { t } from "./i18n.js";
import { LOOK } from "./looks.js";

/**
 * @param {import("./grid.js").Shape} shape
 * @param {Uint8Array} looks
 * @param {number} cell
 */
export function describeCell(shape, looks, cell) {
  const row = Math.floor(cell / shape.width) + 1;
  const column = (cell % shape.width) + 1;
  return t("cell.at", { row, column, content: describeLook(looks[cell]) });
}

/** @param {number} look */
function describeLook(look) {
  switch (look) {
    case 0:
      return t("cell.empty");
    case LOOK.HIT:
      return t("cell.hit");
    case LOOK.HIDDEN:
      return t("cell.hidden");
    case LOOK.FLAG:
    case LOOK.RIGHT_FLAG:
      return t("cell.flagged");
    case LOOK.WRONG_FLAG:
      return t("cell.wrongFlag");
    case LOOK.PRESSED:
      return t("cell.pressed");
    case LOOK.MARKED:
      return t("cell.marked");
    case LOOK.MINE:
      return t("cell.mine");
    default:
      return t("cell.number", { number: look });
  }
}
