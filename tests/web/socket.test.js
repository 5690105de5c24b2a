import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection, pauseMs } from "../../web/socket.js";

/** A clock that tests move, and sockets that they open and close. */
function surroundings() {
  const timers = new Map();
  const sockets = [];
  let now = 0;
  let next = 1;
  return {
    sockets,
    timers: {
      set: (run, ms) => (timers.set(next, { run, at: now + ms }), next++),
      clear: (id) => void timers.delete(id),
      now: () => now,
      random: () => 0.5,
    },
    open: (url) => {
      const socket = { url, readyState: 0, sent: [], closed: false, send: (text) => socket.sent.push(JSON.parse(text)), close: () => (socket.closed = true) };
      sockets.push(socket);
      return socket;
    },
    pass(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter(([, timer]) => timer.at <= until).sort((a, b) => a[1].at - b[1].at)[0];
        if (!due) break;
        timers.delete(due[0]);
        now = due[1].at;
        due[1].run();
      }
      now = until;
    },
  };
}

function connected() {
  const around = surroundings();
  const log = [];
  const listener = { opened: () => log.push("opened"), received: (f) => log.push(f.t), closed: (code, again) => log.push([code, again]) };
  const connection = new Connection("ws://x/ws/K7MP3QXZ", listener, around);
  const up = () => {
    const socket = around.sockets.at(-1);
    socket.readyState = 1;
    socket.onopen();
    return socket;
  };
  const hear = (socket, frame) => socket.onmessage({ data: JSON.stringify(frame) });
  return { around, log, connection, up, hear };
}

test("pauses grow, with jitter, to a limit", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 9].map((n) => pauseMs(n, false, 0.5)), [100, 500, 1000, 2000, 4000, 8000, 8000]);
  assert.deepEqual([pauseMs(5, false, 0), pauseMs(5, false, 1)], [5600, 10400]);
  assert.equal(pauseMs(0, true, 0.5), 10_000);
});

test("it comes back by itself, quickly at first", () => {
  const { around, log, up, hear } = connected();
  const first = up();
  hear(first, { t: "welcome" });
  first.onclose({ code: 1006 });
  around.pass(99);
  assert.equal(around.sockets.length, 1);
  around.pass(1);
  assert.equal(around.sockets.length, 2);
  assert.deepEqual(log, ["opened", "welcome", [1006, true]]);
});

test("a server that accepts and hangs up is asked less and less", () => {
  const { around, up, hear } = connected();
  for (const pause of [100, 500, 1000]) {
    const socket = up();
    hear(socket, { t: "goodbye", code: 1013, text: "" });
    socket.onclose({ code: 1013 });
    const before = around.sockets.length;
    around.pass(pause - 1);
    assert.equal(around.sockets.length, before);
    around.pass(1);
    assert.equal(around.sockets.length, before + 1);
  }
});

test("a goodbye says when to come back", () => {
  const { around, up, hear } = connected();
  const socket = up();
  hear(socket, { t: "goodbye", code: 1013, text: "", retry_ms: 3000 });
  socket.onclose({ code: 1013 });
  around.pass(2999);
  assert.equal(around.sockets.length, 1);
  around.pass(1);
  assert.equal(around.sockets.length, 2);
});

test("after some closes it stays away", () => {
  for (const code of [4002, 4004]) {
    const { around, log, up } = connected();
    up().onclose({ code });
    around.pass(3_600_000);
    assert.equal(around.sockets.length, 1);
    assert.deepEqual(log.at(-1), [code, false]);
  }
});

test("it asks for a sign of life, and drops a dead line", () => {
  const { around, log, up, hear } = connected();
  const socket = up();
  around.pass(10_000);
  assert.deepEqual(socket.sent, [{ t: "ping", at: 10_000 }]);
  hear(socket, { t: "pong", at: 10_000, now_ms: 1 });
  around.pass(10_000);
  assert.equal(socket.closed, false);
  around.pass(20_000);
  assert.equal(socket.closed, true);
  assert.deepEqual(log.at(-1), [1006, true]);
});

test("when the page is seen again a dead line is found out in 3 s", () => {
  const { around, connection, up } = connected();
  const socket = up();
  around.pass(500);
  connection.wake();
  around.pass(2999);
  assert.equal(socket.closed, false);
  around.pass(1);
  assert.equal(socket.closed, true);
});

test("a line that is silent while an answer is due is given up in 5 s", () => {
  const { around, log, connection, up } = connected();
  const socket = up();
  connection.expect(1);
  around.pass(2499);
  assert.deepEqual(socket.sent, []);
  around.pass(1);
  assert.deepEqual(socket.sent, [{ t: "ping", at: 2500 }]);
  around.pass(2499);
  assert.equal(socket.closed, false);
  around.pass(1);
  assert.equal(socket.closed, true);
  assert.deepEqual(log.at(-1), [1006, true]);
});

test("any frame is a sign of life, and an answer ends the doubt", () => {
  const { around, connection, up, hear } = connected();
  const socket = up();
  connection.expect(1);
  around.pass(2000);
  hear(socket, { t: "progress", p: [] });
  around.pass(2499);
  assert.deepEqual(socket.sent, [], "no ping while others are heard");
  around.pass(1);
  assert.equal(socket.sent.length, 1);
  around.pass(2000);
  hear(socket, { t: "progress", p: [] });
  around.pass(3000);
  assert.equal(socket.closed, false);
  connection.expect(0);
  around.pass(5000);
  assert.equal(socket.sent.length, 1, "nothing is due");
});

test("a server that is only slow is not stormed", () => {
  const { around, connection, up, hear } = connected();
  up();
  connection.expect(1);
  around.pass(5100);
  assert.equal(around.sockets.length, 2, "given up, and opened again");
  const second = up();
  hear(second, { t: "welcome" });
  around.pass(2500 + 10_000 - 5100 - 1);
  assert.deepEqual([second.sent, second.closed], [[], false], "no doubt for 10 s after the last");
  around.pass(1);
  assert.equal(second.sent.length, 1);
  hear(second, { t: "pong", at: 0, now_ms: 1 });
  connection.expect(2);
  around.pass(9999);
  assert.equal(second.sent.length, 1);
  around.pass(1);
  assert.equal(second.sent.length, 2);
});

test("an address that never answers is given up", () => {
  const { around, log } = connected();
  around.pass(10_000);
  assert.equal(around.sockets[0].closed, true);
  assert.deepEqual(log, [[1006, true]]);
});

test("it hurries when asked, and not when it is up or ended", () => {
  const { around, connection, up } = connected();
  up();
  connection.hurry();
  assert.equal(around.sockets.length, 1);
  around.sockets[0].onclose({ code: 4008 });
  connection.hurry();
  assert.equal(around.sockets.length, 2);
  connection.end();
  connection.hurry();
  around.pass(100_000);
  assert.equal(around.sockets.length, 2);
});

test("nothing is sent on a line that is not up, nor heard from one that is gone", () => {
  const { around, log, connection, up, hear } = connected();
  assert.equal(connection.send({ t: "start" }), false);
  const socket = up();
  const { onmessage } = socket;
  assert.equal(connection.send({ t: "start" }), true);
  socket.onclose({ code: 1006 });
  onmessage({ data: '{"t":"welcome"}' });
  hear({ onmessage }, { t: "welcome" });
  assert.deepEqual(log, ["opened", [1006, true]]);
  assert.equal(around.sockets[0].url, "ws://x/ws/K7MP3QXZ");
});
