/**
 * A connection that keeps itself up: opens, asks for signs of life, comes back with growing
 * pauses. It knows no messages but `ping`, and no rules.
 */

import { afterClose, encode, parse, SUBPROTOCOL } from "./protocol.js";

/** @typedef {import("./protocol.js").ServerFrame} ServerFrame */
/**
 * @typedef {object} Listener
 * @property {() => void} opened
 * @property {(frame: ServerFrame) => void} received
 * @property {(code: number, again: boolean) => void} closed `again`: it comes back by itself.
 */
/**
 * @typedef {object} Timers What the connection needs of its surroundings; tests bring their own.
 * @property {(run: () => void, ms: number) => number} set
 * @property {(id: number) => void} clear
 * @property {() => number} now Local milliseconds, never going back.
 * @property {() => number} random 0 to 1.
 */

const PING_EVERY_MS = 10_000;
/** Nothing heard for so long after a ping: the line is dead, though the browser does not know. */
const SILENCE_MS = 10_000;
/** When the page is seen again a dead line should be noticed before the person taps. */
const WAKE_SILENCE_MS = 3_000;
/**
 * A line that is silent for so long while an answer is due is doubted, and given up after as long
 * again. Not again within the pause, though it came back meanwhile: a server that is only slow must
 * not be stormed for it.
 */
const DOUBT_MS = 2_500;
const DOUBT_PAUSE_MS = 10_000;
const OPENING_MS = 10_000;
/** A server that restarts is back within a blink, so the first try is quick. */
const FIRST_PAUSE_MS = 100;
const NEXT_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
const SLOW_PAUSE_MS = 10_000;

/**
 * How long to wait before try number `attempt` (from 0). Jitter of ± 30 %, so that those whom
 * one failure dropped do not all come back at once.
 * @param {number} attempt
 * @param {boolean} slowly
 * @param {number} random 0 to 1.
 */
export function pauseMs(attempt, slowly, random) {
  const quick = attempt === 0 ? FIRST_PAUSE_MS : NEXT_PAUSE_MS * 2 ** (attempt - 1);
  const base = Math.min(LONGEST_PAUSE_MS, quick);
  return Math.round((slowly ? Math.max(SLOW_PAUSE_MS, base) : base) * (0.7 + 0.6 * random));
}

/** @type {Timers} */
const browserTimers = {
  set: (run, ms) => window.setTimeout(run, ms),
  clear: (id) => window.clearTimeout(id),
  now: () => performance.now(),
  random: Math.random,
};

export class Connection {
  /** @type {WebSocket | null} */
  #socket = null;
  #attempt = 0;
  #timer = 0;
  #deadline = 0;
  #heardAt = 0;
  #retryMs = 0;
  #ended = false;
  /** What an answer is due to; 0 for nothing. */
  #awaited = 0;
  #awaitedAt = 0;
  #doubt = 0;
  #doubtedAt = -Infinity;

  /**
   * @param {string} url Holds no secret: addresses end up in logs.
   * @param {Listener} listener
   * @param {{timers?: Timers, open?: (url: string) => WebSocket}} [surroundings]
   */
  constructor(url, listener, surroundings = {}) {
    this.url = url;
    this.listener = listener;
    this.timers = surroundings.timers ?? browserTimers;
    this.openSocket = surroundings.open ?? ((/** @type {string} */ to) => new WebSocket(to, SUBPROTOCOL));
    this.#open();
  }

