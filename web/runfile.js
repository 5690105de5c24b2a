/**
 * What anybody needs to check a race by command line: the command that lays a board once more, and
 * one's own run as a run file (`demineur/run/1`). Pure.
 */

import { LEVELS } from "./levels.js";

/** @typedef {import("./protocol.js").Result} Result */
/** @typedef {import("./protocol.js").Standing} Standing */
/** @typedef {import("./run.js").Run} Run */
/**
 * @typedef {object} RunFile
 * @property {"demineur/run/1"} format
 * @property {number} width
 * @property {number} height
 * @property {number} mines
 * @property {string} seed
 * @property {number} attempt
 * @property {[t_ms: number, kind: "tap"|"flag", cell: number][]} moves
 * @property {string} commitment
 * @property {Record<string, string | number>} result What the room said of the run.
 */

/**
 * The command that shows the board of a first tap. By size where it is none of the levels: the
 * settings may have changed since the race.
 * @param {Result} result
 * @param {number} firstTap
 */
export function boardCommand(result, firstTap) {
  const { width, height, mines, seed, attempt } = result;
  const level = LEVELS.find((each) => each.width === width && each.height === height && each.mines === mines);
  const board = level ? `--level ${level.id}` : `--size ${width}x${height} --mines ${mines}`;
  const search = attempt > 0 ? ` --attempt ${attempt}` : "";
  return `demineur board ${board} --seed ${seed} --first-tap ${firstTap}${search}`;
}

/**
 * One's own run as a run file; null where it is not known whole, or where mines cost time, which
 * the format does not know.
 * @param {Result} result
 * @param {Standing} standing One's own.
 * @param {Run} run As it ended.
 * @returns {RunFile | null}
 */
export function runFile(result, standing, run) {
  const { made } = run;
  if (run.penalty || !made || !isWhole(standing, run)) return null;
  const { width, height, mines, seed, attempt, commitment } = result;
  return {
    format: "demineur/run/1",
    width, height, mines, seed, attempt,
    moves: made.map(({ ms, t, c }) => [ms, t, c]),
    commitment,
    result: recorded(standing, run, made[0]?.ms ?? 0),
  };
}

/**
 * Whether these are the moves that the room counted: the last answers may have been lost with the
 * line.
 * @param {Standing} standing
 * @param {Run} run
 */
function isWhole({ ending, taps, flags, first_tap: firstTap }, { made, status }) {
  const count = (/** @type {"tap"|"flag"} */ kind) => made?.filter(({ t }) => t === kind).length;
  const ended = ending === "won" || ending === "lost" ? status === ending : status === "playing";
  return ended && made?.[0]?.c === firstTap && count("tap") === taps && count("flag") === flags;
}

/**
 * @param {Standing} standing
 * @param {Run} run
 * @param {number} begunMs A clock that started by itself ran before the first tap; that of a run
 *   file does not.
 */
function recorded({ ms, three_bv: threeBv = 0, three_bv_solved: solved, taps, flags }, { status }, begunMs) {
  const ended = status === "won" || status === "lost";
  return {
    status,
    ...(ended && { elapsed_ms: ms - begunMs }),
    three_bv: threeBv, three_bv_solved: solved, taps, flag_moves: flags,
  };
}
