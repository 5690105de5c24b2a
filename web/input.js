/**
 * Binds pointers, wheel and keys of a board's element to what they mean. Every bind returns its
 * unbind.
 */

import { all, on } from "./dom.js";
import { Gestures } from "./gestures.js";

/** @typedef {import("./gestures.js").Action} Action */

/** A wheel's line and page, in pixels. */
const WHEEL_UNIT = Object.freeze([1, 32, 400]);

/**
 * @param {HTMLElement} element Its content box is the viewport.
 * @param {Gestures} gestures
 * @param {(action: Action) => void} act
 * @returns {() => void}
 */
export function bindPointers(element, gestures, act) {
  let timer = 0;
  const perform = (/** @type {Action[]} */ actions) => {
    actions.forEach(act);
    clearTimeout(timer);
    const wait = gestures.dueMs - performance.now();
    if (wait < Infinity) timer = window.setTimeout(() => perform(gestures.tick(performance.now())), wait + 1);
  };
  const down = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    element.focus({ preventScroll: true });
    capture(element, event.pointerId);
    perform(gestures.down(inputOf(element, event)));
  };
  const cancel = (/** @type {PointerEvent} */ event) => perform(gestures.cancel(event.pointerId));
  return all([
    on(element, "pointerdown", down),
    on(element, "pointermove", (event) => perform(gestures.move(inputOf(element, event)))),
    on(element, "pointerup", (event) => perform(gestures.up(inputOf(element, event)))),
    on(element, "pointercancel", cancel),
    on(element, "lostpointercapture", cancel),
    // The menu belongs to the flag; the middle button would start to scroll.
    on(element, "contextmenu", (event) => event.preventDefault()),
    on(element, "mousedown", (event) => event.preventDefault()),
    () => clearTimeout(timer),
  ]);
}

/**
 * @param {HTMLElement} element
 * @param {number} id
 */
function capture(element, id) {
  try {
    element.setPointerCapture(id);
  } catch {
    // The pointer is gone already; its end will be told all the same.
  }
}

/**
 * @param {HTMLElement} element
 * @param {PointerEvent} event
 * @returns {import("./gestures.js").PointerInput}
 */
function inputOf(element, event) {
  const box = element.getBoundingClientRect();
  return {
    id: event.pointerId,
    mouse: event.pointerType === "mouse",
    x: event.clientX - box.left - element.clientLeft,
    y: event.clientY - box.top - element.clientTop,
    buttons: event.buttons,
    at: performance.now(),
  };
}

/**
 * The wheel pans, with Ctrl (or a pinch on a touchpad) it zooms; where it does neither the page
 * may scroll.
 * @param {HTMLElement} element
 * @param {(action: Action) => boolean} act Says whether it had a use for it.
 * @returns {() => void}
 */
export function bindWheel(element, act) {
  const wheel = (/** @type {WheelEvent} */ event) => {
    const unit = WHEEL_UNIT[event.deltaMode] ?? 1;
    const [dx, dy] = [-event.deltaX * unit, -event.deltaY * unit];
    const box = element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const used = event.ctrlKey
      ? act({ do: "zoom", factor: Math.exp(dy / 200), x, y, dx: 0, dy: 0 })
      : act({ do: "pan", ...(event.shiftKey && !dx ? { dx: dy, dy: 0 } : { dx, dy }) });
    if (used) event.preventDefault();
  };
  return on(element, "wheel", wheel, { passive: false });
}

/**
 * @typedef {{do: "step", dx: number, dy: number} | {do: "edge", edge: "left"|"right"|"top"|"bottom"}
 *   | {do: "tap"|"flag"|"zoomIn"|"zoomOut"|"fit"}} KeyAction
 *   Left and right are the board's own: it never mirrors.
 */

/** @type {Readonly<Record<string, KeyAction>>} */
const KEYS = Object.freeze({
  ArrowLeft: { do: "step", dx: -1, dy: 0 },
  ArrowRight: { do: "step", dx: 1, dy: 0 },
  ArrowUp: { do: "step", dx: 0, dy: -1 },
  ArrowDown: { do: "step", dx: 0, dy: 1 },
  Home: { do: "edge", edge: "left" },
  End: { do: "edge", edge: "right" },
  PageUp: { do: "edge", edge: "top" },
  PageDown: { do: "edge", edge: "bottom" },
  Enter: { do: "tap" },
  " ": { do: "tap" },
  f: { do: "flag" },
  "+": { do: "zoomIn" },
  "=": { do: "zoomIn" },
  "-": { do: "zoomOut" },
  0: { do: "fit" },
});

/**
 * What a key does on a board; null for none. Held keys move, but make no moves.
 * @param {{key: string, repeat: boolean, ctrlKey: boolean, altKey: boolean, metaKey: boolean}} event
 * @returns {KeyAction | null}
 */
export function keyAction({ key, repeat, ctrlKey, altKey, metaKey }) {
  if (ctrlKey || altKey || metaKey) return null;
  const name = key.length === 1 ? key.toLowerCase() : key;
  const action = Object.hasOwn(KEYS, name) ? (KEYS[name] ?? null) : null;
  return repeat && (action?.do === "tap" || action?.do === "flag") ? null : action;
}

/**
 * @param {HTMLElement} element
 * @param {(action: KeyAction) => void} act
 * @returns {() => void}
 */
export function bindKeys(element, act) {
  return on(element, "keydown", (event) => {
    const action = keyAction(event);
    if (!action) return;
    event.preventDefault();
    act(action);
  });
}
