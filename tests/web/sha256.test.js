import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fromHex, sha256, toHex } from "../../web/sha256.js";

const bytes = (text) => new TextEncoder().encode(text);

test("the published vectors", () => {
  const vectors = {
    "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    abc: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq:
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  };
  for (const [text, digest] of Object.entries(vectors)) assert.equal(toHex(sha256(bytes(text))), digest);
});

test("every length around the block's edges, against another implementation", () => {
  for (let length = 0; length < 260; length++) {
    const data = Uint8Array.from({ length }, (_, i) => (i * 167 + length) % 256);
    assert.equal(toHex(sha256(data)), createHash("sha256").update(data).digest("hex"), `length ${length}`);
  }
});

test("the constants do not hang on the last bit of a root", () => {
  // Browsers may differ in the last bit of cbrt; the 32 bits taken must be the same all the same.
  for (let n = 2; n < 312; n++) {
    for (const root of [Math.sqrt(n), Math.cbrt(n)]) {
      if (Number.isInteger(root)) continue;
      const rest = ((root % 1) * 2 ** 32) % 1;
      assert.ok(rest > 2 ** -16 && rest < 1 - 2 ** -16, `the root of ${n}`);
    }
  }
});

test("hex is read strictly", () => {
  assert.deepEqual(fromHex("00ff10"), Uint8Array.of(0, 255, 16));
  for (const bad of ["0", "0G", "FF", "00 "]) assert.equal(fromHex(bad), null);
});
