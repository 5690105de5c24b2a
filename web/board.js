/**
 * A board on the page: canvas, pointers, keys, and words for those who do not see it. It shows a
 * scene and reports gestures; what they do is not its business.
 */

import { onTheme, palette } from "./appearance.js";
import { describeCell } from "./describe.js";
import { all, el, on, setAttribute, setText } from "./dom.js";
import { Gestures, MOUSE_SLOP } from "./gestures.js";
import { t } from "./i18n.js";
import { bindKeys, bindPointers, bindWheel } from "./input.js";
import { Renderer } from "./render.js";
import { Viewport } from "./viewport.js";

/** @typedef {import("./gestures.js").Action} Action */
/**
 * @typedef {object} SceneFields
 * @property {(pressed: number) => Uint8Array} looks Given the cell under the finger, or -1.
 * @property {() => boolean} live Whether gestures are wanted now: a penalty ends by itself.
 * @property {string} label What the board is, for those who do not see it.
 */
/** @typedef {import("./viewport.js").Subject & SceneFields} Scene */
/**
 * @typedef {object} Reports
 * @property {(gesture: "tap"|"flag"|"chord", cell: number) => boolean} gesture Says whether it made
 *   a move.
 * @property {(zoomable: boolean) => void} [zoomable] Zooming is of use now, or no longer.
 * @property {(width: number, height: number) => void} [size] How large the board is on the page now.
 */

