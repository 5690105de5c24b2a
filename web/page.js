/**
 * A room on the page: carries frames from the connection into the state, wishes from the view
 * onto the wire, and shows the state once a frame.
 */

import { el } from "./dom.js";
import { socketUrl } from "./feed.js";
import { t } from "./i18n.js";
import { settingsFrom } from "./levels.js";
import { CLOSE, showCode } from "./protocol.js";
import { hasBegun, meaning } from "./run.js";
import { Connection } from "./socket.js";
import { awaited, isAtMark, mayMove, screenOf, self } from "./select.js";
import { lost, moving, newState, opened, received, retrying } from "./state.js";
import { keep, keepCommitments, recall } from "./storage.js";
import { linkBanner } from "./views/chrome.js";
import { lobbyView } from "./views/lobby.js";
import { connectingView, noticeView } from "./views/notice.js";
import { raceView } from "./views/race.js";
import { resultView } from "./views/result.js";
import { errorText } from "./words.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {{element: HTMLElement, board?: import("./board.js").Board, focus?: () => void, update: (state: State) => void, destroy: () => void}} View */
/**
 * @typedef {object} RoomActions What a person may do in a room.
 * @property {(gesture: "tap"|"flag"|"chord", cell: number) => boolean} gesture
 * @property {() => void} toggleFlagMode
 * @property {() => void} ready Ready, or no longer.
 * @property {() => void} start
 * @property {(settings: import("./protocol.js").Settings) => void} settings
 * @property {(name: string) => void} rename
 * @property {() => string | null} name The name that one has chosen.
 * @property {() => void} rematch
 * @property {() => void} leave
 * @property {() => void} takeSeat
 * @property {() => void} giveSeatUp To watch.
 * @property {() => void} watch
 * @property {() => void} again Once more from the beginning.
 * @property {() => void} createHere
 * @property {() => void} home
 * @property {(on: boolean) => void} showLobby Over a result.
 * @property {(text: string) => void} say
 */

/** When to send moves again that the store did not take, where the server does not say. */
const RETRY_MS = 1_000;

export class RoomPage {
  /** @type {Connection} */
  #connection;
  /** @type {State} */
  #state;
  /** @type {View | null} */
  #view = null;
  #shown = "";
  #frame = 0;
  #retry = 0;
  #lobbyOver = false;

  /**
   * @param {string} code
   * @param {import("./state.js").Wish} wish
   * @param {HTMLElement} stage
   * @param {{home: () => void, say: (text: string) => void}} outside
   */
  constructor(code, wish, stage, outside) {
    this.outside = outside;
    this.#state = newState(code, wish);
    this.holder = el("div", { class: "view" });
    this.banner = linkBanner(() => this.#connection.hurry());
    this.actions = this.#makeActions();
    stage.replaceChildren(this.banner.element, this.holder);
    this.#connection = this.#connect();
    this.#render();
  }

  destroy() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#retry);
    this.#connection.end();
    this.#view?.destroy();
  }

  wake() {
    this.#connection.wake();
  }

  hurry() {
    this.#connection.hurry();
  }

  /** What this client knows, and where a cell lies on the page. */
  debug() {
    return {
      state: this.#state,
      screen: screenOf(this.#state),
      mayMove: mayMove(this.#state, performance.now()),
      locate: (/** @type {number} */ cell) => this.#view?.board?.locate(cell) ?? null,
    };
  }

  #connect() {
    return new Connection(socketUrl(this.#state.code), {
      opened: () => this.#hello(),
      received: (frame) => this.#take(received(this.#state, frame, performance.now())),
      closed: (code) => this.#closed(code),
    });
  }

  #hello() {
    this.#take(opened(this.#state, { token: recall("token"), name: recall("name") ?? guestName() }));
  }

