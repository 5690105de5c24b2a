/**
 * Where the board lies in its viewport, and how big a cell is. Pure; lengths are CSS pixels.
 *
 * A cell is a whole number of device pixels, so that lines stay crisp at every zoom.
 */

/** @typedef {import("./grid.js").Shape} Shape */
/**
 * @typedef {object} View
 * @property {number} width
 * @property {number} height
 * @property {number} dpr Device pixels a CSS pixel.
 * @property {number} rise Where a smaller board lies: 0.5 is the middle, 0 the top.
 */
/**
 * @typedef {object} Camera
 * @property {number} cell A cell's side.
 * @property {number} x Of the board's upper left corner in the viewport.
 * @property {number} y
 */

/** Smaller than this a finger misses; such boards start larger than the viewport. */
const TOUCH_CELL = 22;
const MOUSE_CELL = 15;
/** What such a board starts with. */
const ROOMY_TOUCH_CELL = 34;
const ROOMY_MOUSE_CELL = 24;
/** Smaller than this no tap can be meant for a cell. */
export const SMALLEST_TOUCH_CELL = 16;
export const SMALLEST_MOUSE_CELL = 9;
const LARGEST_FIT_CELL = 52;
const LARGEST_CELL = 72;
/** Room around the board at rest. */
export const MARGIN = 8;

/**
 * The cell's side with which the whole board fits, at most `LARGEST_FIT_CELL`.
 * @param {Shape} shape
 * @param {View} view
 */
export function fitCell(shape, view) {
  const across = (view.width - 2 * MARGIN) / shape.width;
  const down = (view.height - 2 * MARGIN) / shape.height;
  return snapDown(Math.max(1, Math.min(across, down, LARGEST_FIT_CELL)), view.dpr);
}

/**
 * @param {number} cell
 * @param {number} dpr
 */
function snapDown(cell, dpr) {
  return Math.max(1, Math.floor(cell * dpr)) / dpr;
}

/**
 * The camera to begin with: the whole board where its cells are big enough to hit, else a part
 * of it around `centre`.
 * @param {Shape} shape
 * @param {View} view
 * @param {boolean} touch
 * @param {number} centre A cell.
 * @returns {Camera}
 */
export function begin(shape, view, touch, centre) {
  const fit = fitCell(shape, view);
  const smallest = touch ? TOUCH_CELL : MOUSE_CELL;
  if (fit >= smallest) return whole(shape, view);
  const cell = snapDown(roomyCell(touch), view.dpr);
  const column = centre % shape.width;
  const row = Math.floor(centre / shape.width);
  const x = view.width / 2 - (column + 0.5) * cell;
  const y = view.height / 2 - (row + 0.5) * cell;
  return clamp({ cell, x, y }, shape, view);
}

/**
 * A cell's side that is easily hit.
 * @param {boolean} touch
 */
export function roomyCell(touch) {
  return touch ? ROOMY_TOUCH_CELL : ROOMY_MOUSE_CELL;
}

/**
 * The camera that shows the whole board.
 * @param {Shape} shape
 * @param {View} view
 * @returns {Camera}
 */
export function whole(shape, view) {
  return clamp({ cell: fitCell(shape, view), x: 0, y: 0 }, shape, view);
}

/**
 * Keeps the board in sight: centred where it is smaller than the viewport, without a gap at an
 * edge where it is larger.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 * @returns {Camera}
 */
export function clamp({ cell, x, y }, shape, view) {
  return {
    cell,
    x: clampAxis(x, shape.width * cell, view.width, 0.5),
    y: clampAxis(y, shape.height * cell, view.height, view.rise),
  };
}

/**
 * @param {number} at
 * @param {number} board
 * @param {number} room
 * @param {number} rest Where a smaller board lies.
 */
function clampAxis(at, board, room, rest) {
  if (board + 2 * MARGIN <= room) return Math.max(MARGIN, (room - board) * rest);
  return Math.min(MARGIN, Math.max(room - board - MARGIN, at));
}

/**
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 * @param {number} dx
 * @param {number} dy
 */
export function pan(camera, shape, view, dx, dy) {
  return clamp({ ...camera, x: camera.x + dx, y: camera.y + dy }, shape, view);
}

/**
 * Zooms so that the point of the board under (x, y) stays there.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 * @param {number} cell The cell's side that is wanted.
 * @param {number} x
 * @param {number} y
 */
export function zoomTo(camera, shape, view, cell, x, y) {
  const least = fitCell(shape, view);
  const side = snapDown(Math.min(Math.max(LARGEST_CELL, least), Math.max(least, cell)), view.dpr);
  const factor = side / camera.cell;
  const moved = { cell: side, x: x - (x - camera.x) * factor, y: y - (y - camera.y) * factor };
  return clamp(moved, shape, view);
}

/**
 * Whether there is more board than viewport.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 */
export function isPannable(camera, shape, view) {
  return shape.width * camera.cell + 2 * MARGIN > view.width + 0.5
    || shape.height * camera.cell + 2 * MARGIN > view.height + 0.5;
}

/**
 * The cell at a point; -1 beside the board.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {number} x
 * @param {number} y
 */
export function cellAt(camera, shape, x, y) {
  const column = Math.floor((x - camera.x) / camera.cell);
  const row = Math.floor((y - camera.y) / camera.cell);
  const on = column >= 0 && column < shape.width && row >= 0 && row < shape.height;
  return on ? row * shape.width + column : -1;
}

/**
 * The middle of a cell.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {number} cell
 */
export function centreOf(camera, shape, cell) {
  return {
    x: camera.x + (cell % shape.width + 0.5) * camera.cell,
    y: camera.y + (Math.floor(cell / shape.width) + 0.5) * camera.cell,
  };
}

/**
 * Moves as little as needed for a cell and its neighbours to be seen.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 * @param {number} cell
 */
export function reveal(camera, shape, view, cell) {
  const { x, y } = centreOf(camera, shape, cell);
  const reach = 1.5 * camera.cell;
  const dx = Math.max(0, reach - x) + Math.min(0, view.width - reach - x);
  const dy = Math.max(0, reach - y) + Math.min(0, view.height - reach - y);
  return pan(camera, shape, view, dx, dy);
}

/**
 * The columns and rows that can be seen, ends included.
 * @param {Camera} camera
 * @param {Shape} shape
 * @param {View} view
 */
export function inSight(camera, shape, view) {
  const within = (/** @type {number} */ at, /** @type {number} */ count) =>
    Math.min(count - 1, Math.max(0, Math.floor(at / camera.cell)));
  return {
    left: within(-camera.x, shape.width),
    right: within(view.width - camera.x, shape.width),
    top: within(-camera.y, shape.height),
    bottom: within(view.height - camera.y, shape.height),
  };
}
