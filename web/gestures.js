/**
 * What fingers and mouse buttons mean. Pure: pointer events go in with their times, actions come
 * out; nothing here knows cells, and no event makes two moves.
 *
 * Touch: a short press is a tap, a long one a flag, a drag pans, two fingers zoom. Mouse: the
 * left button taps, the right one flags at once, the middle one or both together chord.
 */

/**
 * @typedef {object} PointerInput
 * @property {number} id
 * @property {boolean} mouse
 * @property {number} x CSS pixels in the viewport.
 * @property {number} y
 * @property {number} buttons As `PointerEvent.buttons`: 1 left, 2 right, 4 middle.
 * @property {number} at Local milliseconds.
 */
/**
 * @typedef {{do: "press", x: number, y: number}
 *   | {do: "release"}
 *   | {do: "tap"|"flag"|"chord", x: number, y: number, held?: boolean}
 *   | {do: "pan", dx: number, dy: number}
 *   | {do: "fling", vx: number, vy: number}
 *   | {do: "zoom", factor: number, x: number, y: number, dx: number, dy: number}} Action
 *   `press` and `release` are for show; `held`: by a long press; speeds are pixels a millisecond.
 */

export const LONG_PRESS_MS = 350;
/** A finger rolls this far without meaning to. */
const TOUCH_SLOP = 12;
/** A quick hand moves the mouse this far between press and release. */
export const MOUSE_SLOP = 10;

/** A finger that rests so long before it lifts does not throw. */
const REST_MS = 60;
/** Slower fingers, in pixels a millisecond, do not throw either. */
const FLING_SPEED = 0.25;

/**
 * @typedef {object} Pointer
 * @property {number} x
 * @property {number} y
 * @property {number} fromX Where it came down.
 * @property {number} fromY
 * @property {number} at When it came down.
 * @property {number} movedAt
 * @property {number} vx
 * @property {number} vy
 */

export class Gestures {
  /** @type {Map<number, Pointer>} */
  #pointers = new Map();
  /** @type {"idle"|"press"|"pan"|"pinch"|"spent"} */
  #mode = "idle";
  #mouse = false;
  #buttons = 0;
  #both = false;
  /** Where nothing can be panned it may be wider: a drag has no other meaning there. */
  mouseSlop = MOUSE_SLOP;

  /** When `tick` is due next; `Infinity` when no long press is under way. */
  get dueMs() {
    const [pointer] = this.#pointers.values();
    return this.#mode === "press" && !this.#mouse && pointer ? pointer.at + LONG_PRESS_MS : Infinity;
  }

  /** Whether a pointer is down. */
  get isActive() {
    return this.#pointers.size > 0;
  }

