/**
 * A board on the page: canvas, camera, pointers, keys, and words for those who do not see it. It
 * shows a scene and reports gestures; what they do is not its business.
 */

import { onTheme, palette } from "./appearance.js";
import * as cam from "./camera.js";
import { describeCell } from "./describe.js";
import { all, el, setAttribute, setText } from "./dom.js";
import { Gestures, MOUSE_SLOP } from "./gestures.js";
import { t } from "./i18n.js";
import { bindKeys, bindPointers, bindWheel } from "./input.js";
import { Renderer } from "./render.js";

/** @typedef {import("./gestures.js").Action} Action */
/**
 * @typedef {object} Scene
 * @property {import("./grid.js").Shape} shape
 * @property {(pressed: number) => Uint8Array} looks Given the cell under the finger, or -1.
 * @property {boolean} playable Whether it is one's own to play, now or soon.
 * @property {() => boolean} live Whether gestures are wanted now: a penalty ends by itself.
 * @property {number} centre Where to begin on a board larger than the viewport.
 * @property {string} label What the board is, for those who do not see it.
 */
/**
 * @typedef {object} Reports
 * @property {(gesture: "tap"|"flag"|"chord", cell: number) => boolean} gesture Says whether it made
 *   a move.
 * @property {(pannable: boolean) => void} [pannable] There is more board than viewport, or no longer.
 * @property {(width: number) => void} [width] How wide the board is on the page now.
 */

const ZOOM_STEP = 1.35;
const HAPTIC_MS = 15;

export class Board {
  /** @type {Scene | null} */
  #scene = null;
  /** @type {import("./camera.js").Camera | null} */
  #camera = null;
  /** @type {import("./camera.js").View} */
  #view = { width: 0, height: 0, dpr: 1, rise: 0.5 };
  #gestures = new Gestures();
  #pressed = -1;
  #cursor = -1;
  #frame = 0;
  #pannable = false;
  #width = 0;
  /** The cell's side that is wished for, before it is rounded to device pixels. */
  #wanted = 0;
  #said = "";
  #touch = matchMedia("(pointer: coarse)").matches;

