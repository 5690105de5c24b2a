import assert from "node:assert/strict";
import { test } from "node:test";
import { ALPHABET, afterClose, cleanCode, cutName, encode, newCode, parse, showCode } from "../../web/protocol.js";

test("a frame is read, and what is none of ours is not", () => {
  assert.deepEqual(parse('{"t":"pong","at":1,"now_ms":2}'), { t: "pong", at: 1, now_ms: 2 });
  for (const bad of ["", "{", "null", "[]", '"t"', '{"t":"tomorrow"}', '{"x":1}', new Uint8Array(3)]) {
    assert.equal(parse(bad), null);
  }
});

test("fields that are undefined are not sent", () => {
  assert.equal(encode({ t: "join", role: "player", since: undefined }), '{"t":"join","role":"player"}');
});

test("a code in every spelling, and in a link", () => {
  for (const typed of ["K7MP3QXZ", "k7mp-3qxz", " k7mp 3qxz ", "https://x.example/r/K7MP3QXZ?a=1#b", "/r/k7mp-3qxz"]) {
    assert.equal(cleanCode(typed), "K7MP3QXZ");
  }
  for (const typed of ["", "K7MP3QX", "K7MP3QXZZ", "K7MP3QX0", "K7MP3QXU", "/r/nothing"]) assert.equal(cleanCode(typed), null);
  assert.equal(showCode("K7MP3QXZ"), "K7MP-3QXZ");
});

test("a new code is valid, and takes no byte that would favour a letter", () => {
  const fill = (bytes) => bytes.forEach((_, i) => (bytes[i] = i < 3 ? 240 + 5 * i : i));
  const code = newCode(fill);
  assert.equal(cleanCode(code), code);
  assert.equal(code, [3, 4, 5, 6, 7, 8, 9, 10].map((i) => ALPHABET[i]).join(""));
  assert.equal(cleanCode(newCode()) === null, false);
});

test("what follows on each close code", () => {
  for (const code of [1001, 1005, 1006, 1011, 1012, 1013, 4000, 4005]) assert.equal(afterClose(code), "soon");
  for (const code of [4008, 4009, 4010]) assert.equal(afterClose(code), "slowly");
  for (const code of [4002, 4004]) assert.equal(afterClose(code), "never");
});

test("a name is cut where the server would refuse it", () => {
  assert.equal(cutName("  Zoë Q. "), "Zoë Q.");
  assert.equal(cutName("W".repeat(48)), "W".repeat(24));
  assert.equal(cutName("🦊".repeat(24)), "🦊".repeat(24));
  assert.equal(cutName(`${"a".repeat(23)} b`), "a".repeat(23));
  assert.equal(cutName("กั".repeat(25)), "กั".repeat(24), "marks do not count");
  assert.equal(cutName("   "), "");
});
