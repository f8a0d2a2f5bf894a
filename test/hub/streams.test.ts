import { randomBytes } from "node:crypto";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { openTestHub, startTestHub, spawnTestHub, tokenOf, type TestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { keptPort } from "../support/kept-port.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { TestViewer } from "../support/viewer.ts";
import { eventually } from "../support/eventually.ts";

/** For all that don't kill theirs. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

async function create({ url }: { readonly url: string }, token: string): Promise<string> {
  const { body } = await ask(url, { method: "POST", path: "/sessions", token, body: { kind: "terminal" } });
  return body.sessionId;
}

async function createActive(): Promise<string> {
  const sessionId = await create(hub, hub.operatorToken);
  const path = `/sessions/${sessionId}`;
  await eventually(async () =>
    expect((await ask(hub.url, { path, token: hub.operatorToken })).body.status).toBe("active"),
  );
  return sessionId;
}

const type = (sessionId: string, data: string | Buffer) =>
  ask(hub.url, {
    method: "POST",
    path: `/sessions/${sessionId}/input`,
    token: hub.operatorToken,
    body: typeof data === "string" ? { data } : { data_b64: data.toString("base64") },
  });

const eventsOf = (viewer: TestViewer): WorkspaceEvent[] =>
  viewer.frames.flatMap((it) => (it.type === "event" ? [it.event] : []));

test("[STR-1] a reader that loses the hub to kill -9 again and again gets every event once, in order", async () => {
  const dataDir = await temporaryDirectory();
  let killed = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const seen: number[] = [];
  let lastId: number | undefined;
  for (let life = 0; life < 2; life += 1) {
    const reading = new AbortController();
    const response = await fetch(`${killed.url}/events/stream`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastId === undefined ? {} : { "last-event-id": String(lastId) }),
      },
      signal: reading.signal,
    });
    const writers = Array.from({ length: 12 }, () => create(killed, token).catch(() => undefined));
    const wanted = seen.length + 5;
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
      text = text.slice(whole.length);
      for (const match of whole.matchAll(/^id: (\d+)$/gm)) seen.push((lastId = Number(match[1])));
      if (seen.length >= wanted) break;
    }
    await killed.kill("SIGKILL");
    await Promise.all(writers);
    killed = await spawnTestHub(dataDir);
  }

  const stored: WorkspaceEvent[] = (await ask(killed.url, { path: "/events?limit=5000", token })).body;
  expect(seen.length).toBeGreaterThanOrEqual(10);
  expect(seen).toEqual(stored.map((it) => it.sequence).slice(0, seen.length));
});

test("[STR-1] the SDK's feed does the same by itself", async () => {
  const dataDir = await temporaryDirectory();
  const port = String(await keptPort());
  let killed = await spawnTestHub(dataDir, ["--port", port]);
  const token = await tokenOf(dataDir, "operator", "olga");
  const client = new SidestickClient({ url: killed.url, token, timing: { retryMinMs: 20, retryMaxMs: 100 } });
  const seen: number[] = [];
  const reading = new AbortController();
  const feed = (async () => {
    for await (const item of client.events({ signal: reading.signal }))
      if (item.type === "event") seen.push(item.event.sequence);
  })();

  for (let life = 0; life < 2; life += 1) {
    const before = seen.length;
    await Promise.all(Array.from({ length: 5 }, () => create(killed, token)));
    await eventually(() => expect(seen.length).toBeGreaterThan(before));
    await killed.kill("SIGKILL");
    killed = await spawnTestHub(dataDir, ["--port", port]);
  }
  const stored: WorkspaceEvent[] = (await ask(killed.url, { path: "/events?limit=5000", token })).body;
  await eventually(() => expect(seen).toEqual(stored.map((it) => it.sequence)));
  reading.abort();
  await feed;
});

test("[STR-3] a quiet stream says something before 15 s are over", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const hub = await startTestHub();
  const response = await fetch(`${hub.url}/events/stream`, {
    headers: { authorization: `Bearer ${hub.operatorToken}` },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();

  vi.advanceTimersByTime(15_000);
  const { value } = await reader.read();

  expect(new TextDecoder().decode(value)).toBe(": heartbeat\n\n");
  await reader.cancel();
});

test("[STR-4] who may open /stream, and how", async () => {
  const host = await tokenOf(hub.dataDir, "host", "h");
  const token = hub.operatorToken;

  expect(await TestViewer.knock(hub.url, { token })).toBe(101);
  expect(await TestViewer.knock(hub.url, { token, protocols: [] })).toBe(101);
  expect(await TestViewer.knock(hub.url, {})).toBe(401);
  expect(await TestViewer.knock(hub.url, { token: host })).toBe(403);
  expect(await TestViewer.knock(hub.url, { token, protocols: ["sidestick.v0"] })).toBe(400);
  expect(await TestViewer.knock(hub.url, { token, path: "/stream?token=x" })).toBe(400);
  expect(await TestViewer.knock(hub.url, { token, path: "/elsewhere" })).toBe(404);
  expect(await TestViewer.knock(hub.url, { token, headers: { origin: "https://evil.example" } })).toBe(403);
  expect(await TestViewer.knock(hub.url, { token, headers: { host: "evil.example" } })).toBe(403);
});

test("[STR-4] a page's cookie opens /stream for the hub's own page only", async () => {
  const code = new URL(hub.loginLink()).hash.slice(6);
  const login = await ask(hub.url, { method: "POST", path: "/login", body: { code } });
  const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";

  const headers = { cookie, "sidestick-csrf": String(login.body.key) };

  expect(await TestViewer.knock(hub.url, { headers: { ...headers, origin: hub.url } })).toBe(101);
  expect(await TestViewer.knock(hub.url, { headers: { cookie, origin: hub.url } })).toBe(401);
  expect(await TestViewer.knock(hub.url, { headers: { ...headers, origin: "http://127.0.0.1:1" } })).toBe(403);
  expect(await TestViewer.knock(hub.url, { headers })).toBe(403);
});

test("[STR-5] subscriptions are filtered and resumable; bad frames harm nothing", async () => {
  const first = await createActive();
  const second = await createActive();
  const viewer = await TestViewer.open(hub.url, { token: hub.operatorToken });

  for (const bad of [
    "x",
    "{}",
    '{"type":"attach"}',
    '{"type":"ping","x":1}',
    '{"type":"ping","type":"ping"}',
    "[1]",
    '{"type":"ack","sessionId":"x","cursor":0}',
  ])
    viewer.socket.send(bad);
  viewer.socket.send(Buffer.from([1, 2, 3]));
  viewer.send({ type: "ping" });
  viewer.send({ type: "subscribe", sessionId: first });

  await eventually(() => expect(eventsOf(viewer)).toHaveLength(2));
  expect(viewer.frames.slice(0, 9).map((it) => (it.type === "error" ? it.code : it.type))).toEqual([
    ...Array.from({ length: 8 }, () => "invalid_request"),
    "pong",
  ]);
  expect(new Set(eventsOf(viewer).map((it) => it.sessionId))).toEqual(new Set([first]));
  const resumed = await TestViewer.open(hub.url, { token: hub.operatorToken });
  resumed.send({ type: "subscribe", after: eventsOf(viewer)[0]?.sequence, types: ["status"] });
  await eventually(() => expect(eventsOf(resumed).map((it) => it.sessionId)).toEqual([first, second, second]));
  viewer.send({ type: "subscribe", sessionId: second, after: 0 });
  await eventually(() =>
    expect(
      eventsOf(viewer)
        .slice(2)
        .map((it) => it.sessionId),
    ).toEqual([second, second]),
  );
});

test("[STR-6] attaching sends stored bytes, then live ones, from any cursor; input and resize go in", async () => {
  const sessionId = await create(hub, hub.operatorToken);
  const bytes = randomBytes(200_000);
  await type(sessionId, bytes);
  const viewer = await TestViewer.open(hub.url, { token: hub.operatorToken });
  viewer.send({ type: "attach", sessionId, from: 1000, input: true, cols: 132, rows: 43 });
  await eventually(() => expect(viewer.bytes().length).toBe(199_000));

  viewer.send({ type: "input", sessionId, data: "live" });

  await eventually(() => expect(viewer.bytes().subarray(-4).toString()).toBe("live"));
  expect(viewer.frames[0]).toEqual({ type: "attached", sessionId, cursor: 1000, cols: 132, rows: 43 });
  expect(viewer.bytes().equals(Buffer.concat([bytes.subarray(1000), Buffer.from("live")]))).toBe(true);
  let cursor = 1000;
  for (const frame of viewer.output) {
    expect([frame.sessionId, frame.cursor]).toEqual([sessionId, cursor]);
    cursor += frame.bytes.length;
  }
  viewer.send({ type: "detach", sessionId });
  viewer.send({ type: "resize", sessionId, cols: 1, rows: 1 });
  await eventually(() => expect(viewer.frames.at(-1)).toMatchObject({ type: "error", code: "not_found" }));
  await type(sessionId, "unseen");
  viewer.send({ type: "attach", sessionId, from: "screen", input: false });
  await eventually(() => expect(viewer.frames.at(-1)?.type).toBe("attached"));
  expect(viewer.bytes().toString("latin1")).not.toContain("unseen");
});

test("[STR-6] a viewer's role may watch but not type or resize", async () => {
  const sessionId = await create(hub, hub.operatorToken);
  const viewer = await TestViewer.open(hub.url, { token: await tokenOf(hub.dataDir, "viewer", "v") });
  const codes = () => viewer.frames.flatMap((it) => (it.type === "error" ? [it.code] : []));

  viewer.send({ type: "attach", sessionId, from: 0, input: true });
  viewer.send({ type: "input", sessionId, data: "x" });
  viewer.send({ type: "attach", sessionId, from: "screen", input: false, cols: 10, rows: 10 });
  viewer.send({ type: "resize", sessionId, cols: 10, rows: 10 });
  viewer.send({ type: "attach", sessionId, from: "screen", input: false });

  const attached = () => viewer.frames.filter((it) => it.type === "attached");
  await eventually(() => expect(attached()).toHaveLength(2));
  expect(codes()).toEqual(["forbidden", "forbidden"]);
  expect(attached()).toMatchObject([
    { cols: 80, rows: 24 },
    { cols: 80, rows: 24 },
  ]);
});

test("[STR-7] without acknowledgements a viewer is paused alone, told so, and goes on when they come", async () => {
  const sessionId = await create(hub, hub.operatorToken);
  const chunks = Array.from({ length: 6 }, () => randomBytes(512 * 1024));
  const lazy = await TestViewer.open(hub.url, { token: hub.operatorToken });
  const keen = await TestViewer.open(hub.url, { token: hub.operatorToken });
  keen.socket.on("message", (_data, isBinary) => {
    const last = keen.output.at(-1);
    if (isBinary && last !== undefined) keen.send({ type: "ack", sessionId, cursor: last.cursor + last.bytes.length });
  });
  for (const viewer of [lazy, keen]) viewer.send({ type: "attach", sessionId, from: 0, input: false });
  for (const chunk of chunks) await type(sessionId, chunk);
  await eventually(() => expect(keen.bytes().length).toBe(3 * 1024 * 1024));
  await eventually(() => expect(lazy.frames.at(-1)?.type).toBe("lagged"));

  const paused = lazy.bytes().length;
  expect(paused).toBeGreaterThanOrEqual(1024 * 1024);
  expect(paused).toBeLessThan(1024 * 1024 + 128 * 1024);
  expect(lazy.frames.at(-1)).toEqual({ type: "lagged", sessionId, cursor: paused });
  for (const cursor of [0, 99_999_999, paused + 1]) lazy.send({ type: "ack", sessionId, cursor });
  lazy.send({ type: "ping" });
  await eventually(() => expect(lazy.frames.at(-1)?.type).toBe("pong"));
  expect(lazy.bytes().length).toBe(paused);
  lazy.socket.on("message", () => lazy.send({ type: "ack", sessionId, cursor: lazy.bytes().length }));
  lazy.send({ type: "ack", sessionId, cursor: paused });
  await eventually(() => expect(lazy.bytes().equals(Buffer.concat(chunks))).toBe(true));
});

test("[STR-8] viewers that don't read neither grow the hub nor delay others, and miss nothing in the end", async () => {
  const dataDir = await temporaryDirectory();
  const flooded = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const sessionId = await create(flooded, token);
  const flood = async (times: number) => {
    const body = { data_b64: Buffer.alloc(256 * 1024, "x").toString("base64") };
    for (let i = 0; i < times; i += 1)
      await ask(flooded.url, { method: "POST", path: `/sessions/${sessionId}/input`, token, body });
  };
  const rss = async () =>
    Number(
      /^sidestick_process_resident_memory_bytes (\S+)/m.exec((await ask(flooded.url, { path: "/metrics" })).text)?.[1],
    );
  await flood(100);
  const before = await rss();
  const stalled = await Promise.all(Array.from({ length: 3 }, () => TestViewer.open(flooded.url, { token })));
  for (const viewer of stalled) {
    viewer.send({ type: "subscribe", types: ["input"] });
    viewer.send({ type: "attach", sessionId, from: 0, input: false });
    viewer.send({ type: "ping" });
    await eventually(() => expect(viewer.frames.some((it) => it.type === "pong")).toBe(true));
    viewer.socket.pause();
  }
  const live = await TestViewer.open(flooded.url, { token });
  live.send({
    type: "subscribe",
    types: ["input"],
    after: (await ask(flooded.url, { path: "/snapshot", token })).body.eventCursor,
  });

  await flood(20);

  await eventually(() => expect(eventsOf(live)).toHaveLength(20));
  expect(((await rss()) - before) / 3 / 1024 / 1024).toBeLessThan(16);
  for (const viewer of stalled) viewer.socket.resume();
  await eventually(() => expect(stalled.map((it) => eventsOf(it).length)).toEqual([120, 120, 120]));
});

test("[STR-9] a waiting read answers with the first new event, or empty in time", async () => {
  const { body: snapshot } = await ask(hub.url, { path: "/snapshot", token: hub.operatorToken });
  const read = (waitMs: number) =>
    ask(hub.url, {
      path: `/events?after=${snapshot.eventCursor}&waitMs=${waitMs}&types=status`,
      token: hub.operatorToken,
    });

  expect((await read(50)).body).toEqual([]);
  const waiting = read(WAIT_BUDGET_MS);
  const sessionId = await create(hub, hub.operatorToken);
  const answer = await waiting;

  expect(verdict(answer)).toBe("200");
  expect(answer.body[0]).toMatchObject({ sessionId, type: "status", payload: { status: "created" } });
});

test("[STR-2] a cursor that the log has not reached gets a resync, not silence", async () => {
  // One where nothing else happens.
  const quiet = await startTestHub();
  const viewer = await TestViewer.open(quiet.url, { token: quiet.operatorToken });
  const response = await fetch(`${quiet.url}/events/stream`, {
    headers: { authorization: `Bearer ${quiet.operatorToken}`, "last-event-id": "99999" },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const { eventCursor } = (await ask(quiet.url, { path: "/snapshot", token: quiet.operatorToken })).body;
  let text = "";
  while (!text.includes("resync")) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();

  viewer.send({ type: "subscribe", after: 99_999 });
  await eventually(() => expect(viewer.frames).toEqual([{ type: "resync", after: eventCursor }]));
  const sessionId = await create(quiet, quiet.operatorToken);

  expect(text).toContain(`event: resync\nid: ${eventCursor}\n`);
  await eventually(() => expect(eventsOf(viewer)[0]?.sessionId).toBe(sessionId));
});

test("[STR-6] the output of a closed session can be read to its end, with any size asked for", async () => {
  const sessionId = await create(hub, hub.operatorToken);
  await type(sessionId, "the end");
  await ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/close`, token: hub.operatorToken });
  const viewer = await TestViewer.open(hub.url, { token: hub.operatorToken });

  viewer.send({ type: "attach", sessionId, from: 0, input: true, cols: 100, rows: 30 });

  await eventually(() => expect(viewer.bytes().toString()).toBe("the end"));
  expect(viewer.frames).toMatchObject([{ type: "attached", sessionId, cursor: 0 }]);
});

test("[STR-7, STR-8] acknowledgements and pings pass input that waits; a flood of frames is not taken into memory", async () => {
  const sessionId = await create(hub, hub.operatorToken);
  const viewer = await TestViewer.open(hub.url, { token: hub.operatorToken });
  for (let i = 0; i < 2_000; i += 1) viewer.send({ type: "input", sessionId, data: "x" });
  viewer.send({ type: "ping" });
  viewer.send({ type: "attach", sessionId, from: 0, input: false });

  await eventually(() => expect(viewer.bytes().length).toBe(2_000));
  expect(viewer.frames.map((it) => it.type)).toEqual(["pong", "attached"]);
});

test("[STR-10] too many bad frames, or pings whose answers nobody reads, end a WebSocket", async () => {
  const bad = await TestViewer.open(hub.url, { token: hub.operatorToken });
  const deaf = await TestViewer.open(hub.url, { token: hub.operatorToken });

  for (let i = 0; i < 101; i += 1) bad.socket.send("x");
  deaf.socket.pause();
  const load = Buffer.alloc(125);
  const pump = setInterval(() => {
    for (let i = 0; i < 2000 && deaf.socket.readyState === deaf.socket.OPEN; i += 1) deaf.socket.ping(load);
  }, 5);
  onTestFinished(() => clearInterval(pump));

  await eventually(() => expect(bad.closeCode).toBe(1008));
  await eventually(async () =>
    expect((await ask(hub.url, { path: "/metrics" })).text).toContain("sidestick_viewers 0"),
  );
});

test("[STR-10] an actor may hold 200 streams, and others still get theirs", async () => {
  const open = (token: string) => TestViewer.knock(hub.url, { token });

  const opened = await Promise.all(Array.from({ length: 205 }, () => open(hub.agentToken)));

  expect(opened.filter((it) => it === 429).length).toBeGreaterThanOrEqual(5);
  expect(opened.filter((it) => it === 101).length).toBeLessThanOrEqual(200);
  expect(await open(hub.operatorToken)).toBe(101);
});
