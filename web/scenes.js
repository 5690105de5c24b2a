/** What the board shows in each stage of a race. Pure. */

import { t } from "./i18n.js";
import { blankLooks, boardLooks, endLooks, runLooks } from "./looks.js";
import { levelName } from "./words.js";

/** @typedef {import("./board.js").Scene} Scene */
/** @typedef {import("./room.js").Room} Room */

/**
 * One's own run under way, or the board that waits for "go".
 * @param {Room} room
 * @param {() => boolean} live Whether moves count now.
 * @returns {Scene}
 */
export function raceScene(room, live) {
  const { run, board } = room;
  // While the next board is looked for, the race that is known is the last one.
  const marked = room.phase === "preparing" ? undefined : room.race?.marked;
  return {
    shape: board,
    looks: (pressed) => run && room.phase !== "preparing"
      ? runLooks(run, pressed, marked)
      : blankLooks(board.width * board.height, marked),
    playable: true,
    live,
    centre: marked ?? middle(board),
    label: label(room, true),
  };
}

/**
 * A board of a race that is over: one's own as one left it, another's whole.
 * @param {Room} room
 * @param {import("./protocol.js").Result} result
 * @param {Uint8Array} board
 * @param {import("./run.js").Run | null} run
 * @returns {Scene}
 */
export function endScene(room, result, board, run) {
  const looks = run ? endLooks(board, run) : boardLooks(board);
  return { shape: result, looks: () => looks, playable: false, live: () => false, centre: middle(result), label: label({ ...room, board: result }, false) };
}

/** @param {import("./grid.js").Shape} shape */
function middle({ width, height }) {
  return Math.floor(height / 2) * width + Math.floor(width / 2);
}

/**
 * @param {{settings: Room["settings"], board: Room["board"]}} room
 * @param {boolean} live
 */
function label({ settings, board }, live) {
  const parameters = {
    level: levelName(settings.level), width: board.width, height: board.height,
    mines: t("level.mines", { count: board.mines }),
  };
  return live ? t("board.label", parameters) : t("board.labelEnd", parameters);
}
