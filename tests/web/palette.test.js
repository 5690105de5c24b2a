import assert from "node:assert/strict";
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
