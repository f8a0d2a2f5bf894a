import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { type CallContext } from "../../src/server/caller.ts";
import { Dispatcher, type Handlers } from "../../src/server/dispatcher.ts";
import { AnswerDesk } from "../../src/hub/answer-desk.ts";
import { AppError } from "../../src/protocol/errors.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { spawnTestHub, startTestHub, tokenOf, type TestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const create = (hub: TestHub, body: unknown, headers: Record<string, string> = {}) =>
  ask(hub.url, { method: "POST", path: "/sessions", token: hub.operatorToken, body, headers });

async function dispatcherWith(
  handlers: Partial<Handlers>,
): Promise<{ call: (input?: unknown, key?: string) => Promise<unknown>; lines: string[] }> {
  const store = await openSqliteStore(await temporaryDirectory(), { now: () => Date.now() });
  const lines: string[] = [];
  const dispatcher = new Dispatcher({
    handlers: handlers as Handlers,
    answers: new AnswerDesk(store.answers),
    logger: createLogger("info", (line) => lines.push(line)),
    hubEnds: new AbortController().signal,
    newId: () => "fault-1",
    digest: (text) => text,
    secretDigest: (text) => text,
  });
  const never = new AbortController().signal;
  const context: CallContext = {
    caller: { actor: { kind: "person", id: "ann" }, role: "operator", tokenId: undefined, revoked: never },
    signal: never,
  };
  onTestFinished(() => store.close());
  return {
    call: (input = {}, idempotencyKey) => dispatcher.call("hub.reset", input, { ...context, idempotencyKey }),
    lines,
  };
}

test("[HTP-6] a fault of ours shows an id and nothing of its inside", async () => {
  const { call, lines } = await dispatcherWith({
    "hub.reset": () => {
      throw new TypeError("secret inside");
    },
  });

  await expect(call()).rejects.toMatchObject({
    code: "internal",
    details: { id: "fault-1" },
    message: expect.not.stringContaining("secret"),
  });
  expect(lines.join("")).toMatch(/fault-1.*secret inside/);
});

test("[HTP-9] the same key gives the same answer and one effect, at once and later; another request under it is refused", async () => {
  const hub = await startTestHub();
  const keyed = (body: object, key = "k") => create(hub, body, { "idempotency-key": key });

  const answers = await Promise.all(Array.from({ length: 10 }, () => keyed({ kind: "terminal" })));
  const later = await keyed({ kind: "terminal" });

  expect(new Set([...answers, later].map((it) => it.text)).size).toBe(1);
  expect(later.status).toBe(201);
  expect((await ask(hub.url, { path: "/sessions", token: hub.operatorToken })).body).toHaveLength(1);
  expect(await keyed({ kind: "file" }).then(verdict)).toBe("400 invalid_request");
  expect(await keyed({ kind: "terminal" }, "a b").then(verdict)).toBe("400 invalid_request");
  const other = await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.agentToken,
    body: { kind: "terminal" },
    headers: { "idempotency-key": "k" },
  });
  expect(other.body.sessionId).not.toBe(later.body.sessionId);
});

test("[HTP-9] a refusal is remembered, a failure that did nothing frees the key", async () => {
  const hub = await startTestHub();
  const headers = { "idempotency-key": "k" };
  const close = (sessionId: string) =>
    ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/close`, token: hub.operatorToken, headers });
  const { sessionId } = (await create(hub, { kind: "terminal" })).body;
  await ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/close`, token: hub.operatorToken });

  expect((await close(sessionId)).body).toEqual((await close(sessionId)).body);
  expect(verdict(await close(sessionId))).toBe("409 invalid_transition");
  await ask(hub.url, {
    method: "PUT",
    path: "/workspaces/tiny",
    token: hub.operatorToken,
    body: { limits: { maxSessions: 1 } },
  });
  const only = (await create(hub, { kind: "terminal", workspaceId: "tiny" })).body;
  const again = () => create(hub, { kind: "terminal", workspaceId: "tiny" }, headers);
  expect(verdict(await again())).toBe("429 limit_reached");
  await ask(hub.url, { method: "POST", path: `/sessions/${only.sessionId}/close`, token: hub.operatorToken });
  expect(verdict(await again())).toBe("201");
});

