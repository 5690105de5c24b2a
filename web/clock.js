/**
 * Times: the server's clock as this client estimates it, and the player's own clock on it.
 *
 * Law: the server measures; what is shown here is its last word carried on.
 */

/**
 * @typedef {object} ServerClock
 * @property {number | null} offsetMs Server time less local time; null before the first frame
 *   that tells it.
 * @property {number} roundTripMs Of the fastest exchange so far; `Infinity` before the first.
 * @property {number} sampledAtMs Local time of that exchange.
 */

/**
 * How long the fastest exchange is trusted: oscillators of phones drift by up to 50 ms in
 * 10 minutes.
 */
const SAMPLE_LIFE_MS = 300_000;

/** @returns {ServerClock} */
export function newServerClock() {
  return { offsetMs: null, roundTripMs: Infinity, sampledAtMs: -Infinity };
}

/**
 * A first idea from a frame that carries the server's time but answers nothing timed.
 * @param {ServerClock} clock
 * @param {number} nowMs The server's.
 * @param {number} localMs
 * @returns {ServerClock}
 */
export function told(clock, nowMs, localMs) {
  if (clock.roundTripMs < Infinity) return clock;
  return { ...clock, offsetMs: nowMs - localMs };
}

/**
 * The clock after a `pong`. The fastest exchange has the smallest error, at most half its
 * length, so a slower one changes nothing until that one is old.
 * @param {ServerClock} clock
 * @param {{at: number, now_ms: number}} pong
 * @param {number} localMs
 * @returns {ServerClock}
 */
export function ponged(clock, pong, localMs) {
  const roundTripMs = localMs - pong.at;
  const stale = localMs - clock.sampledAtMs > SAMPLE_LIFE_MS;
  if (roundTripMs < 0 || (roundTripMs > clock.roundTripMs && !stale)) return clock;
  return { offsetMs: pong.now_ms + roundTripMs / 2 - localMs, roundTripMs, sampledAtMs: localMs };
}

/**
 * The server's time at a local time.
 * @param {ServerClock} clock
 * @param {number} localMs
 */
export function serverTime(clock, localMs) {
  return localMs + (clock.offsetMs ?? 0);
}

/**
 * How long a frame takes one way.
 * @param {ServerClock} clock
 */
export function lag(clock) {
  return clock.roundTripMs < Infinity ? clock.roundTripMs / 2 : 0;
}

/**
 * @typedef {object} Stopwatch One's own clock.
 * @property {number} ms What it showed.
 * @property {number} atMs When, on the server's clock.
 * @property {boolean} running
 * @property {number} frozenUntilMs Moves are ignored before this time of the server's.
 */

/** @returns {Stopwatch} */
export function newStopwatch() {
  return { ms: 0, atMs: 0, running: false, frozenUntilMs: 0 };
}

/**
 * What the stopwatch shows at a time of the server's.
 * @param {Stopwatch} watch
 * @param {number} serverMs
 */
export function elapsed(watch, serverMs) {
  return watch.running ? Math.max(0, watch.ms + serverMs - watch.atMs) : watch.ms;
}

/**
 * The stopwatch as a frame's `clock` has it.
 * @param {import("./protocol.js").Clock} clock
 * @returns {Stopwatch}
 */
export function stopwatchOf(clock) {
  const own = clock.own;
  if (!own) return newStopwatch();
  const frozenUntilMs = own.frozen_ms ? clock.now_ms + own.frozen_ms : 0;
  return { ms: own.ms, atMs: clock.now_ms, running: own.running, frozenUntilMs };
}

/**
 * The stopwatch after an outage that is on nobody's clock.
 * @param {Stopwatch} watch
 * @param {number} ms
 * @returns {Stopwatch}
 */
export function stalled(watch, ms) {
  const frozenUntilMs = watch.frozenUntilMs && watch.frozenUntilMs + ms;
  return { ...watch, atMs: watch.atMs + ms, frozenUntilMs };
}

/**
 * A time as results show it, to the millisecond: `7.042`, `1:07.042`, `1:02:07.042`.
 * @param {number} ms
 */
export function showExact(ms) {
  return `${showSeconds(ms)}.${String(Math.floor(ms) % 1000).padStart(3, "0")}`;
}

/**
 * A running time: `7`, `1:07`, `1:02:07`.
 * @param {number} ms
 */
export function showSeconds(ms) {
  const total = Math.floor(ms / 1000);
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (/** @type {number} */ x) => String(x).padStart(2, "0");
  if (h) return `${h}:${two(m)}:${two(s)}`;
  return m ? `${m}:${two(s)}` : `${s}`;
}