  /** @param {number} code */
  #closed(code) {
    const link = code === CLOSE.SUPERSEDED ? "superseded" : code === CLOSE.ROOM_CLOSED ? "closed"
      : this.#state.room ? "reconnecting" : "connecting";
    this.#take({ state: lost(this.#state, link), send: [] });
  }

  /** @param {import("./state.js").Next} next */
  #take({ state, send, token, name }) {
    const before = this.#state;
    this.#state = state;
    if (token !== undefined) keep("token", token);
    for (const frame of send) this.#connection.send(frame);
    this.#connection.expect(awaited(state));
    if (name === null) keep("name", null);
    if (token === null || name === null) this.#hello();
    this.#tell(before, state);
    this.#entitle();
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#render());
  }

  /**
   * Says what no screen shows.
   * @param {State} before
   * @param {State} state
   */
  #tell(before, state) {
    if (state.fault && state.fault !== before.fault && !state.refusal) this.#tellFault(state.fault);
    const failed = state.room && before.room && state.room.unprepared > before.room.unprepared;
    if (failed) this.outside.say(t("lobby.unprepared"));
    if (state.room && before.room && state.room.stalls > before.room.stalls) this.outside.say(t("race.stalled"));
    if (state.room && state.room.commitments !== before.room?.commitments) keepCommitments(Object.values(state.room.commitments));
    if (state.room?.result !== before.room?.result) this.#lobbyOver = false;
  }

  /** @param {{code: string, retryMs: number}} fault */
  #tellFault({ code, retryMs }) {
    this.outside.say(errorText(code));
    if (code !== "store_unavailable") return;
    clearTimeout(this.#retry);
    this.#retry = window.setTimeout(() => this.#take(retrying(this.#state)), Math.max(RETRY_MS, retryMs));
  }

  /** The tab says when it is time to come back to it. */
  #entitle() {
    const { room } = this.#state;
    const call = room?.phase === "countdown" ? `${t("race.getReady")} – ` : "";
    const title = `${call}${showCode(this.#state.code)} – ${t("app.name")}`;
    if (document.title !== title) document.title = title;
  }

  #render() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const state = this.#state;
    const screen = this.#screen();
    const key = `${screen} ${state.refusal ?? ""} ${screen === "result" ? state.room?.result?.round : ""}`;
    if (key !== this.#shown) {
      this.#view?.destroy();
      this.#view = this.#open(screen);
      this.#shown = key;
      this.holder.dataset["screen"] = screen;
      this.holder.replaceChildren(this.#view.element);
      document.body.dataset["screen"] = screen;
      window.scrollTo(0, 0);
      this.#view.focus?.();
    }
    this.#view?.update(state);
    this.banner.show(state.link === "reconnecting", screen === "race");
  }

  #screen() {
    const screen = screenOf(this.#state);
    return screen === "result" && this.#lobbyOver ? "lobby" : screen;
  }

  /**
   * @param {import("./select.js").Screen} screen
   * @returns {View}
   */
  #open(screen) {
    const { room } = this.#state;
    if (screen === "race") return raceView(this.actions);
    if (screen === "lobby" && room) return lobbyView(room, this.actions);
    if (screen === "result" && room?.result) return resultView(room, room.result, this.actions);
    return screen === "connecting" ? connectingView() : noticeView(this.#state, this.actions);
  }

  /** @returns {RoomActions} */
  #makeActions() {
    const send = (/** @type {import("./protocol.js").ClientFrame} */ frame) => void this.#connection.send(frame);
    const restart = (/** @type {import("./state.js").Wish} */ wish) => {
      this.#connection.end();
      this.#state = newState(this.#state.code, wish);
      this.#connection = this.#connect();
      this.#render();
    };
    return {
      gesture: (gesture, cell) => this.#gesture(gesture, cell),
      toggleFlagMode: () => this.#toggleFlagMode(),
      ready: () => send({ t: "ready", ready: !(this.#state.room && self(this.#state.room)?.ready) }),
      start: () => send({ t: "start" }),
      settings: (settings) => send({ t: "settings", settings }),
      rename: (name) => {
        keep("name", name);
        send({ t: "rename", name });
      },
      name: () => recall("name"),
      rematch: () => send({ t: "rematch" }),
      leave: () => {
        send({ t: "leave" });
        this.outside.home();
      },
      takeSeat: () => send({ t: "join", role: "player" }),
      giveSeatUp: () => {
        send({ t: "leave" });
        send({ t: "join", role: "spectator" });
      },
      watch: () => restart({ kind: "join", role: "spectator" }),
      again: () => restart({ kind: "join", role: "player" }),
      createHere: () => this.#createHere(restart),
      home: this.outside.home,
      showLobby: (isOn) => {
        this.#lobbyOver = isOn;
        this.#render();
      },
      say: this.outside.say,
    };
  }

  /**
   * @param {"tap"|"flag"|"chord"} gesture
   * @param {number} cell
   */
  #gesture(gesture, cell) {
    const { room, flagMode } = this.#state;
    const move = room?.run ? meaning(room.run, gesture, cell, flagMode) : null;
    if (!move) return false;
    const next = moving(this.#state, move, cell, performance.now());
    if (next.state === this.#state) {
      if (room && isAtMark(room)) this.outside.say(t("race.startMarked"));
      return false;
    }
    this.#take(next);
    return true;
  }

  #toggleFlagMode() {
    const { room, flagMode } = this.#state;
    if (!room?.run || !hasBegun(room.run)) return;
    this.#take({ state: { ...this.#state, flagMode: !flagMode }, send: [] });
  }

  /** @param {(wish: import("./state.js").Wish) => void} restart */
  #createHere(restart) {
    restart({ kind: "create", settings: settingsFrom(recall("settings")) });
  }
}

/** The name of somebody who has not chosen one: the same on each visit, and rarely another's too. */
function guestName() {
  const kept = recall("guest");
  const guest = kept ?? String(100 + Math.floor(Math.random() * 900));
  if (!kept) keep("guest", guest);
  return t("player.guest", { number: guest });
}
