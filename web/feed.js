/** The feed of listed rooms, for the start page. */

import { Connection } from "./socket.js";
import { keep, recall } from "./storage.js";

/** The address of a websocket of this server. */
export function socketUrl(/** @type {string} */ name) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/${name}`;
}

export class LobbyFeed {
  /** @param {(rooms: import("./protocol.js").ListedRoom[]) => void} show */
  constructor(show) {
    const connection = new Connection(socketUrl("lobby"), {
      opened: () => this.#hello(),
      received: (frame) => {
        if (frame.t === "lobby") show(frame.rooms);
        if (frame.t === "welcome" && frame.token) keep("token", frame.token);
        if (frame.t === "error" && frame.code === "bad_token") {
          keep("token", null);
          this.#hello();
        }
      },
      closed: () => {},
    });
    this.connection = connection;
  }

  #hello() {
    const token = recall("token");
    this.connection.send({ t: "hello", ...(token && { token }) });
  }

  end() {
    this.connection.end();
  }

  wake() {
    this.connection.wake();
  }

  hurry() {
    this.connection.hurry();
  }
}
