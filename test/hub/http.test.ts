import fc from "fast-check";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Workspace } from "../../src/protocol/workspaces.ts";
import { OPERATIONS, operation, operationNames } from "../../src/protocol/operations.ts";
import { openTestHub, startTestHub, type TestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { rawExchange } from "../support/raw.ts";
import { soakCount } from "../support/soak.ts";

/** For all that leave others alone. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

const create = (hub: TestHub, body: unknown, headers: Record<string, string> = {}) =>
  ask(hub.url, { method: "POST", path: "/sessions", token: hub.operatorToken, body, headers });

test("[HTP-1] answers have the shape that the table says", async () => {
  const session = (await create(hub, { kind: "file" })).body;
  const approval = (
    await ask(hub.url, {
      method: "POST",
      path: "/approvals",
      token: hub.operatorToken,
      body: { kind: "plan", payload: {} },
    })
  ).body;
  // Of terminals, questions and threads; those answers are looked at where there are some.
  const elsewhere = new Set<string>(["control.changes", "prompt.get", "conversation.resolve"]);
  const reads = operationNames.filter(
    (name) => operation(name).method === "GET" && operation(name).kind === "call" && !elsewhere.has(name),
  );

  for (const name of reads) {
    const path = operation(name)
      .path.replace("{sessionId}", session.sessionId)
      .replace("{requestId}", approval.requestId)
      .replace("{workspaceId}", "default")
      .replace("{hostId}", "local");
    const answer = await ask(hub.url, { path, token: hub.operatorToken });
    expect(answer.status).toBe(200);
    expect(operation(name).output.parse(answer.body)).toEqual(answer.body);
  }
  expect(
    Workspace.strict().parse((await ask(hub.url, { path: "/workspaces/default", token: hub.operatorToken })).body),
  ).toBeTruthy();
});

test.each([
  [{ kind: "terminal", tittle: "x" }, "unknown: tittle"],
  [{ kind: "spaceship" }, "kind"],
  [{}, "kind"],
  [{ kind: "terminal", interactive: "yes" }, "interactive"],
  [{ kind: "terminal", title: "a\u202eb" }, "title"],
  [{ kind: "terminal", title: "a\nb" }, "title"],
  [[], "object"],
  ["null", "object"],
])("[HTP-2] %j is refused and says where", async (body, where) => {
  const answer = await create(hub, body);

  expect(verdict(answer)).toBe("400 invalid_request");
  expect(answer.body.detail).toContain(where);
});

test.each([
  "limit=0",
  "limit=5001",
  "limit=x",
  "limit=1e2",
  "after=-1",
  "after=",
  "limit=1&limit=2",
  "types=nope",
  "sessionId=x",
  "__proto__=1",
  "waitMs=45001",
])("[HTP-2] GET /events?%s is refused", async (query) => {
  expect(await ask(hub.url, { path: `/events?${query}`, token: hub.operatorToken }).then(verdict)).toBe(
    "400 invalid_request",
  );
});

test("[HTP-3, HTP-4] bodies that two readers could read differently, or that are too large or no JSON, are refused", async () => {
  const hub = await startTestHub();
  const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    create(hub, body, headers).then(verdict);

  expect(await send('{"kind":"terminal","kind":"file"}')).toBe("400 invalid_request");
  expect(await send('{"kind":"terminal","\\u006bind":"file"}')).toBe("400 invalid_request");
  expect(await send('{"kind":"terminal","__proto__":{"role":"operator"}}')).toBe("400 invalid_request");
  expect(await send(`{"kind":${"[".repeat(30_000)}${"]".repeat(30_000)}}`)).toBe("400 invalid_request");
  expect(await send(Uint8Array.of(0x7b, 0xff, 0x7d))).toBe("400 invalid_request");
  expect(await send('{"kind":"terminal"}x')).toBe("400 invalid_request");
  expect(await send('{"kind":"terminal"}', { "content-type": "text/plain" })).toBe("400 invalid_request");
  expect(await send(`{"kind":"terminal","title":"${"x".repeat(200_000)}"}`)).toBe("413 too_large");
  expect(await send(`{"kind":"terminal","x":[${"0,".repeat(60_000)}0]}`)).toBe("400 invalid_request");
  expect((await ask(hub.url, { path: "/sessions", token: hub.operatorToken })).body).toEqual([]);
});

test("[HTP-4] a body that grows beyond the limit without saying so is cut off", async () => {
  const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;

  const answer = await rawExchange(
    hub.port,
    `POST /sessions HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\nAuthorization: Bearer ${hub.operatorToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(10)}`,
  );

  expect(answer).toMatch(/^HTTP\/1.1 413 |^$/);
  expect(await ask(hub.url, { path: "/healthz" }).then(verdict)).toBe("200");
});

test("[HTP-5] a failure is a problem detail", async () => {
  const answer = await ask(hub.url, {
    path: "/sessions/6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    token: hub.operatorToken,
  });

  expect(answer.headers["content-type"]).toBe("application/problem+json");
  expect(answer.body).toEqual({
    type: "urn:sidestick:error:not_found",
    title: "No such thing",
    status: 404,
    code: "not_found",
    detail: 'There is no session "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"',
    what: "session",
    id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
  });
});

test("[HTP-7] unknown paths and wrong methods are told apart", async () => {
  const at = (method: string, path: string) => ask(hub.url, { method, path, token: hub.operatorToken });

  for (const path of [
    "/nothing",
    "/sessions/",
    "/sessions/x/y/z",
    "//sessions/../etc",
    "/SESSIONS",
    "/%2e%2e/etc/passwd",
  ])
    expect(await at("GET", path).then(verdict)).toBe("404 not_found");
  const wrong = await at("DELETE", "/sessions");
  expect(verdict(wrong)).toBe("404 not_found");
  expect(wrong.body.allowed.sort()).toEqual(["GET", "POST"]);
});

test("[HTP-8] the OpenAPI document names every operation, and /docs shows each", async () => {
  const { body } = await ask(hub.url, { path: "/openapi.json" });
  const { text } = await ask(hub.url, { path: "/docs" });

  expect(body.openapi).toBe("3.1.0");
  const documented = Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, it]) => `${it.operationId} ${method.toUpperCase()} ${path}`),
  );
  expect(documented.sort()).toEqual(
    operationNames.map((name) => `${name} ${operation(name).method} ${operation(name).path}`).sort(),
  );
  for (const name of operationNames) expect(text).toContain(OPERATIONS[name].path);
});

test("[HTP-10] probes need no credential and hold no names", async () => {
  const hub = await startTestHub();
  const { sessionId } = (await create(hub, { kind: "terminal", title: "canary-title" })).body;
  await ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/pause`, token: hub.operatorToken });

  const [health, ready, metrics] = await Promise.all(
    ["/healthz", "/readyz", "/metrics"].map((path) => ask(hub.url, { path })),
  );

  expect(health?.body).toMatchObject({ ok: true });
  expect(ready?.body).toEqual({ ready: true, reasons: [] });
  expect(metrics?.text).toMatch(/sidestick_sessions\{status="paused"\} 1/);
  expect(metrics?.text).toContain('sidestick_call_seconds_count{operation="session.create",code="ok"} 1');
  expect(metrics?.text).not.toMatch(/canary|olga|bot/);
});

test("[HTP-12] raw nonsense never ends the hub", async () => {
  const host = `Host: 127.0.0.1:${hub.port}\r\n`;
  const openings = [
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "GET / HTTP/9.9\r\n\r\n",
    "GET /healthz HTTP/1.1\r\n\r\n",
    `GET /healthz HTTP/1.1\r\n${host}${host}\r\n`,
    `GET http://evil.example/healthz HTTP/1.1\r\n${host}\r\n`,
    `GET * HTTP/1.1\r\n${host}\r\n`,
    `POST /sessions HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `GET /stream HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
    `GET /stream HTTP/1.1\r\n${host}Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n`,
    `CONNECT evil.example:80 HTTP/1.1\r\n${host}\r\n`,
    `GET /${"a".repeat(70_000)} HTTP/1.1\r\n${host}\r\n`,
  ];

  const answers = await Promise.all(openings.map((text) => rawExchange(hub.port, text, 300)));

  for (const answer of answers) expect(answer).not.toMatch(/^HTTP\/1.1 (2|101)/);
  expect(await ask(hub.url, { path: "/healthz" }).then(verdict)).toBe("200");
});

test("[HTP-12] mutated requests are never answered with a fault of ours", async () => {
  const hub = await startTestHub();
  const seed = Number(process.env.SIDESTICK_SEED ?? 1);
  const names = operationNames.filter((name) => operation(name).kind === "call" && name !== "hub.reset");
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("terminal", "default", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", 0, -1, 1e21, "\u0000", "\ud800"),
  );

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.dictionary(
        fc.constantFrom("kind", "sessionId", "payload", "data", "role", "name", "limits", "after", "x"),
        value,
      ),
      fc.string(),
      async (name, body, id) => {
        const op = operation(name);
        const path = op.path.replace(/\{\w+\}/, encodeURIComponent(id.toWellFormed() || "x"));
        const query =
          op.method === "GET"
            ? `?${new URLSearchParams(Object.entries(body).map(([key, it]) => [key, JSON.stringify(it)]))}`
            : "";
        const answer = await ask(hub.url, {
          method: op.method,
          path: path + query,
          token: hub.operatorToken,
          body: op.method === "GET" ? undefined : body,
        });
        expect([500, 502]).not.toContain(answer.status);
      },
    ),
    { numRuns: soakCount(20_000), seed },
  );
  expect(await readFile(join(hub.dataDir, "hub.log"), "utf8")).not.toContain('"level":"error"');
});

test("[HTP-12] a client that hangs up in the middle of its body is no fault of ours", async () => {
  const hub = await startTestHub();
  const head = `POST /sessions HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\nAuthorization: Bearer ${hub.operatorToken}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;

  await rawExchange(hub.port, head, 200);
  await ask(hub.url, { path: "/sessions", token: hub.operatorToken });

  expect(await readFile(join(hub.dataDir, "hub.log"), "utf8")).not.toContain('"level":"error"');
});

test("[HTP-4] only input may be large, and nobody without a credential sends more than a code", async () => {
  const { sessionId } = (await create(hub, { kind: "terminal" })).body;
  const data = "x".repeat(1024 * 1024);
  const post = (path: string, body: object, token?: string) =>
    ask(hub.url, { method: "POST", path, token, body }).then(verdict);

  expect(await post(`/sessions/${sessionId}/input`, { data }, hub.operatorToken)).toBe("200");
  expect(await post("/approvals", { kind: "tool", payload: { data } }, hub.operatorToken)).toBe("413 too_large");
  expect(await post("/approvals", { kind: "tool", payload: { data: "x".repeat(40_000) } }, hub.operatorToken)).toBe(
    "400 invalid_request",
  );
  expect(await post("/login", { code: "x".repeat(2000) })).toBe("413 too_large");
});

test("[HTP-12] requests sent far ahead of their answers cost their connection", async () => {
  const one = `GET /whoami HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\n\r\n`;

  const last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  const few = await rawExchange(hub.port, one.repeat(5) + last);
  const many = await rawExchange(hub.port, one.repeat(5000));

  expect(few.match(/HTTP\/1\.1 401/g)).toHaveLength(6);
  expect((many.match(/HTTP\/1\.1 401/g) ?? []).length).toBeLessThan(5000);
  expect(await ask(hub.url, { path: "/healthz" }).then(verdict)).toBe("200");
});
