/**
 * Draws a board on its canvas: at most once a frame, and only the cells that look different,
 * unless the camera has moved.
 */

import { inSight } from "./camera.js";
import { drawSprites, lineWidth } from "./sprites.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./camera.js").View} View */
/** @typedef {import("./grid.js").Shape} Shape */
/** @typedef {import("./palette.js").Palette} Palette */
/**
 * @typedef {object} Picture All that a frame shows.
 * @property {Shape} shape
 * @property {Uint8Array} looks
 * @property {Camera} camera
 * @property {View} view
 * @property {Palette} palette
 * @property {number} cursor The keyboard's cell, or -1.
 */

export class Renderer {
  /** @type {Picture | null} */
  #shown = null;
  /** @type {{size: number, palette: Palette, sheet: HTMLCanvasElement} | null} */
  #sprites = null;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /**
   * Draws a picture; returns how many cells that took.
   * @param {Picture} picture Kept until the next one: do not change it.
   */
  draw(picture) {
    const before = this.#shown;
    this.#shown = picture;
    if (!before || !sameFrame(before, picture)) return this.#drawAll(picture);
    let drawn = 0;
    for (let cell = 0; cell < picture.looks.length; cell++) {
      if (picture.looks[cell] === before.looks[cell]) continue;
      this.#drawCell(picture, cell);
      drawn++;
    }
    // A frame overlaps the neighbours, so a new cell under it needs it again.
    if (drawn || before.cursor !== picture.cursor) this.#moveCursor(picture, before.cursor);
    return drawn;
  }

  /** @param {Picture} picture */
  #drawAll(picture) {
    const { view, camera, shape } = picture;
    const [width, height] = [Math.round(view.width * view.dpr), Math.round(view.height * view.dpr)];
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.context.clearRect(0, 0, width, height);
    this.#drawFrame(picture);
    const { left, right, top, bottom } = inSight(camera, shape, view);
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) {
        this.#drawCell(picture, row * shape.width + column);
      }
    }
    this.#drawCursor(picture);
    return (right - left + 1) * (bottom - top + 1);
  }

  /**
   * Cells bring their lines on the right and below; the other two edges are drawn here.
   * @param {Picture} picture
   */
  #drawFrame(picture) {
    const { x, y, size } = place(picture, 0);
    const width = lineWidth(size);
    this.context.fillStyle = picture.palette.gap;
    this.context.fillRect(x - width, y - width, picture.shape.width * size + width, picture.shape.height * size + width);
  }

  /**
   * @param {Picture} picture
   * @param {number} cell
   */
  #drawCell(picture, cell) {
    const { x, y, size } = place(picture, cell);
    const { width, height } = this.canvas;
    if (x + size <= 0 || y + size <= 0 || x >= width || y >= height) return;
    const sheet = this.#spritesFor(size, picture.palette);
    this.context.drawImage(sheet, picture.looks[cell] * size, 0, size, size, x, y, size, size);
  }

  /**
   * @param {Picture} picture
   * @param {number} before
   */
  #moveCursor(picture, before) {
    for (const at of new Set([before, picture.cursor])) {
      if (at >= 0) this.#drawCell(picture, at);
    }
    this.#drawCursor(picture);
  }

  /** @param {Picture} picture */
  #drawCursor(picture) {
    if (picture.cursor < 0) return;
    const { x, y, size } = place(picture, picture.cursor);
    const width = Math.max(2, Math.round(size / 11));
    this.context.strokeStyle = picture.palette.cursor;
    this.context.lineWidth = width;
    this.context.strokeRect(x + width / 2, y + width / 2, size - width, size - width);
  }

  /**
   * @param {number} size
   * @param {Palette} palette
   */
  #spritesFor(size, palette) {
    if (this.#sprites?.size !== size || this.#sprites.palette !== palette) {
      this.#sprites = { size, palette, sheet: drawSprites(size, palette) };
    }
    return this.#sprites.sheet;
  }
}

/**
 * Where a cell lies, in device pixels.
 * @param {Picture} picture
 * @param {number} cell
 */
function place({ camera, view, shape }, cell) {
  const size = Math.round(camera.cell * view.dpr);
  const column = cell % shape.width;
  return {
    x: Math.round(camera.x * view.dpr) + column * size,
    y: Math.round(camera.y * view.dpr) + Math.floor(cell / shape.width) * size,
    size,
  };
}

/**
 * Whether two pictures lie the same, so that only cells differ.
 * @param {Picture} a
 * @param {Picture} b
 */
function sameFrame(a, b) {
  return a.palette === b.palette && a.looks.length === b.looks.length
    && a.shape.width === b.shape.width
    && a.camera.cell === b.camera.cell && a.camera.x === b.camera.x && a.camera.y === b.camera.y
    && a.view.width === b.view.width && a.view.height === b.view.height && a.view.dpr === b.view.dpr;
}
