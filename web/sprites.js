/**
 * Pictures of the looks, drawn once for a cell's size and a theme, and then only copied.
 */

import { LOOK, LOOKS } from "./looks.js";

/** @typedef {import("./palette.js").Palette} Palette */
/** @typedef {CanvasRenderingContext2D} Context */

const FONT = 'ui-rounded, "SF Pro Rounded", "Segoe UI", system-ui, sans-serif';
/** Cells smaller than this, in device pixels, have no room for an edge. */
const PLAIN_BELOW = 14;

/**
 * One row of pictures, `size` device pixels square, by look.
 * @param {number} size
 * @param {Palette} palette
 * @returns {HTMLCanvasElement}
 */
export function drawSprites(size, palette) {
  const sheet = document.createElement("canvas");
  sheet.width = size * LOOKS;
  sheet.height = size;
  const context = /** @type {Context} */ (sheet.getContext("2d"));
  for (let look = 0; look < LOOKS; look++) {
    context.save();
    context.translate(look * size, 0);
    drawLook(context, look, size, palette);
    context.restore();
  }
  return sheet;
}

/**
 * @param {Context} context
 * @param {number} look
 * @param {number} size
 * @param {Palette} palette
 */
function drawLook(context, look, size, palette) {
  switch (look) {
    case LOOK.HIDDEN:
      return drawHidden(context, size, palette);
    case LOOK.FLAG:
    case LOOK.RIGHT_FLAG:
      drawHidden(context, size, palette);
      return drawFlag(context, size, palette);
    case LOOK.WRONG_FLAG:
      drawHidden(context, size, palette);
      drawFlag(context, size, palette);
      return drawCross(context, size, palette);
    case LOOK.MARKED:
      drawHidden(context, size, palette);
      return drawMarked(context, size, palette);
    case LOOK.PRESSED:
      return drawOpen(context, size, palette.pressed, palette);
    case LOOK.MINE:
      drawOpen(context, size, palette.mineGround, palette);
      return drawMine(context, size, palette.mine, palette.mineGround);
    case LOOK.HIT:
      drawOpen(context, size, palette.hit, palette);
      return drawMine(context, size, palette.hitMine, palette.hit);
    default:
      drawOpen(context, size, palette.open, palette);
      if (look > 0) drawNumber(context, look, size, palette);
  }
}

/**
 * The width of a line, in device pixels.
 * @param {number} size
 */
export function lineWidth(size) {
  return size < PLAIN_BELOW ? 1 : Math.max(1, Math.round(size / 28));
}

/**
 * @param {Context} context
 * @param {number} size
 * @param {Palette} palette
 */
function drawHidden(context, size, palette) {
  context.fillStyle = palette.gap;
  context.fillRect(0, 0, size, size);
  const gap = lineWidth(size);
  const side = size - gap;
  context.beginPath();
  context.roundRect(0, 0, side, side, size * 0.13);
  context.fillStyle = palette.hidden;
  context.fill();
  if (size < PLAIN_BELOW) return;
  context.clip();
  context.fillStyle = palette.hiddenEdge;
  context.fillRect(0, 0, side, gap);
}

/**
 * @param {Context} context
 * @param {number} size
 * @param {string} ground
 * @param {Palette} palette
 */
function drawOpen(context, size, ground, palette) {
  context.fillStyle = palette.gap;
  context.fillRect(0, 0, size, size);
  context.fillStyle = ground;
  const gap = lineWidth(size);
  context.fillRect(0, 0, size - gap, size - gap);
}

/**
 * @param {Context} context
 * @param {number} number
 * @param {number} size
 * @param {Palette} palette
 */
function drawNumber(context, number, size, palette) {
  const text = String(number);
  context.font = `700 ${Math.round(size * 0.62)}px ${FONT}`;
  context.fillStyle = palette.numbers[number - 1] ?? palette.mine;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  // Centred by its ink: fonts disagree on where the middle of a digit is.
  const ink = context.measureText(text);
  const side = size - lineWidth(size);
  const x = (side - ink.actualBoundingBoxRight + ink.actualBoundingBoxLeft) / 2;
  const y = (side + ink.actualBoundingBoxAscent - ink.actualBoundingBoxDescent) / 2;
  context.fillText(text, Math.round(x), Math.round(y));
}

/**
 * The pennant of the sign of the game, on its pole.
 * @param {Context} context
 * @param {number} size
 * @param {Palette} palette
 */
function drawFlag(context, size, palette) {
  const u = (size - lineWidth(size)) / 24;
  context.fillStyle = palette.flag;
  context.beginPath();
  context.moveTo(8.6 * u, 4.6 * u);
  context.lineTo(19 * u, 9 * u);
  context.lineTo(8.6 * u, 13.4 * u);
  context.closePath();
  context.fill();
  context.fillStyle = palette.pole;
  context.fillRect(7 * u, 4 * u, 1.8 * u, 16 * u);
  context.fillRect(4.4 * u, 18.6 * u, 7 * u, 1.8 * u);
}

/**
 * @param {Context} context
 * @param {number} size
 * @param {string} ink
 * @param {string} ground
 */
function drawMine(context, size, ink, ground) {
  const u = (size - lineWidth(size)) / 24;
  const centre = 12 * u;
  context.fillStyle = context.strokeStyle = ink;
  context.lineWidth = 2 * u;
  context.lineCap = "round";
  context.beginPath();
  for (let k = 0; k < 4; k++) {
    const [dx, dy] = [Math.cos((k * Math.PI) / 4) * 8 * u, Math.sin((k * Math.PI) / 4) * 8 * u];
    context.moveTo(centre - dx, centre - dy);
    context.lineTo(centre + dx, centre + dy);
  }
  context.stroke();
  context.beginPath();
  context.arc(centre, centre, 5.6 * u, 0, 2 * Math.PI);
  context.fill();
  context.fillStyle = ground;
  context.beginPath();
  context.arc(10.2 * u, 10.2 * u, 1.5 * u, 0, 2 * Math.PI);
  context.fill();
}

/**
 * @param {Context} context
 * @param {number} size
 * @param {Palette} palette
 */
function drawCross(context, size, palette) {
  const u = (size - lineWidth(size)) / 24;
  context.lineCap = "round";
  for (const [ink, width] of /** @type {[string, number][]} */ ([[palette.open, 6], [palette.cross, 3]])) {
    context.strokeStyle = ink;
    context.lineWidth = width * u;
    context.beginPath();
    context.moveTo(5 * u, 5 * u);
    context.lineTo(19 * u, 19 * u);
    context.moveTo(19 * u, 5 * u);
    context.lineTo(5 * u, 19 * u);
    context.stroke();
  }
}

/**
 * @param {Context} context
 * @param {number} size
 * @param {Palette} palette
 */
function drawMarked(context, size, palette) {
  const u = (size - lineWidth(size)) / 24;
  context.strokeStyle = context.fillStyle = palette.marked;
  context.lineWidth = 2.4 * u;
  context.beginPath();
  context.roundRect(2.4 * u, 2.4 * u, 19.2 * u, 19.2 * u, 2.4 * u);
  context.stroke();
  context.beginPath();
  context.arc(12 * u, 12 * u, 4 * u, 0, 2 * Math.PI);
  context.fill();
}
