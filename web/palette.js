/**
 * The board's colours in both themes. A test holds every number at a contrast of 4.5 on an open
 * cell, and the signs at 3 on theirs (WCAG AA). Numbers differ in lightness too, not in hue alone.
 */

/**
 * @typedef {object} Palette
 * @property {string} gap Between hidden cells, and the lines between open ones.
 * @property {string} hidden
 * @property {string} hiddenEdge The lit upper edge of a hidden cell.
 * @property {string} pressed A hidden cell under a finger, or a tap that waits for its answer.
 * @property {string} open
 * @property {string} flag
 * @property {string} pole
 * @property {string} mine
 * @property {string} mineGround Under a mine that a result shows.
 * @property {string} hit Under a mine that opened.
 * @property {string} hitMine
 * @property {string} cross Over a wrong flag.
 * @property {string} marked The frame of a shared start.
 * @property {string} cursor The keyboard's.
 * @property {readonly string[]} numbers 1 to 8.
 */

/** @type {Readonly<{light: Palette, dark: Palette}>} */
export const PALETTES = Object.freeze({
  light: {
    gap: "#d3dcd8",
    hidden: "#2c6a66",
    hiddenEdge: "#42827c",
    pressed: "#7fa8a2",
    open: "#f7f9f6",
    flag: "#ff9b7a",
    pole: "#f4f7f5",
    mine: "#1d2827",
    mineGround: "#c3d0cb",
    hit: "#c8321a",
    hitMine: "#ffffff",
    cross: "#b3200a",
    marked: "#ffc94d",
    cursor: "#e08a00",
    numbers: ["#1d5fc2", "#1c7035", "#c4271d", "#4a1f9e", "#8a3f0b", "#0a6f7d", "#1b2422", "#5d6763"],
  },
  dark: {
    gap: "#26312f",
    hidden: "#35726d",
    hiddenEdge: "#4d8a84",
    pressed: "#244a47",
    open: "#131a19",
    flag: "#ffbba3",
    pole: "#f4f7f5",
    mine: "#e4ebe8",
    mineGround: "#33413e",
    hit: "#d8452c",
    hitMine: "#ffffff",
    cross: "#ff8d78",
    marked: "#ffd166",
    cursor: "#ffc14d",
    numbers: ["#7db7ff", "#7ed491", "#ff9185", "#c9b0ff", "#f0b064", "#62d3de", "#f2f5f4", "#a3afab"],
  },
});
