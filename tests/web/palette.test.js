import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PALETTES } from "../../web/palette.js";

function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

for (const [name, p] of Object.entries(PALETTES)) {
  test(`${name}: numbers are legible`, () => {
    assert.equal(p.numbers.length, 8);
    p.numbers.forEach((ink, i) => {
      assert.ok(contrast(ink, p.open) >= 4.5, `${i + 1}: ${contrast(ink, p.open).toFixed(2)}`);
    });
    assert.equal(new Set(p.numbers).size, 8);
  });

  test(`${name}: signs stand out from their ground`, () => {
    for (const [ink, ground] of [["flag", "hidden"], ["pole", "hidden"], ["marked", "hidden"], ["mine", "mineGround"], ["hitMine", "hit"], ["hidden", "open"], ["cursor", "open"]]) {
      const ratio = contrast(p[ink], p[ground]);
      // A frame around an open cell also has its shape; the others have only their colour.
      assert.ok(ratio >= (ink === "cursor" ? 2 : 3), `${ink} on ${ground}: ${ratio.toFixed(2)}`);
    }
  });

  test(`${name}: the commonest numbers differ in lightness or plainly in hue`, () => {
    for (let i = 0; i + 1 < 4; i++) {
      assert.ok(contrast(p.numbers[i], p.numbers[i + 1]) > 1.01);
    }
  });
}

const css = readFileSync(new URL("../../web/css/base.css", import.meta.url), "utf8");
const themes = [...css.matchAll(/:root[^{]*\{([^}]*)\}/g)].map(([, body]) => Object.fromEntries(
  [...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour]),
));

test("the dark theme is one, chosen or the system's", () => {
  assert.equal(themes.length, 3);
  assert.deepEqual(themes[1], themes[2]);
  assert.deepEqual(Object.keys(themes[1]), Object.keys(themes[0]));
});

test("text is legible on everything that it lies on, in both themes", () => {
  const pairs = {
    ink: ["ground", "surface", "sunken"], "ink-soft": ["ground", "surface", "sunken"],
    "brand-ink": ["brand", "brand-hover"], "brand-soft-ink": ["brand-soft"], brand: ["ground", "surface"],
    good: ["surface"], bad: ["surface", "ground"], surface: ["bad"], "warn-ink": ["warn"],
  };
  for (const theme of themes) {
    for (const [ink, grounds] of Object.entries(pairs)) {
      for (const ground of grounds) {
        const ratio = contrast(theme[ink], theme[ground]);
        assert.ok(ratio >= 4.5, `${ink} on ${ground}: ${ratio.toFixed(2)}`);
      }
    }
    for (const edge of ["line-strong", "focus"]) assert.ok(contrast(theme[edge], theme.surface) >= 3, edge);
  }
});

test("a level's picture has the colour of hidden cells", () => {
  assert.deepEqual(themes.map((theme) => theme.tile), [PALETTES.light.hidden, PALETTES.dark.hidden, PALETTES.dark.hidden]);
});
