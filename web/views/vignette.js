/** A corner of a board beside the headline: what the game looks like, for those who never saw it. */

import { onTheme, palette } from "../appearance.js";
import { all, el } from "../dom.js";
import { numbers } from "../fair.js";
import { LOOK } from "../looks.js";
import { Renderer } from "../render.js";

const SHAPE = Object.freeze({ width: 12, height: 4, mines: 8 });
const CELL = 30;
const MINES = Object.freeze([5, 14, 20, 27, 31, 34, 42, 47]);
/** From this column on, counted at the top and one less each row, cells are hidden. */
const HIDDEN_FROM = 9;

export function vignette() {
  const canvas = el("canvas", { class: "vignette", "aria-hidden": "true" });
  const renderer = new Renderer(canvas);
  const board = numbers(SHAPE, MINES);
  const looks = board.map((content, cell) => {
    if (MINES.includes(cell)) return isHidden(cell) ? LOOK.HIDDEN : LOOK.FLAG;
    return isHidden(cell) ? LOOK.HIDDEN : content;
  });
  const dpr = window.devicePixelRatio || 1;
  const view = { width: SHAPE.width * CELL + 2, height: SHAPE.height * CELL + 2, dpr, rise: 0 };
  const cell = Math.round(CELL * dpr) / dpr;
  const draw = () =>
    renderer.draw({ shape: SHAPE, looks, camera: { cell, x: 1, y: 1 }, view, palette: palette(), cursor: -1 });
  draw();
  return { element: canvas, destroy: all([onTheme(() => void draw())]) };
}

/** @param {number} cell */
function isHidden(cell) {
  return (cell % SHAPE.width) + Math.floor(cell / SHAPE.width) >= HIDDEN_FROM;
}
