import assert from "node:assert/strict";
import { test } from "node:test";
import { Gestures, LONG_PRESS_MS } from "../../web/gestures.js";

const LEFT = 1;
const RIGHT = 2;
const MIDDLE = 4;
const finger = (x, y, at, id = 1) => ({ id, mouse: false, x, y, buttons: 1, at });
const mouse = (x, y, buttons, at = 0) => ({ id: 9, mouse: true, x, y, buttons, at });

/** What a row of inputs comes to, without what is only for show. */
function made(gestures, ...steps) {
  return steps.flatMap(([kind, input]) => gestures[kind](input)).filter(({ do: what }) => what !== "press" && what !== "release");
}

test("a short press is one tap, where the finger came down", () => {
  const g = new Gestures();
  assert.deepEqual(g.down(finger(50, 60, 0)), [{ do: "press", x: 50, y: 60 }]);
  assert.deepEqual(made(g, ["move", finger(53, 64, 50)], ["up", finger(53, 64, 90)]), [{ do: "tap", x: 50, y: 60 }]);
  assert.equal(g.isActive, false);
});

test("a long press is one flag, and its end nothing", () => {
  const g = new Gestures();
  g.down(finger(50, 60, 1000));
  assert.equal(g.dueMs, 1000 + LONG_PRESS_MS);
  assert.deepEqual(g.tick(1000 + LONG_PRESS_MS - 1), []);
  assert.deepEqual(made(g, ["tick", 1000 + LONG_PRESS_MS]), [{ do: "flag", x: 50, y: 60, held: true }]);
  assert.equal(g.dueMs, Infinity);
  assert.deepEqual(made(g, ["tick", 9000], ["move", finger(99, 99, 9000)], ["up", finger(99, 99, 9001)]), []);
});

test("a long press whose timer came late is a flag all the same, and no tap", () => {
  const g = new Gestures();
  g.down(finger(5, 6, 0));
  assert.deepEqual(made(g, ["up", finger(5, 6, LONG_PRESS_MS + 5)]), [{ do: "flag", x: 5, y: 6, held: true }]);
});

test("a drag pans, and never taps nor flags", () => {
  const g = new Gestures();
  g.down(finger(0, 0, 0));
  const steps = [["move", finger(8, 0, 10)], ["move", finger(20, 0, 20)], ["move", finger(25, 5, 30)], ["tick", 5000], ["up", finger(0, 0, 5001)]];
  assert.deepEqual(made(g, ...steps), [{ do: "pan", dx: 20, dy: 0 }, { do: "pan", dx: 5, dy: 5 }]);
});

test("a finger that lifts in motion throws the board, one that rests first does not", () => {
  for (const [restMs, thrown] of [[10, true], [90, false]]) {
    const g = new Gestures();
    g.down(finger(0, 0, 0));
    const moves = [1, 2, 3, 4, 5, 6].map((step) => ["move", finger(20 * step, 0, 16 * step)]);
    const last = made(g, ...moves, ["up", finger(120, 0, 96 + restMs)]).at(-1);
    assert.equal(last.do, thrown ? "fling" : "pan");
    if (thrown) assert.ok(last.vx > 1 && last.vx < 1.3 && last.vy === 0);
  }
});

test("two fingers zoom about their middle, and neither taps", () => {
  const g = new Gestures();
  g.down(finger(0, 0, 0, 1));
  g.down(finger(100, 0, 10, 2));
  const [zoom] = g.move(finger(200, 0, 20, 2));
  assert.deepEqual(zoom, { do: "zoom", factor: 2, x: 100, y: 0, dx: 50, dy: 0 });
  assert.deepEqual(made(g, ["up", finger(200, 0, 30, 2)], ["move", finger(10, 0, 40, 1)], ["up", finger(10, 0, 50, 1)]), [{ do: "pan", dx: 10, dy: 0 }]);
});

test("a third finger ends it all until every finger is up", () => {
  const g = new Gestures();
  for (const id of [1, 2, 3]) g.down(finger(id * 50, 0, 0, id));
  assert.deepEqual(made(g, ["move", finger(80, 0, 5, 1)], ["up", finger(80, 0, 9, 1)], ["up", finger(100, 0, 9, 2)], ["up", finger(150, 0, 9, 3)]), []);
  g.down(finger(1, 1, 20));
  assert.deepEqual(made(g, ["up", finger(1, 1, 30)]), [{ do: "tap", x: 1, y: 1 }]);
});

test("what the browser takes away is nothing", () => {
  const g = new Gestures();
  g.down(finger(5, 5, 0));
  assert.deepEqual(g.cancel(1), [{ do: "release" }]);
  assert.deepEqual(g.cancel(1), []);
  assert.deepEqual(made(g, ["tick", 9000], ["up", finger(5, 5, 9001)]), []);
});

test("the left button taps when it comes up", () => {
  const g = new Gestures();
  assert.deepEqual(made(g, ["down", mouse(5, 6, LEFT)]), []);
  assert.deepEqual(made(g, ["up", mouse(7, 6, 0, 900)]), [{ do: "tap", x: 5, y: 6 }], "however long it was held");
});

test("the right button flags when it goes down", () => {
  const g = new Gestures();
  assert.deepEqual(made(g, ["down", mouse(5, 6, RIGHT)]), [{ do: "flag", x: 5, y: 6 }]);
  assert.deepEqual(made(g, ["move", mouse(90, 6, RIGHT)], ["up", mouse(90, 6, 0)]), []);
});

test("the middle button chords", () => {
  const g = new Gestures();
  assert.deepEqual(made(g, ["down", mouse(5, 6, MIDDLE)], ["up", mouse(5, 6, 0)]), [{ do: "chord", x: 5, y: 6 }]);
});

test("both buttons chord once, whichever was first and whichever comes up first", () => {
  for (const first of [LEFT, RIGHT]) {
    for (const last of [LEFT, RIGHT]) {
      const g = new Gestures();
      const flags = first === RIGHT ? [{ do: "flag", x: 5, y: 6 }] : [];
      const steps = [["down", mouse(5, 6, first)], ["move", mouse(5, 6, LEFT | RIGHT)], ["move", mouse(5, 6, last)], ["up", mouse(5, 6, 0)]];
      assert.deepEqual(made(g, ...steps), [...flags, { do: "chord", x: 5, y: 6 }]);
    }
  }
});

test("a drag of the mouse pans and does not tap; a quick hand's slip does", () => {
  const g = new Gestures();
  assert.deepEqual(made(g, ["down", mouse(0, 0, LEFT)], ["move", mouse(40, 0, LEFT)], ["up", mouse(40, 0, 0)]), [{ do: "pan", dx: 40, dy: 0 }]);
  g.mouseSlop = 50;
  assert.deepEqual(made(g, ["down", mouse(0, 0, LEFT)], ["move", mouse(40, 0, LEFT)], ["up", mouse(40, 0, 0)]), [{ do: "tap", x: 0, y: 0 }]);
});

test("moves without a press are nothing", () => {
  const g = new Gestures();
  assert.deepEqual([...g.move(mouse(1, 1, 0)), ...g.up(mouse(1, 1, 0))], []);
});
