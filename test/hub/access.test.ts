import { beforeAll, describe, expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { ROLES, type Role } from "../../src/domain/actor.ts";
import { pathKeys } from "../../src/protocol/operation.ts";
import { operation, operationNames, type OperationName } from "../../src/protocol/operations.ts";
import { operatorClient, startTestHub, tokenOf } from "../support/hub.ts";
import { ask, verdict, type Exchange } from "../support/http.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startHub, type RunningHub } from "../../src/main/hub.ts";
import { readSettings } from "../../src/main/settings.ts";
import { eventually } from "../support/eventually.ts";

/**
 * Walks every operation × every role × every way to be refused. The rows come from the operation table: a new operation
 * is in the walk the moment it is in the table.
 */
let hub: RunningHub;
let tokens: Record<Role, string>;
let expired: string;
let revoked: string;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  hub = await startHub(
    readSettings(["--port", "0", "--data-dir", dataDir], { XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir }),
    [],
  );
  const made = await Promise.all(
    ROLES.map(async (role) => [role, await tokenOf(dataDir, role, `the-${role}`)] as const),
  );
  tokens = Object.fromEntries(made) as Record<Role, string>;
  const operator = operatorClient(dataDir);
  expired = (await operator.token.create({ role: "operator", name: "short", expiresInSeconds: 1 })).token;
  const old = await operator.token.create({ role: "operator", name: "old" });
  await operator.token.revoke({ tokenId: old.tokenId });
  revoked = old.token;
  const gone = async () =>
    expect(await ask(hub.url, { path: "/whoami", token: expired }).then(verdict)).toBe("401 unauthenticated");
  await eventually(gone);
  return async () => {
    await hub.close();
    await rm(dataDir, { recursive: true, force: true });
  };
});

/** Well-addressed but harmless: ids that don't exist, bodies that no schema takes. A role that passes meets 400 or 404. */
function knock(name: OperationName): Exchange {
  const op = operation(name);
  const path = pathKeys(op.path).reduce(
    (it, key) => it.replace(`{${key}}`, key === "workspaceId" ? "nowhere" : randomUUID()),
    op.path,
  );
  const wrong = { no_such_key: 1 };
  return op.method === "GET" ? { path: `${path}?no_such_key=1` } : { path, method: op.method, body: wrong };
}

describe.each(operationNames)("%s", (name) => {
  test.each(ROLES)(`[SEC-2] ${name} as %s: allowed as the table says`, async (role) => {
    const answer = await ask(hub.url, { ...knock(name), token: tokens[role] });

    expect(verdict(answer)).toBe(operation(name).roles.includes(role) ? "400 invalid_request" : "403 forbidden");
  });

  test(`[SEC-3] ${name} without a good credential: unauthenticated`, async () => {
    const bad = [
      undefined,
      expired,
      revoked,
      `${tokens.operator}x`,
      tokens.operator.slice(0, -1),
      "",
      "x".repeat(5000),
    ];
    const answers = await Promise.all(bad.map((token) => ask(hub.url, { ...knock(name), token })));
    const two = await ask(hub.url, {
      ...knock(name),
      headers: { authorization: [`Bearer ${tokens.operator}`, `Bearer ${tokens.agent}`] },
    });
    const basic = await ask(hub.url, { ...knock(name), headers: { authorization: `Basic ${tokens.operator}` } });

    expect([...answers, two, basic].map(verdict)).toEqual(Array.from({ length: 9 }, () => "401 unauthenticated"));
  });

  test.each(ROLES)(`[SEC-11] ${name} as %s under a foreign Host: refused`, async (role) => {
    const port = new URL(hub.url).port;
    const hosts = [
      "evil.example",
      `evil.example:${port}`,
      "127.0.0.1",
      "127.0.0.1:1",
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
      "0.0.0.0",
    ];
    const answers = await Promise.all(
      hosts.map((host) => ask(hub.url, { ...knock(name), token: tokens[role], headers: { host } })),
    );

    expect(answers.map(verdict)).toEqual(hosts.map(() => "403 origin_refused"));
  });

  test.each(ROLES)(`[SEC-12] ${name} as %s from a foreign Origin: refused`, async (role) => {
    const origins = [
      "https://evil.example",
      "null",
      "http://127.0.0.1:1",
      "http://127.0.0.1",
      hub.url.replace("http", "https"),
      `${hub.url}.evil.example`,
      "chrome-extension://abc",
      "",
    ];
    const answers = await Promise.all(
      origins.map((origin) => ask(hub.url, { ...knock(name), token: tokens[role], headers: { origin } })),
    );

    expect(answers.map(verdict)).toEqual(origins.map(() => "403 origin_refused"));
  });
});

test.each(["/", "/login", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/mcp", "/nothing"])(
  "[SEC-11, SEC-12] %s is refused under a foreign Host or Origin too",
  async (path) => {
    const answers = await Promise.all([
      ask(hub.url, { path, token: tokens.operator, headers: { host: "evil.example" } }),
      ask(hub.url, { path, token: tokens.operator, headers: { origin: "https://evil.example" } }),
    ]);

    expect(answers.map(verdict)).toEqual(["403 origin_refused", "403 origin_refused"]);
    expect(answers[0]?.body.detail).toContain("--public-url");
  },
);

test("[SEC-11] under --public-url that address and its Origin are good too", async () => {
  const other = await startTestHub({ args: ["--public-url", "https://stick.example.com"] });
  const { port } = other;
  const at = (headers: Record<string, string>) =>
    ask(`http://127.0.0.1:${port}`, { path: "/whoami", token: other.operatorToken, headers }).then(verdict);

  expect(other.url).toBe("https://stick.example.com");
  expect(await at({ host: "stick.example.com", origin: "https://stick.example.com" })).toBe("200");
  expect(await at({ host: "stick.example.com:443" })).toBe("200");
  expect(await at({ host: `127.0.0.1:${port}` })).toBe("200");
  expect(await at({ host: "stick.example.com", origin: "http://stick.example.com" })).toBe("403 origin_refused");
});
