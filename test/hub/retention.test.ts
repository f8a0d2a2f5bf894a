import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openDesks } from "../../src/main/desks.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { startTestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { TestViewer } from "../support/viewer.ts";
import { eventually } from "../support/eventually.ts";

const stream = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const host = { kind: "host", id: "local" } as const;

/** A data directory whose first ten output events are no longer kept; answers the sequence of the last of them. */
async function prunedDirectory(): Promise<{ dataDir: string; oldest: number }> {
  const dataDir = await temporaryDirectory();
  let now = 0;
  const store = await openSqliteStore(dataDir, { now: () => now });
  const output = (cursor: number) => ({ type: "stdout", payload: { cursor, length: 1 }, source: host }) as const;
  const old = await store.events.append(
    stream,
    "any",
    Array.from({ length: 10 }, (_, i) => output(i)),
    "process",
  );
  now = 1_000_000;
  await store.events.append(
    stream,
    "any",
    Array.from({ length: 3 }, (_, i) => output(10 + i)),
    "process",
  );
  await store.events.prune({
    activityMaxAgeMs: 500_000,
    activityMaxBytes: 1e12,
    auditMaxAgeMs: 1e12,
    auditMaxBytes: 1e12,
    keep: new Set(),
    keepEvents: new Set(),
  });
  await store.close();
  return { dataDir, oldest: old.ok ? (old.events.at(-1)?.sequence ?? 0) : 0 };
}

test("[STR-2] a cursor before what is kept: cursor_expired, resync over SSE, resync over WebSocket", async () => {
  const { dataDir, oldest } = await prunedDirectory();
  const hub = await startTestHub({ dataDir });
  const token = hub.operatorToken;
  const wanted = [10, 11, 12];

  const list = await ask(hub.url, { path: "/events?after=1", token });
  const rest = await ask(hub.url, { path: `/events?after=${list.body.oldest}&types=stdout`, token });
  const absent = await ask(hub.url, { path: "/events?types=stdout", token });
  const response = await fetch(`${hub.url}/events/stream?types=stdout`, {
    headers: { authorization: `Bearer ${token}`, "last-event-id": "2" },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes('"cursor":12')) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  const viewer = await TestViewer.open(hub.url, { token });
  viewer.send({ type: "subscribe", after: 3, types: ["stdout"] });
  await eventually(() => expect(viewer.frames).toHaveLength(4));

  expect(verdict(list)).toBe("410 cursor_expired");
  expect(list.body.oldest).toBe(oldest);
  expect(
    [rest, absent].map((it) => it.body.map((event: { payload: { cursor: number } }) => event.payload.cursor)),
  ).toEqual([wanted, wanted]);
  expect(text.split("\n\n").slice(1, 3)).toEqual([
    `event: resync\nid: ${oldest}\ndata: {"after":${oldest}}`,
    expect.stringContaining('"cursor":10'),
  ]);
  expect(viewer.frames[0]).toEqual({ type: "resync", after: oldest });
});

test("[HUB-8] retention removes old output, keeps what lives and forgets what has long been closed", async () => {
  const dataDir = await temporaryDirectory();
  let now = Date.now();
  const day = 86_400_000;
  const limits = {
    activityMaxAgeMs: 10 * day,
    activityMaxBytes: 1e12,
    auditMaxAgeMs: 100 * day,
    auditMaxBytes: 1e12,
    outputMaxBytes: 1e12,
  };
  const desks = await openDesks({
    dataDir,
    openDrivers: async () => [new MemoryDriver("terminal")],
    logger: createLogger("error", () => undefined),
    clock: { now: () => now },
    limits,
  });
  const person = { kind: "person", id: "ann" } as const;
  const config = { kind: "terminal", workspaceId: "default", interactive: false } as const;
  const closed = await desks.sessions.create(config, person);
  const alive = await desks.sessions.create(config, person);
  const types = async () =>
    (await desks.log.read({ limit: 100 }))
      .map((it) => `${it.sessionId === alive.sessionId ? "alive" : "closed"} ${it.type}`)
      .sort();
  const streams = () => readdir(join(dataDir, "bytes"));
  for (const it of [closed, alive]) {
    await desks.sessions.input(it.sessionId, { bytes: Buffer.from("x"), by: person, class: "drive" });
  }
  await desks.sessions.close(closed.sessionId, person);
  await eventually(async () => expect((await types()).filter((it) => it.endsWith("stdout"))).toHaveLength(2));

  now += 50 * day;
  await desks.retention.run();
  const middle = [await types(), await streams(), desks.sessions.list().length];
  now += 100 * day;
  await desks.retention.run();
  const last = [await types(), await streams(), desks.sessions.list().map((it) => it.sessionId)];
  await desks.close();

  expect(middle).toEqual([
    [
      "alive control_handoff",
      "alive status",
      "alive status",
      "closed control_handoff",
      ...Array(3).fill("closed status"),
    ],
    [alive.sessionId],
    2,
  ]);
  expect(last).toEqual([["alive status", "alive status"], [alive.sessionId], [alive.sessionId]]);
});

test("[HUB-7] log lines are JSON with time, level and message, and name session and sequence of each decision", async () => {
  const hub = await startTestHub();
  await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.operatorToken,
    body: { kind: "terminal", title: "refuse to start" },
  });

  await eventually(async () => {
    const lines = (await readFile(join(hub.dataDir, "hub.log"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter((it) => it.message === "status")).toMatchObject([
      { level: "info", session: expect.any(String), sequence: expect.any(Number), by: { kind: "person", id: "olga" } },
      { level: "info", session: expect.any(String), sequence: expect.any(Number), by: { kind: "host", id: "local" } },
    ]);
    expect(lines.filter((it) => !["status", "token", "workspace"].includes(it.message))).toMatchObject([
      { level: "info", message: "the hub is up" },
      {
        level: "warn",
        message: "a session did not start",
        session: expect.stringMatching(/^[0-9a-f-]{36}$/),
        error: { message: "asked to refuse" },
      },
    ]);
    for (const line of lines) expect(new Date(line.time).toISOString()).toBe(line.time);
  });
});
