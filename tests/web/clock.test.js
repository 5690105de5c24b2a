import assert from "node:assert/strict";
import { test } from "node:test";
import { exactTime, withUnit } from "../../web/words.js";
import * as clock from "../../web/clock.js";

test("the fastest exchange tells the offset", () => {
  let c = clock.newServerClock();
  assert.equal(clock.lag(c), 0);
  c = clock.told(c, 5000, 100);
  assert.equal(clock.serverTime(c, 200), 5100);
  c = clock.ponged(c, { at: 1000, now_ms: 6000 }, 1080);
  assert.equal(clock.serverTime(c, 1080), 6040);
  assert.equal(clock.lag(c), 40);
  assert.equal(clock.ponged(c, { at: 2000, now_ms: 9999 }, 2300), c, "a slower one changes nothing");
  assert.equal(clock.told(c, 1, 1), c, "nor does a frame that answers nothing");
  c = clock.ponged(c, { at: 3000, now_ms: 8010 }, 3020);
  assert.equal(clock.serverTime(c, 3020), 8020);
});

test("an old exchange is replaced, by a slower one if need be", () => {
  const quick = clock.ponged(clock.newServerClock(), { at: 0, now_ms: 1000 }, 10);
  const late = clock.ponged(quick, { at: 400_000, now_ms: 401_100 }, 400_200);
  assert.equal(late.roundTripMs, 200);
  assert.equal(clock.ponged(quick, { at: 50, now_ms: 0 }, 20), quick, "a clock that went back is not believed");
});

test("a stopwatch runs on from what it was told", () => {
  const watch = clock.stopwatchOf({ now_ms: 1000, own: { ms: 250, running: true, frozen_ms: 10_000 } });
  assert.equal(clock.elapsed(watch, 1700), 950);
  assert.equal(watch.frozenUntilMs, 11_000);
  assert.equal(clock.elapsed({ ...watch, running: false }, 1700), 250);
  assert.equal(clock.elapsed(watch, 0), 0, "never below zero");
  assert.deepEqual(clock.stopwatchOf({ now_ms: 1 }), clock.newStopwatch());
});

test("an outage is on nobody's clock, nor in a penalty", () => {
  const watch = clock.stopwatchOf({ now_ms: 1000, own: { ms: 250, running: true, frozen_ms: 500 } });
  const later = clock.stalled(watch, 3000);
  assert.equal(clock.elapsed(later, 5000), 1250);
  assert.equal(later.frozenUntilMs, 4500);
  assert.equal(clock.stalled(clock.newStopwatch(), 3000).frozenUntilMs, 0);
});

test("times as they are shown", () => {
  const cases = { 0: "0.000", 7042: "7.042", 67_042: "1:07.042", 3_727_042: "1:02:07.042", 59_999: "59.999" };
  for (const [ms, text] of Object.entries(cases)) assert.equal(clock.showExact(Number(ms)), text);
  assert.equal(clock.showSeconds(59_999), "59");
  assert.equal(clock.showSeconds(60_000), "1:00");
});

test("a time alone has its unit", () => {
  assert.deepEqual([exactTime(6812), exactTime(67_042), withUnit("42")], ["6.812 s", "1:07.042", "42 s"]);
});
