/**
 * The wire, version `demineur.v1`, as a client sees it: types, codes and the one place where
 * frames become messages and back. Nothing here does I/O or holds state.
 *
 * Times are whole milliseconds; `…_at_ms` are points on the server's clock, the rest lengths.
 */

/** @typedef {"beginner"|"intermediate"|"hard"|"expert"|"extreme"|"marathon"} LevelId */
/** @typedef {"lobby"|"preparing"|"countdown"|"racing"|"finished"} Phase */
/** @typedef {"waiting"|"playing"|"finished"|"out"} PlayerStatus */
/** @typedef {"won"|"lost"|"left"|"absent"|"timeout"} Ending */
/** @typedef {"player"|"spectator"} Role */
/** @typedef {[start: number, text: string][]} Segments One character a cell along a row. */

/**
 * @typedef {object} Settings
 * @property {LevelId} level
 * @property {"own"|"shared"} start
 * @property {boolean} guess_free Only with a shared start.
 * @property {"out"|"penalty"} mine
 * @property {number} players 2 to 32.
 * @property {boolean} listed
 */
/** @typedef {{width: number, height: number, mines: number}} BoardSize */
/**
 * @typedef {object} Player
 * @property {number} seat
 * @property {string} name
 * @property {boolean} ready
 * @property {boolean} present
 * @property {PlayerStatus} status
 * @property {number} percent Share of 3BV solved, 0 to 100.
 * @property {number} flags
 * @property {number} [ms] The time, once the run has ended.
 * @property {boolean} [left] Gave the place up in this round; stays in the list until the next.
 */
/** @typedef {{round: number, commitment: string, marked?: number, seats: number[]}} RaceInfo */
/** @typedef {{ms: number, running: boolean, frozen_ms?: number}} OwnClock */
/** @typedef {{now_ms: number, go_at_ms?: number, ends_at_ms?: number, own?: OwnClock}} Clock */
/**
 * @typedef {object} OwnRun
 * @property {number} n The last move of one's own that the server holds.
 * @property {RunStatus} status
 * @property {Segments} open
 * @property {number[]} flags
 * @property {number[]} exploded
 */
/** @typedef {"ready"|"playing"|"won"|"lost"} RunStatus */
/**
 * @typedef {object} Standing
 * @property {number} place
 * @property {number} seat
 * @property {string} name
 * @property {Ending} ending
 * @property {number} ms
 * @property {number} percent
 * @property {number} [three_bv] Absent for a player who never tapped.
 * @property {number} three_bv_solved
 * @property {number} taps
 * @property {number} flags Flag moves made.
 * @property {number} penalty_ms
 * @property {number} [first_tap]
 */
/**
 * @typedef {object} Result
 * @property {number} round
 * @property {string} seed
 * @property {number} attempt
 * @property {string} commitment
 * @property {number} width
 * @property {number} height
 * @property {number} mines
 * @property {number} [marked]
 * @property {Standing[]} standings
 */

/** @typedef {{t: "welcome", player: string, token?: string, name: string, now_ms: number, room: boolean, member?: boolean}} Welcome */
/** @typedef {{t: "error", code: string, text: string, n?: number, retry_ms?: number}} ErrorFrame */
/** @typedef {{t: "pong", at: number, now_ms: number}} Pong */
/** @typedef {{t: "goodbye", code: number, text: string, retry_ms?: number}} Goodbye */
/**
 * @typedef {object} RoomSnapshot
 * @property {"room"} t
 * @property {number} v
 * @property {string} code
 * @property {Phase} phase
 * @property {Settings} settings
 * @property {BoardSize} board
 * @property {number} host
 * @property {Player[]} players
 * @property {number} spectators
 * @property {RaceInfo} [race]
 * @property {Clock} clock
 * @property {{role: Role, seat?: number, run?: OwnRun}} you
 * @property {Result} [result]
 */
/**
 * @typedef {{e: "joined", player: Player}
 *   | {e: "left", seat: number}
 *   | {e: "renamed", seat: number, name: string}
 *   | {e: "ready", seat: number, ready: boolean}
 *   | {e: "presence", seat: number, present: boolean}
 *   | {e: "host", seat: number}
 *   | {e: "settings", settings: Settings, board: BoardSize}
 *   | {e: "preparing"}
 *   | {e: "unprepared", reason: "no_board"|"stopped"}
 *   | {e: "countdown", race: RaceInfo, go_at_ms: number}
 *   | {e: "go", ends_at_ms: number}
 *   | {e: "ended", seat: number, status: "finished"|"out", ms: number}
 *   | {e: "stalled", ms: number}
 *   | {e: "finished", result: Result}
 *   | {e: "rematch", seat: number, round: number}} RoomEvent
 */
/** @typedef {{t: "event", v: number, event: RoomEvent}} EventFrame */
/**
 * @typedef {object} Moved
 * @property {"moved"} t
 * @property {number} n
 * @property {number} ms One's own clock at the move.
 * @property {Segments} [open]
 * @property {[cell: number, flagged: boolean]} [flag]
 * @property {"playing"|"won"|"lost"} [status]
 * @property {number} [frozen_ms]
 * @property {boolean} [again]
 */
