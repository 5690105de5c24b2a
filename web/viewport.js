/**
 * The part of a board that is in sight, as fingers, wheel and keys move it. No DOM but the frame
 * clock that a fling needs.
 */

import * as cam from "./camera.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./camera.js").View} View */
/**
 * @typedef {object} Subject What is looked at.
 * @property {import("./grid.js").Shape} shape
 * @property {boolean} playable Whether its cells must be big enough to hit.
 * @property {number} centre Where to begin on a board larger than the viewport.
 */

const ZOOM_STEP = 1.35;
/** A fling loses this share of its speed each millisecond. */
const FRICTION = 0.004;
/** Slower than this, in pixels a millisecond, it stands. */
const STILL = 0.02;
/** A longer gap between frames would throw the board. */
const LONGEST_FRAME_MS = 34;

export class Viewport {
  /** @type {Subject | null} */
  #subject = null;
  /** @type {Camera | null} */
  #camera = null;
  /** @type {View} */
  #view = { width: 0, height: 0, dpr: 1, rise: 0.5 };
  /** The cell's side that is wished for, before it is rounded to device pixels. */
  #wanted = 0;
  #fling = 0;

  /**
   * @param {boolean} touch
   * @param {() => void} changed
   */
  constructor(touch, changed) {
    this.touch = touch;
    this.changed = changed;
  }

  get view() {
    return this.#view;
  }

  /** The camera; null before there is something to look at, and room for it. */
  get camera() {
    if (!this.#subject || this.#view.width < 1 || this.#view.height < 1) return null;
    this.#camera ??= this.#begin(this.#subject);
    return this.#camera;
  }

  /** Whether there is more board than viewport. */
  get isPannable() {
    const { camera } = this;
    return Boolean(camera && this.#subject && cam.isPannable(camera, this.#subject.shape, this.#view));
  }

  /** Whether cells are too small to be meant: a tap then is a wish to come closer. */
  get isTooFar() {
    const { camera } = this;
    return camera !== null && camera.cell < (this.touch ? cam.SMALLEST_TOUCH_CELL : cam.SMALLEST_MOUSE_CELL);
  }

  /**
   * Looks at a board; one of another size, or with another place to begin, is looked at anew.
   * Says whether it went on as it was.
   * @param {Subject} subject
   */
  look(subject) {
    const before = this.#subject;
    this.#subject = subject;
    const { width, height } = subject.shape;
    const same = before?.shape.width === width && before.shape.height === height && before.centre === subject.centre;
    if (!same) this.#camera = null;
    return same;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    const wasWhole = this.#camera !== null && !this.isPannable;
    // A thumb reaches the middle best; an eye looks under the clocks.
    this.#view = { width, height, dpr: window.devicePixelRatio || 1, rise: this.touch ? 0.5 : 0 };
    if (!this.#camera || !this.#subject) return;
    this.#camera = wasWhole ? null : cam.clamp(this.#camera, this.#subject.shape, this.#view);
  }

  /** @param {Subject} subject */
  #begin({ shape, centre, playable }) {
    return playable ? cam.begin(shape, this.#view, this.touch, centre) : cam.whole(shape, this.#view);
  }

  /**
   * @param {(camera: Camera, shape: import("./grid.js").Shape, view: View) => Camera} change
   */
  #move(change) {
    const { camera } = this;
    if (!camera || !this.#subject) return;
    this.#camera = change(camera, this.#subject.shape, this.#view);
    this.changed();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  pan(dx, dy) {
    this.stop();
    this.#move((camera, shape, view) => cam.pan(camera, shape, view, dx, dy));
  }

  /**
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  zoomBy(factor, x, y) {
    this.stop();
    this.#move((camera, shape, view) => {
      // Small steps of a pinch add up, though each alone would be rounded away.
      const near = Math.abs(this.#wanted - camera.cell) * view.dpr < 1;
      this.#wanted = (near ? this.#wanted : camera.cell) * factor;
      return cam.zoomTo(camera, shape, view, this.#wanted, x, y);
    });
  }

  /** @param {1 | -1} direction */
  step(direction) {
    this.zoomBy(ZOOM_STEP ** direction, this.#view.width / 2, this.#view.height / 2);
  }

  /**
   * Comes close enough for cells to be hit.
   * @param {number} x
   * @param {number} y
   */
  approach(x, y) {
    const roomy = cam.roomyCell(this.touch);
    this.#move((camera, shape, view) => cam.zoomTo(camera, shape, view, roomy, x, y));
  }

  /** Shows the whole board. */
  fit() {
    this.stop();
    this.#move((_, shape, view) => cam.whole(shape, view));
  }

  /** @param {number} cell */
  reveal(cell) {
    this.stop();
    this.#move((camera, shape, view) => cam.reveal(camera, shape, view, cell));
  }

  /**
   * Lets the board run on after a finger that left it in motion.
   * @param {number} vx Pixels a millisecond.
   * @param {number} vy
   */
  fling(vx, vy) {
    let last = performance.now();
    const frame = (/** @type {number} */ now) => {
      const ms = Math.min(LONGEST_FRAME_MS, Math.max(0, now - last));
      last = now;
      this.#move((camera, shape, view) => cam.pan(camera, shape, view, vx * ms, vy * ms));
      const rest = Math.exp(-FRICTION * ms);
      vx *= rest;
      vy *= rest;
      this.#fling = Math.hypot(vx, vy) > STILL ? requestAnimationFrame(frame) : 0;
    };
    this.stop();
    this.#fling = requestAnimationFrame(frame);
  }

  /** Ends a fling. */
  stop() {
    cancelAnimationFrame(this.#fling);
    this.#fling = 0;
  }

  /**
   * @param {{x: number, y: number}} point
   */
  cellAt({ x, y }) {
    const { camera } = this;
    return camera && this.#subject ? cam.cellAt(camera, this.#subject.shape, x, y) : -1;
  }

  /**
   * The middle of a cell in the viewport, and whether it is in sight.
   * @param {number} cell
   */
  locate(cell) {
    const { camera } = this;
    if (!camera || !this.#subject) return null;
    const { x, y } = cam.centreOf(camera, this.#subject.shape, cell);
    return { x, y, inside: x >= 0 && y >= 0 && x < this.#view.width && y < this.#view.height };
  }
}