  /**
   * Sends a frame if the line is up; says whether it did.
   * @param {import("./protocol.js").ClientFrame} frame
   */
  send(frame) {
    // 1 is OPEN; the constant lives on a class that tests do not have.
    if (this.#socket?.readyState !== 1) return false;
    this.#socket.send(encode(frame));
    return true;
  }

  /** Ends it for good. */
  end() {
    this.#ended = true;
    this.#drop(1000);
  }

  /** Comes back now rather than later: the network is back, or the person asks. */
  hurry() {
    if (this.#ended || this.#socket) return;
    this.#attempt = 0;
    this.#open();
  }

  /** The page is seen again: a line that died meanwhile is found out soon. */
  wake() {
    if (this.#socket) this.#ping(WAKE_SILENCE_MS);
    else this.hurry();
  }

  /**
   * Says what an answer is due to: a line that stays silent then is found out soon.
   * @param {number} what Tells one from another; 0 when nothing is.
   */
  expect(what) {
    if (what === this.#awaited) return;
    this.#awaited = what;
    this.#watch();
  }

  #watch() {
    this.timers.clear(this.#doubt);
    if (!this.#awaited || this.#socket?.readyState !== 1) return;
    this.#awaitedAt = this.timers.now();
    this.#doubt = this.timers.set(() => this.#doubtful(), DOUBT_MS);
  }

  /** Asks for a sign of life if nothing has been heard; else looks again when that may be. */
  #doubtful() {
    const now = this.timers.now();
    const dueAt = Math.max(Math.max(this.#heardAt, this.#awaitedAt) + DOUBT_MS, this.#doubtedAt + DOUBT_PAUSE_MS);
    const again = now < dueAt ? dueAt - now : DOUBT_PAUSE_MS;
    this.#doubt = this.timers.set(() => this.#doubtful(), again);
    if (now < dueAt) return;
    this.#doubtedAt = now;
    this.#ping(DOUBT_MS);
  }

  #open() {
    this.#clear();
    const socket = this.openSocket(this.url);
    this.#socket = socket;
    this.#retryMs = 0;
    this.#deadline = this.timers.set(() => this.#lost(socket, 1006), OPENING_MS);
    socket.onopen = () => this.#opened(socket);
    socket.onmessage = (event) => this.#heard(socket, event.data);
    socket.onclose = (event) => this.#lost(socket, event.code);
  }

  /** @param {WebSocket} socket */
  #opened(socket) {
    if (socket !== this.#socket) return;
    this.#clear();
    this.#heardAt = this.timers.now();
    this.#timer = this.timers.set(() => this.#ping(SILENCE_MS), PING_EVERY_MS);
    this.#watch();
    this.listener.opened();
  }

  /**
   * @param {WebSocket} socket
   * @param {unknown} data
   */
  #heard(socket, data) {
    if (socket !== this.#socket) return;
    this.#heardAt = this.timers.now();
    const frame = parse(data);
    if (!frame) return;
    if (frame.t === "goodbye") this.#retryMs = frame.retry_ms ?? 0;
    // Only a server that answers ends a row of failures: one may accept and close at once.
    if (frame.t === "welcome") this.#attempt = 0;
    this.listener.received(frame);
  }

  /** @param {number} silenceMs */
  #ping(silenceMs) {
    this.#clear();
    const socket = this.#socket;
    const askedAt = this.timers.now();
    this.send({ t: "ping", at: askedAt });
    this.#deadline = this.timers.set(() => {
      if (socket && this.#heardAt < askedAt) this.#lost(socket, 1006);
    }, silenceMs);
    this.#timer = this.timers.set(() => this.#ping(SILENCE_MS), PING_EVERY_MS + silenceMs);
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   */
  #lost(socket, code) {
    if (socket !== this.#socket) return;
    this.#drop(code);
    const policy = afterClose(code);
    const again = policy !== "never" && !this.#ended;
    if (again) {
      const pause = pauseMs(this.#attempt++, policy === "slowly", this.timers.random());
      this.#timer = this.timers.set(() => this.#open(), Math.max(pause, this.#retryMs));
    }
    this.listener.closed(code, again);
  }

  /** @param {number} code */
  #drop(code) {
    this.#clear();
    this.timers.clear(this.#doubt);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    if (socket.readyState < 2) socket.close(code === 1000 ? 1000 : undefined);
  }

  #clear() {
    this.timers.clear(this.#timer);
    this.timers.clear(this.#deadline);
  }
}