/** @typedef {[seat: number, percent: number, flags: number]} ProgressRow */
/**
 * @typedef {object} Missed
 * @property {"missed"} t
 * @property {number} v
 * @property {number} n
 * @property {EventFrame[]} events
 * @property {Moved[]} moves
 * @property {ProgressRow[]} progress
 * @property {number} spectators
 * @property {Clock} clock
 */
/** @typedef {{code: string, host: string, settings: Settings, players: number, phase: Phase}} ListedRoom */
/**
 * @typedef {Welcome | ErrorFrame | Pong | Goodbye | RoomSnapshot | EventFrame | Moved | Missed
 *   | {t: "progress", p: ProgressRow[]} | {t: "spectators", count: number}
 *   | {t: "clock", clock: Clock} | {t: "lobby", rooms: ListedRoom[]}} ServerFrame
 */
/**
 * @typedef {{t: "hello", token?: string, name?: string}
 *   | {t: "create", settings: Settings}
 *   | {t: "join", role: Role, since?: number, n?: number}
 *   | {t: "rename", name: string}
 *   | {t: "ready", ready: boolean}
 *   | {t: "settings", settings: Settings}
 *   | {t: "start"} | {t: "leave"} | {t: "rematch"}
 *   | {t: "tap"|"flag", n: number, c: number}
 *   | {t: "ping", at: number}} ClientFrame
 */

export const SUBPROTOCOL = "demineur.v1";

/** No 0 O, 1 I L, or U, so that a code read aloud comes out the same. */
export const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
export const CODE_LENGTH = 8;
/** Characters that can be seen. */
const NAME_MAX = 24;

export const CLOSE = Object.freeze({
  SUPERSEDED: 4002,
  ROOM_CLOSED: 4004,
  FLOODING: 4008,
  TOO_SLOW: 4009,
  TOO_MANY_CONNECTIONS: 4010,
});

const SERVER_KINDS = new Set([
  "welcome", "error", "pong", "goodbye", "room", "event", "moved", "missed", "progress",
  "spectators", "clock", "lobby",
]);

/**
 * The message in a frame, or null when it is none that this client knows: a newer server may
 * say more, and what is not understood is not acted on.
 * @param {unknown} data
 * @returns {ServerFrame | null}
 */
export function parse(data) {
  if (typeof data !== "string") return null;
  try {
    const frame = JSON.parse(data);
    return frame !== null && SERVER_KINDS.has(frame.t) ? frame : null;
  } catch {
    return null;
  }
}

/**
 * @param {ClientFrame} frame Fields that are undefined are left out.
 * @returns {string}
 */
export function encode(frame) {
  return JSON.stringify(frame);
}

/**
 * A new room code from the browser's own randomness, each letter equally likely.
 * @param {(bytes: Uint8Array) => void} fill
 */
export function newCode(fill = (bytes) => void crypto.getRandomValues(bytes)) {
  // Bytes past the last whole multiple of 30 would favour the first letters.
  const limit = 256 - (256 % ALPHABET.length);
  const bytes = new Uint8Array(32);
  let code = "";
  while (code.length < CODE_LENGTH) {
    fill(bytes);
    for (const byte of bytes) {
      if (byte < limit && code.length < CODE_LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}

/**
 * The room code in what somebody typed or pasted, a whole link included; null where is none.
 * @param {string} typed
 */
export function cleanCode(typed) {
  const fromLink = /\/r\/([^/?#\s]+)/.exec(typed);
  const code = (fromLink?.[1] ?? typed).replace(/[-\s]/g, "").toUpperCase();
  const valid = code.length === CODE_LENGTH && [...code].every((c) => ALPHABET.includes(c));
  return valid ? code : null;
}

/**
 * What somebody typed as a name, without spaces at its ends and cut where the server would refuse
 * it as too long: marks and joiners do not count.
 * @param {string} typed
 */
export function cutName(typed) {
  let room = NAME_MAX;
  let name = "";
  for (const character of typed.normalize("NFC").trim()) {
    if (!/[\p{M}\u200c\u200d]/u.test(character) && room-- === 0) break;
    name += character;
  }
  return name.trimEnd();
}

/** @param {string} code */
export function showCode(code) {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/**
 * What to do when the server has closed with `code`: come back `"soon"`, `"slowly"`, or `"never"`
 * by oneself.
 * @param {number} code
 * @returns {"soon" | "slowly" | "never"}
 */
export function afterClose(code) {
  switch (code) {
    case CLOSE.SUPERSEDED:
    case CLOSE.ROOM_CLOSED:
      return "never";
    case CLOSE.FLOODING:
    case CLOSE.TOO_SLOW:
    case CLOSE.TOO_MANY_CONNECTIONS:
      return "slowly";
    default:
      return "soon";
  }
}