  /**
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  down(input) {
    if (input.mouse) return this.#mouseDown(input);
    const { id, x, y, at } = input;
    this.#mouse = false;
    this.#pointers.set(id, pointerAt(x, y, at));
    if (this.#pointers.size === 1) {
      this.#mode = "press";
      return [{ do: "press", x, y }];
    }
    this.#mode = this.#pointers.size === 2 ? "pinch" : "spent";
    return [{ do: "release" }];
  }

  /**
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  move(input) {
    const pointer = this.#pointers.get(input.id);
    if (!pointer) return [];
    if (input.mouse) return this.#mouseMove(pointer, input);
    if (this.#mode === "pinch") return this.#pinch(pointer, input);
    const { dx, dy } = advance(pointer, input);
    if (this.#mode === "press" && distance(pointer) > TOUCH_SLOP) {
      this.#mode = "pan";
      return [{ do: "release" }, { do: "pan", dx: pointer.x - pointer.fromX, dy: pointer.y - pointer.fromY }];
    }
    return this.#mode === "pan" ? [{ do: "pan", dx, dy }] : [];
  }

  /**
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  up(input) {
    const pointer = this.#pointers.get(input.id);
    if (!pointer) return [];
    if (input.mouse) return this.#mouseChange(pointer, { ...input, buttons: 0 });
    // A phone that was busy may deliver a long press and its end together.
    const late = input.at >= this.dueMs ? this.tick(input.at) : [];
    const tapped = this.#mode === "press";
    const flung = this.#mode === "pan" && this.#pointers.size === 1 ? fling(pointer, input.at) : [];
    this.#pointers.delete(input.id);
    if (this.#pointers.size === 0) this.#mode = "idle";
    else if (this.#mode === "pinch") this.#mode = "pan";
    if (!tapped) return [...late, ...flung];
    return [{ do: "release" }, { do: "tap", x: pointer.fromX, y: pointer.fromY }];
  }

  /**
   * The browser took the pointer away.
   * @param {number} id
   * @returns {Action[]}
   */
  cancel(id) {
    if (!this.#pointers.delete(id)) return [];
    this.#mode = this.#pointers.size === 0 ? "idle" : "spent";
    this.#buttons = 0;
    this.#both = false;
    return [{ do: "release" }];
  }

  /**
   * Time has passed.
   * @param {number} at
   * @returns {Action[]}
   */
  tick(at) {
    const [pointer] = this.#pointers.values();
    if (!pointer || at < this.dueMs) return [];
    this.#mode = "spent";
    return [{ do: "release" }, { do: "flag", x: pointer.fromX, y: pointer.fromY, held: true }];
  }

  /**
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  #mouseDown(input) {
    const { id, x, y, at } = input;
    this.#mouse = true;
    const pointer = pointerAt(x, y, at);
    this.#pointers.set(id, pointer);
    this.#mode = "press";
    this.#buttons = 0;
    this.#both = false;
    return this.#mouseChange(pointer, input);
  }

  /**
   * @param {Pointer} pointer
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  #mouseMove(pointer, input) {
    const actions = this.#mouseChange(pointer, input);
    const { dx, dy } = advance(pointer, input);
    if (this.#mode === "press" && this.#buttons === 1 && distance(pointer) > this.mouseSlop) {
      this.#mode = "pan";
      return [...actions, { do: "release" }, { do: "pan", dx: pointer.x - pointer.fromX, dy: pointer.y - pointer.fromY }];
    }
    if (this.#mode === "pan") actions.push({ do: "pan", dx, dy });
    return actions;
  }

  /**
   * Buttons that went down or up; a second button comes as a move, not as another `down`.
   * @param {Pointer} pointer
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  #mouseChange(pointer, { id, x, y, buttons, at }) {
    const pressed = buttons & ~this.#buttons;
    const released = this.#buttons & ~buttons;
    this.#buttons = buttons;
    /** @type {Action[]} */
    const actions = [];
    if (pressed) actions.push(...this.#pressed(pointer, pressed, x, y, at));
    if (released) actions.push(...this.#released(pointer, released));
    if (buttons === 0) {
      this.#pointers.delete(id);
      this.#mode = "idle";
    }
    return actions;
  }

  /**
   * @param {Pointer} pointer
   * @param {number} pressed
   * @param {number} x
   * @param {number} y
   * @param {number} at
   * @returns {Action[]}
   */
  #pressed(pointer, pressed, x, y, at) {
    Object.assign(pointer, { fromX: x, fromY: y, at });
    if (this.#mode === "spent" || this.#mode === "pan") return [];
    if ((this.#buttons & 3) === 3) this.#both = true;
    else if (pressed & 2) return [{ do: "flag", x, y }];
    return [{ do: "press", x, y }];
  }

  /**
   * @param {Pointer} pointer
   * @param {number} released
   * @returns {Action[]}
   */
  #released(pointer, released) {
    if (this.#mode !== "press") return [{ do: "release" }];
    const { fromX: x, fromY: y } = pointer;
    if (this.#both || released & 4) {
      this.#mode = "spent";
      return [{ do: "release" }, { do: "chord", x, y }];
    }
    return released & 1 ? [{ do: "release" }, { do: "tap", x, y }] : [{ do: "release" }];
  }

  /**
   * @param {Pointer} pointer
   * @param {PointerInput} input
   * @returns {Action[]}
   */
  #pinch(pointer, input) {
    const before = span(this.#pointers);
    advance(pointer, input);
    const after = span(this.#pointers);
    const factor = before.length > 0 ? after.length / before.length : 1;
    return [{ do: "zoom", factor, x: after.x, y: after.y, dx: after.x - before.x, dy: after.y - before.y }];
  }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} at
 * @returns {Pointer}
 */
function pointerAt(x, y, at) {
  return { x, y, fromX: x, fromY: y, at, movedAt: at, vx: 0, vy: 0 };
}

/**
 * @param {Pointer} pointer
 * @param {{x: number, y: number, at: number}} to
 */
function advance(pointer, { x, y, at }) {
  const moved = { dx: x - pointer.x, dy: y - pointer.y };
  const ms = Math.max(1, at - pointer.movedAt);
  // The mean of now and before: a last, short move says little.
  pointer.vx = (pointer.vx + moved.dx / ms) / 2;
  pointer.vy = (pointer.vy + moved.dy / ms) / 2;
  Object.assign(pointer, { x, y, movedAt: at });
  return moved;
}

/**
 * What a finger that lifts from a drag leaves behind.
 * @param {Pointer} pointer
 * @param {number} at
 * @returns {Action[]}
 */
function fling({ vx, vy, movedAt }, at) {
  const thrown = at - movedAt < REST_MS && Math.hypot(vx, vy) > FLING_SPEED;
  return thrown ? [{ do: "fling", vx, vy }] : [];
}

/** @param {Pointer} pointer */
function distance({ x, y, fromX, fromY }) {
  return Math.hypot(x - fromX, y - fromY);
}

/**
 * The middle of two fingers, and how far they are apart.
 * @param {Map<number, Pointer>} pointers
 */
function span(pointers) {
  const [a, b] = /** @type {[Pointer, Pointer]} */ ([...pointers.values()]);
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, length: Math.hypot(a.x - b.x, a.y - b.y) };
}
