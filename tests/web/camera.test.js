import assert from "node:assert/strict";
import { test } from "node:test";
import * as cam from "../../web/camera.js";

const PHONE = { width: 390, height: 560, dpr: 3, rise: 0.5 };
const DESK = { width: 940, height: 690, dpr: 1, rise: 0 };
const BEGINNER = { width: 9, height: 9 };
const MARATHON = { width: 80, height: 40 };
const SHAPES = [BEGINNER, { width: 16, height: 10 }, { width: 30, height: 16 }, MARATHON, { width: 1, height: 1 }];

test("a board that fits is shown whole, in whole device pixels", () => {
  for (const view of [PHONE, DESK]) {
    for (const shape of SHAPES) {
      const camera = cam.whole(shape, view);
      assert.equal(cam.isPannable(camera, shape, view), false, `${shape.width} in ${view.width}`);
      const pixels = camera.cell * view.dpr;
      assert.ok(Math.abs(pixels - Math.round(pixels)) < 1e-9);
    }
  }
});

test("a board whose cells would be too small begins larger, around its first cell", () => {
  const camera = cam.begin(MARATHON, PHONE, true, 0);
  assert.ok(camera.cell >= 30);
  assert.equal(cam.isPannable(camera, MARATHON, PHONE), true);
  assert.deepEqual([camera.x, camera.y], [cam.MARGIN, cam.MARGIN]);
  assert.equal(cam.isPannable(cam.begin(BEGINNER, PHONE, true, 0), BEGINNER, PHONE), false);
});

test("the cell under a point is the one whose middle was asked for", () => {
  for (const view of [PHONE, DESK]) {
    for (const shape of SHAPES) {
      const camera = cam.begin(shape, view, true, 0);
      for (let cell = 0; cell < shape.width * shape.height; cell += 7) {
        const { x, y } = cam.centreOf(camera, shape, cell);
        assert.equal(cam.cellAt(camera, shape, x, y), cell);
      }
    }
  }
  assert.equal(cam.cellAt({ cell: 10, x: 5, y: 5 }, BEGINNER, 4, 50), -1);
  assert.equal(cam.cellAt({ cell: 10, x: 5, y: 5 }, BEGINNER, 96, 50), -1);
});

test("panning stops at the edges", () => {
  const camera = cam.begin(MARATHON, PHONE, true, 0);
  const far = cam.pan(camera, MARATHON, PHONE, -1e6, -1e6);
  assert.equal(far.x + 80 * far.cell, PHONE.width - cam.MARGIN);
  assert.equal(far.y + 40 * far.cell, PHONE.height - cam.MARGIN);
  const back = cam.pan(far, MARATHON, PHONE, 1e6, 1e6);
  assert.deepEqual([back.x, back.y], [cam.MARGIN, cam.MARGIN]);
});

test("zooming keeps what is under the finger there, within limits", () => {
  const start = cam.pan(cam.begin(MARATHON, PHONE, true, 0), MARATHON, PHONE, -900, -400);
  const before = cam.cellAt(start, MARATHON, 200, 300);
  const near = cam.zoomTo(start, MARATHON, PHONE, start.cell * 1.5, 200, 300);
  assert.equal(cam.cellAt(near, MARATHON, 200, 300), before);
  assert.ok(near.cell > start.cell);
  assert.equal(cam.zoomTo(start, MARATHON, PHONE, 1e6, 0, 0).cell, 72);
  assert.equal(cam.zoomTo(start, MARATHON, PHONE, 0, 0, 0).cell, cam.fitCell(MARATHON, PHONE));
});

test("a smaller board lies where the view wants it", () => {
  const shape = { width: 2, height: 2 };
  assert.equal(cam.whole(shape, PHONE).y, (560 - 2 * cam.whole(shape, PHONE).cell) / 2);
  assert.equal(cam.whole(shape, DESK).y, cam.MARGIN);
});

test("a cell is brought into sight with its neighbours", () => {
  const camera = cam.begin(MARATHON, PHONE, true, 0);
  const last = 80 * 40 - 1;
  for (const cell of [last, 0, 40 * 80 - 80, 79]) {
    const { x, y } = cam.centreOf(cam.reveal(camera, MARATHON, PHONE, cell), MARATHON, cell);
    assert.ok(x > 0 && x < PHONE.width && y > 0 && y < PHONE.height, `cell ${cell}`);
  }
  assert.deepEqual(cam.reveal(camera, MARATHON, PHONE, 162), camera, "no further than needed");
});

test("what is in sight", () => {
  assert.deepEqual(cam.inSight({ cell: 10, x: -25, y: 5 }, MARATHON, { ...DESK, width: 100, height: 50 }),
    { left: 2, right: 12, top: 0, bottom: 4 });
});