  /** @param {Reports} reports */
  constructor(reports) {
    this.reports = reports;
    this.canvas = el("canvas", { class: "board-canvas" });
    this.live = el("div", { class: "visually-hidden", "aria-live": "assertive", "aria-atomic": "true" });
    this.element = el("div", { class: "board", tabindex: 0, role: "application" }, this.canvas);
    setAttribute(this.element, "aria-roledescription", t("board.role"));
    this.root = el("div", { class: "board-frame" }, this.element, this.live);
    this.renderer = new Renderer(this.canvas);
    const observer = new ResizeObserver(() => this.#resized());
    observer.observe(this.element);
    this.destroy = all([
      () => observer.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      bindPointers(this.element, this.#gestures, (action) => void this.#act(action)),
      bindWheel(this.element, (action) => this.#pannableOr(action) && this.#act(action)),
      bindKeys(this.element, (action) => this.#key(action)),
      onTheme(() => this.#request()),
    ]);
  }

  /** @param {Scene} scene */
  show(scene) {
    const before = this.#scene;
    this.#scene = scene;
    if (before?.shape.width !== scene.shape.width || before.shape.height !== scene.shape.height) {
      this.#camera = null;
      this.#cursor = -1;
    }
    if (!scene.live()) this.#pressed = -1;
    setAttribute(this.element, "aria-label", scene.label);
    this.#request();
  }

  /** @param {1 | -1} direction */
  zoom(direction) {
    const { width, height } = this.#view;
    this.#zoomBy(ZOOM_STEP ** direction, width / 2, height / 2);
  }

  /** Shows the whole board. */
  fit() {
    if (!this.#scene) return;
    this.#camera = cam.whole(this.#scene.shape, this.#view);
    this.#request();
  }

  /**
   * The middle of a cell on the page, and whether it can be seen; for tests and scripts.
   * @param {number} cell
   */
  locate(cell) {
    if (!this.#scene || !this.#camera) return null;
    const box = this.element.getBoundingClientRect();
    const { x, y } = cam.centreOf(this.#camera, this.#scene.shape, cell);
    const inside = x >= 0 && y >= 0 && x < this.#view.width && y < this.#view.height;
    return { x: box.left + x, y: box.top + y, inside };
  }

  #resized() {
    const wasWhole = this.#isWhole();
    const { clientWidth: width, clientHeight: height } = this.element;
    // A thumb reaches the middle best; an eye looks under the clocks.
    this.#view = { width, height, dpr: window.devicePixelRatio || 1, rise: this.#touch ? 0.5 : 0 };
    if (this.#scene && this.#camera) {
      const { shape } = this.#scene;
      this.#camera = wasWhole ? this.#begin(this.#scene) : cam.clamp(this.#camera, shape, this.#view);
    }
    // Drawn before the browser paints the resized, and so emptied, canvas.
    this.#draw();
  }

  /**
   * A board to look at is shown whole, one to play with cells that can be hit.
   * @param {Scene} scene
   */
  #begin({ shape, centre, playable }) {
    if (!playable) return cam.whole(shape, this.#view);
    return cam.begin(shape, this.#view, this.#touch, centre);
  }

  #isWhole() {
    return Boolean(this.#scene && this.#camera)
      && !cam.isPannable(/** @type {cam.Camera} */ (this.#camera), /** @type {Scene} */ (this.#scene).shape, this.#view);
  }

  #request() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const scene = this.#scene;
    if (!scene || this.#view.width < 1 || this.#view.height < 1) return;
    const { shape } = scene;
    this.#camera ??= this.#begin(scene);
    const looks = scene.looks(this.#pressed);
    this.renderer.draw({
      shape, looks, camera: this.#camera, view: this.#view, palette: palette(), cursor: this.#cursor,
    });
    this.#tellWidth(shape.width * this.#camera.cell);
    this.#tellPannable(cam.isPannable(this.#camera, shape, this.#view));
    this.#describe(looks);
  }

  /** @param {number} width */
  #tellWidth(width) {
    const shown = Math.min(width, this.#view.width);
    if (shown === this.#width) return;
    this.#width = shown;
    this.reports.width?.(shown);
  }

  /** @param {boolean} pannable */
  #tellPannable(pannable) {
    this.#gestures.mouseSlop = pannable ? MOUSE_SLOP : Math.max(MOUSE_SLOP, this.#camera?.cell ?? 0);
    const zoomable = pannable || (this.#camera?.cell ?? 0) < 30;
    setAttribute(this.element, "data-still", !pannable && !this.#scene?.playable);
    if (zoomable === this.#pannable) return;
    this.#pannable = zoomable;
    this.reports.pannable?.(zoomable);
  }

  /** @param {Uint8Array} looks */
  #describe(looks) {
    if (this.#cursor < 0 || !this.#scene) return;
    const words = describeCell(this.#scene.shape, looks, this.#cursor);
    if (words !== this.#said) setText(this.live, words);
    this.#said = words;
  }

  /**
   * Does what the pointers mean; says whether that was anything.
   * @param {Action} action
   */
  #act(action) {
    const scene = this.#scene;
    if (!scene || !this.#camera) return false;
    switch (action.do) {
      case "pan":
        this.#camera = cam.pan(this.#camera, scene.shape, this.#view, action.dx, action.dy);
        break;
      case "zoom":
        this.#camera = cam.pan(this.#camera, scene.shape, this.#view, action.dx, action.dy);
        this.#zoomBy(action.factor, action.x, action.y);
        break;
      case "press":
      case "release":
        this.#hidePress(action);
        break;
      default:
        return this.#gesture(action);
    }
    this.#request();
    return true;
  }

  /** @param {Action} action */
  #pannableOr(action) {
    if (!this.#scene || !this.#camera) return false;
    return action.do === "zoom" || cam.isPannable(this.#camera, this.#scene.shape, this.#view);
  }

  /** @param {Action & {do: "press"|"release"}} action */
  #hidePress(action) {
    this.#pressed = action.do === "press" && this.#scene?.live() ? this.#cellAt(action) : -1;
    this.#cursor = -1;
  }

  /** @param {Action & {do: "tap"|"flag"|"chord"}} action */
  #gesture(action) {
    const cell = this.#cellAt(action);
    if (cell < 0 || !this.#scene?.live()) return false;
    const moved = this.reports.gesture(action.do, cell);
    if (moved && action.held) navigator.vibrate?.(HAPTIC_MS);
    return moved;
  }

  /** @param {{x: number, y: number}} point */
  #cellAt({ x, y }) {
    return this.#scene && this.#camera ? cam.cellAt(this.#camera, this.#scene.shape, x, y) : -1;
  }

  /**
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  #zoomBy(factor, x, y) {
    if (!this.#scene || !this.#camera) return;
    // Small steps of a pinch add up, though each alone would be rounded away.
    const near = Math.abs(this.#wanted - this.#camera.cell) * this.#view.dpr < 1;
    this.#wanted = (near ? this.#wanted : this.#camera.cell) * factor;
    this.#camera = cam.zoomTo(this.#camera, this.#scene.shape, this.#view, this.#wanted, x, y);
    this.#request();
  }

  /** @param {import("./input.js").KeyAction} action */
  #key(action) {
    switch (action.do) {
      case "zoomIn":
        return this.zoom(1);
      case "zoomOut":
        return this.zoom(-1);
      case "fit":
        return this.fit();
      case "step":
      case "edge":
        return this.#moveCursor(action);
      default:
        if (this.#cursor >= 0 && this.#scene?.live()) this.reports.gesture(action.do, this.#cursor);
    }
  }

  /** @param {import("./input.js").KeyAction & {do: "step"|"edge"}} action */
  #moveCursor(action) {
    const scene = this.#scene;
    if (!scene || !this.#camera) return;
    this.#cursor = this.#cursor < 0 ? scene.centre : moved(scene.shape, this.#cursor, action);
    this.#camera = cam.reveal(this.#camera, scene.shape, this.#view, this.#cursor);
    this.#request();
  }
}

/**
 * @param {import("./grid.js").Shape} shape
 * @param {number} cell
 * @param {import("./input.js").KeyAction & {do: "step"|"edge"}} action
 */
function moved({ width, height }, cell, action) {
  let column = cell % width;
  let row = Math.floor(cell / width);
  if (action.do === "step") {
    column = Math.min(width - 1, Math.max(0, column + action.dx));
    row = Math.min(height - 1, Math.max(0, row + action.dy));
  } else {
    column = { left: 0, right: width - 1, top: column, bottom: column }[action.edge];
    row = { top: 0, bottom: height - 1, left: row, right: row }[action.edge];
  }
  return row * width + column;
}