const HAPTIC_MS = 15;
/** On boards with larger cells there is nothing to gain from zooming. */
const ZOOMABLE_BELOW = 30;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Board {
  /** @type {Scene | null} */
  #scene = null;
  #gestures = new Gestures();
  #viewport = new Viewport(matchMedia("(pointer: coarse)").matches, () => this.#request());
  #pressed = -1;
  #cursor = -1;
  #frame = 0;
  #zoomable = false;
  #size = "";
  #said = "";

  /** @param {Reports} reports */
  constructor(reports) {
    this.reports = reports;
    this.canvas = el("canvas", { class: "board-canvas" });
    this.words = el("div", { class: "visually-hidden", "aria-live": "assertive", "aria-atomic": "true" });
    this.element = el("div", { class: "board", tabindex: 0, role: "application" }, this.canvas);
    setAttribute(this.element, "aria-roledescription", t("board.role"));
    this.root = el("div", { class: "board-frame" }, this.element, this.words);
    this.renderer = new Renderer(this.canvas);
    const observer = new ResizeObserver(() => this.#resized());
    observer.observe(this.element);
    this.destroy = all([
      () => observer.disconnect(),
      () => cancelAnimationFrame(this.#frame),
      () => this.#viewport.stop(),
      bindPointers(this.element, this.#gestures, (action) => void this.#act(action)),
      bindWheel(this.element, (action) => this.#wheel(action)),
      bindKeys(this.element, (action) => this.#key(action)),
      on(this.element, "focus", () => this.#focused()),
      on(this.element, "blur", () => this.#setCursor(-1)),
      onTheme(() => this.#request()),
    ]);
  }

  /** @param {Scene} scene */
  show(scene) {
    if (!this.#viewport.look(scene)) this.#cursor = -1;
    this.#scene = scene;
    if (!scene.live()) this.#pressed = -1;
    setAttribute(this.element, "aria-label", scene.label);
    this.#request();
  }

  /** @param {1 | -1} direction */
  zoom(direction) {
    this.#viewport.step(direction);
  }

  /** Shows the whole board. */
  fit() {
    this.#viewport.fit();
  }

  /** Takes the keys. */
  focus() {
    this.element.focus({ preventScroll: true });
  }

  /**
   * The middle of a cell on the page, and whether it can be seen; for tests and scripts.
   * @param {number} cell
   */
  locate(cell) {
    const place = this.#viewport.locate(cell);
    const box = this.element.getBoundingClientRect();
    return place && { x: box.left + place.x, y: box.top + place.y, inside: place.inside };
  }

  #resized() {
    this.#viewport.resize(this.element.clientWidth, this.element.clientHeight);
    // Drawn before the browser paints the resized, and so emptied, canvas.
    this.#draw();
  }

  #request() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const scene = this.#scene;
    const { camera, view } = this.#viewport;
    if (!scene || !camera) return;
    const looks = scene.looks(this.#pressed);
    this.renderer.draw({ shape: scene.shape, looks, camera, view, palette: palette(), cursor: this.#cursor });
    this.#report(scene, camera.cell);
    this.#describe(scene, looks);
  }

  /**
   * @param {Scene} scene
   * @param {number} cell The cell's side.
   */
  #report(scene, cell) {
    const { isPannable, view } = this.#viewport;
    this.#gestures.mouseSlop = isPannable ? MOUSE_SLOP : Math.max(MOUSE_SLOP, cell);
    setAttribute(this.element, "data-still", !isPannable && !scene.playable);
    const zoomable = isPannable || cell < ZOOMABLE_BELOW;
    if (zoomable !== this.#zoomable) this.reports.zoomable?.(zoomable);
    this.#zoomable = zoomable;
    const width = Math.min(scene.shape.width * cell, view.width);
    const height = Math.min(scene.shape.height * cell, view.height);
    const size = `${width} ${height}`;
    if (size !== this.#size) this.reports.size?.(width, height);
    this.#size = size;
  }

  /**
   * @param {Scene} scene
   * @param {Uint8Array} looks
   */
  #describe({ shape }, looks) {
    const words = this.#cursor < 0 ? "" : describeCell(shape, looks, this.#cursor);
    if (words !== this.#said) setText(this.words, words);
    this.#said = words;
  }

  /**
   * Does what the pointers mean; says whether that was anything.
   * @param {Action} action
   */
  #act(action) {
    switch (action.do) {
      case "pan":
        this.#viewport.pan(action.dx, action.dy);
        return true;
      case "zoom":
        this.#viewport.pan(action.dx, action.dy);
        this.#viewport.zoomBy(action.factor, action.x, action.y);
        return true;
      case "fling":
        if (!calm.matches) this.#viewport.fling(action.vx, action.vy);
        return true;
      case "press":
      case "release":
        this.#press(action);
        return true;
      default:
        return this.#gesture(action);
    }
  }

  /** @param {Action} action */
  #wheel(action) {
    return (action.do === "zoom" || this.#viewport.isPannable) && this.#act(action);
  }

  /** @param {Action & {do: "press"|"release"}} action */
  #press(action) {
    this.#viewport.stop();
    const shown = action.do === "press" && this.#scene?.live() && !this.#viewport.isTooFar;
    this.#pressed = shown ? this.#viewport.cellAt(action) : -1;
    this.#cursor = -1;
    this.#request();
  }

  /** @param {Action & {do: "tap"|"flag"|"chord"}} action */
  #gesture(action) {
    if (this.#viewport.isTooFar) {
      this.#viewport.approach(action.x, action.y);
      return false;
    }
    const cell = this.#viewport.cellAt(action);
    if (cell < 0 || !this.#scene?.live()) return false;
    const moved = this.reports.gesture(action.do, cell);
    if (moved && action.held) navigator.vibrate?.(HAPTIC_MS);
    return moved;
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

  /** Who comes by keyboard sees where: the cursor is the focus. */
  #focused() {
    if (this.#scene && this.#cursor < 0 && this.element.matches(":focus-visible")) this.#setCursor(this.#scene.centre);
  }

  /** @param {import("./input.js").KeyAction & {do: "step"|"edge"}} action */
  #moveCursor(action) {
    if (!this.#scene) return;
    this.#setCursor(this.#cursor < 0 ? this.#scene.centre : moved(this.#scene.shape, this.#cursor, action));
  }

  /** @param {number} cell */
  #setCursor(cell) {
    this.#cursor = cell;
    if (cell >= 0) this.#viewport.reveal(cell);
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