test("[HTP-9] a refusal is remembered also where the answer is kept in memory alone", async () => {
  const store = await openSqliteStore(await temporaryDirectory(), { now: () => Date.now() });
  onTestFinished(() => store.close());
  const desk = new AnswerDesk(store.answers);
  const refuse = vi.fn(() => Promise.reject(new AppError("not_found", { what: "channel" })));
  const call = () => desk.once({ scope: "ann", key: "k", inputHash: "h", keep: "memory" }, refuse);

  await expect(call()).rejects.toMatchObject({ code: "not_found", details: { what: "channel" } });
  await expect(call()).rejects.toMatchObject({ code: "not_found", details: { what: "channel" } });
  expect(refuse).toHaveBeenCalledTimes(1);
});

test("[HTP-9] answers survive kill -9", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const request = {
    method: "POST",
    path: "/sessions",
    token,
    body: { kind: "terminal" },
    headers: { "idempotency-key": "k" },
  };
  const answer = await ask(first.url, request);
  await first.kill("SIGKILL");

  const second = await spawnTestHub(dataDir);

  expect((await ask(second.url, request)).body).toEqual(answer.body);
  expect((await ask(second.url, { path: "/sessions", token })).body).toHaveLength(1);
});

test("[HTP-9] other input of the same length under a key is refused, also after a restart, and its text is nowhere", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const { sessionId } = (await ask(first.url, { method: "POST", path: "/sessions", token, body: { kind: "terminal" } }))
    .body;
  const headers = { "idempotency-key": "k" };
  const path = `/sessions/${sessionId}/input`;
  const type = (url: string, text: string) =>
    ask(url, { method: "POST", path, token, headers, body: { data_b64: Buffer.from(text).toString("base64") } });

  const typed = await type(first.url, "hunter-one");
  expect(await type(first.url, "hunter-two").then(verdict)).toBe("400 invalid_request");
  await first.kill("SIGKILL");
  const second = await spawnTestHub(dataDir);

  expect(await type(second.url, "hunter-two").then(verdict)).toBe("400 invalid_request");
  expect((await type(second.url, "hunter-one")).body).toEqual(typed.body);
  expect((await stat(join(dataDir, "digest.key"))).mode & 0o777).toBe(0o600);
  const stored = await readFile(join(dataDir, "events.db-wal"));
  const given = Buffer.from("hunter-one").toString("base64");
  expect([stored.includes(given), stored.includes(createHash("sha256").update(given).digest("hex"))]).toEqual([
    false,
    false,
  ]);
});

test("[HTP-9] a call that a kill cut off is of unknown outcome and isn't tried again", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const headers = { "idempotency-key": "k" };
  const request = { method: "POST", path: "/sessions", token, body: { kind: "terminal" }, headers };
  expect((await ask(first.url, request)).status).toBe(201);
  await first.kill("SIGKILL");
  // As if the kill had come before the answer was stored.
  const db = new DatabaseSync(join(dataDir, "events.db"));
  db.exec("UPDATE answers SET content = json_remove(json_set(content, '$.state', 'started'), '$.answer')");
  db.close();

  const second = await spawnTestHub(dataDir);

  expect(await ask(second.url, request).then(verdict)).toBe("502 unknown_outcome");
  expect((await ask(second.url, { path: "/sessions", token })).body).toHaveLength(1);
});

test("[HTP-9] a bug in the middle leaves the outcome unknown", async () => {
  const act = vi.fn(() => {
    throw new TypeError("half done");
  });
  const { call } = await dispatcherWith({ "hub.reset": act });

  await expect(call({}, "k")).rejects.toMatchObject({ code: "internal" });
  await expect(call({}, "k")).rejects.toMatchObject({ code: "unknown_outcome" });
  expect(act).toHaveBeenCalledTimes(1);
});

test("[HTP-11] beyond its budget a call's outcome is unknown", async () => {
  const { call } = await dispatcherWith({ "hub.reset": () => new Promise(() => undefined) });
  const budget = new AbortController();
  const spied = vi.spyOn(AbortSignal, "timeout").mockReturnValue(budget.signal);

  const outcome = call();
  budget.abort();

  spied.mockRestore();
  await expect(outcome).rejects.toMatchObject({ code: "unknown_outcome" });
});
