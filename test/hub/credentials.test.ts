import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { CredentialDesk } from "../../src/hub/credential-desk.ts";
import { Journal } from "../../src/hub/journal.ts";
import { type CredentialStore, StorageFailed } from "../../src/hub/ports.ts";
import { digest, newId, newSecret } from "../../src/main/desks.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openTestHub, operatorClient, spawnTestHub, startTestHub, type TestHub, tokenOf } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { cookieOf, login, loginOf, whoami } from "../support/login.ts";
import { TestViewer } from "../support/viewer.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";

/** For all that leave others alone. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

test("[SEC-1] nothing that a request says about itself changes who it is", async () => {
  const claims = { actor: "person:olga", role: "operator", by: "olga", source: "olga" };
  const headers = {
    "x-actor": "olga",
    "x-role": "operator",
    "x-forwarded-user": "olga",
    "x-forwarded-for": "127.0.0.1",
    cookie: `role=operator`,
  };

  const me = await ask(hub.url, { path: "/whoami", token: hub.agentToken, headers });
  const session = await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.agentToken,
    headers,
    body: { kind: "terminal" },
  });
  const forged = await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.agentToken,
    body: { kind: "terminal", ...claims },
  });

  expect(me.body).toEqual({ role: "agent", kind: "agent", id: "bot" });
  expect(session.body.ownerAgentId).toBe("bot");
  expect(verdict(forged)).toBe("400 invalid_request");
});

test("[SEC-4, SEC-8] live secrets stand in no file of the data directory, no list, no event and no process argument (needs ps)", async () => {
  const cookie = cookieOf(await login(hub)).split("=")[1] ?? "";
  const link = hub.loginLink();
  const ticket = await ask(hub.url, { method: "POST", path: "/stream/tickets", token: hub.operatorToken });
  const secrets = [hub.operatorToken, hub.agentToken, cookie, ticket.body.ticket, new URL(link).hash.slice(6)];
  const key = await ask(hub.url, {
    method: "POST",
    path: "/tokens",
    token: hub.operatorToken,
    headers: { "idempotency-key": "k1" },
    body: { role: "agent", name: "x" },
  });
  secrets.push(key.body.token);

  const listed = await Promise.all(
    ["/tokens", "/events?types=token", "/events", "/metrics"].map((path) =>
      ask(hub.url, { path, token: hub.operatorToken }),
    ),
  );
  const contents = Object.values(await storedFiles(hub.dataDir));
  const processes = execFileSync("ps", ["axww", "-o", "args"]).toString();

  expect(secrets.every((it) => it.length >= 40)).toBe(true);
  for (const text of [...listed.map((it) => it.text), ...contents, processes])
    for (const secret of secrets) expect(text).not.toContain(secret);
  const hash = createHash("sha256").update(hub.operatorToken).digest();
  expect(contents.some((text) => text.includes(hash.toString("hex")) || text.includes(hash.toString("latin1")))).toBe(
    true,
  );
});

test("[SEC-5] revoking closes that token's streams, refuses its calls, and leaves others alone", async () => {
  const operator = operatorClient(hub.dataDir);
  const doomed = await operator.token.create({ role: "viewer", name: "doomed" });
  const viewers = await Promise.all(
    Array.from({ length: 20 }, () => TestViewer.open(hub.url, { token: doomed.token })),
  );
  const other = await TestViewer.open(hub.url, { token: hub.operatorToken });
  for (const viewer of viewers) viewer.send({ type: "subscribe" });
  const sse = await fetch(`${hub.url}/events/stream`, { headers: { authorization: `Bearer ${doomed.token}` } });
  const sseEnd = sse.text();
  const waiting = ask(hub.url, { path: "/events?after=99999999&waitMs=40000", token: doomed.token });

  await operator.token.revoke({ tokenId: doomed.tokenId });

  await eventually(() => expect(viewers.every((it) => it.closedAt > 0)).toBe(true));
  await Promise.all([sseEnd, waiting]);
  expect(new Set(viewers.map((it) => it.closeCode))).toEqual(new Set([4401]));
  expect(await ask(hub.url, { path: "/whoami", token: doomed.token }).then(verdict)).toBe("401 unauthenticated");
  expect(other.socket.readyState).toBe(other.socket.OPEN);
});

test("[SEC-7] two tokens of one name and role are one actor", async () => {
  const again = await tokenOf(hub.dataDir, "agent", "bot");
  const session = await ask(hub.url, {
    method: "POST",
    path: "/sessions",
    token: hub.agentToken,
    body: { kind: "terminal" },
  });

  expect(
    await ask(hub.url, { method: "POST", path: `/sessions/${session.body.sessionId}/close`, token: again }).then(
      verdict,
    ),
  ).toBe("200");
});

test("[SEC-9] a login link works once and gives a cookie that scripts and other sites can't use", async () => {
  const link = hub.loginLink();

  const first = await login(hub, link);
  const second = await login(hub, link);

  expect(new URL(link).search).toBe("");
  expect(verdict(first)).toBe("200");
  expect(String(first.headers["set-cookie"])).toMatch(
    new RegExp(
      `^sidestick_${hub.port}=sidestick_operator_[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000$`,
    ),
  );
  expect((await whoami(hub, loginOf(first))).body).toMatchObject({ role: "operator", kind: "person" });
  expect(verdict(second)).toBe("401 unauthenticated");
  expect(second.headers["set-cookie"]).toBeUndefined();
});

test("[SEC-9] ten minutes later a link is over", async () => {
  const link = hub.loginLink();
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10 * 60_000 + 1);
  onTestFinished(() => void vi.restoreAllMocks());

  const answer = await login(hub, link);

  expect(verdict(answer)).toBe("401 unauthenticated");
});

test("[SEC-9] behind https the cookie is Secure and __Host-", async () => {
  const hub = await startTestHub({ args: ["--public-url", "https://stick.example.com"] });
  const code = new URL(hub.loginLink()).hash.slice(6);

  const answer = await ask(`http://127.0.0.1:${hub.port}`, { method: "POST", path: "/login", body: { code } });

  expect(String(answer.headers["set-cookie"])).toMatch(
    /^__Host-sidestick=.*; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
  );
});

test("[SEC-9] logging out ends the cookie", async () => {
  const headers = loginOf(await login(hub));

  const out = await ask(hub.url, { method: "POST", path: "/logout", headers: { ...headers, origin: hub.url } });

  expect(verdict(out)).toBe("200");
  expect(await whoami(hub, headers).then(verdict)).toBe("401 unauthenticated");
});

test("[SEC-10] a ticket opens one WebSocket for its maker, once", async () => {
  const { body } = await ask(hub.url, { method: "POST", path: "/stream/tickets", token: hub.agentToken });
  const protocols = ["sidestick.v1", `sidestick.ticket.${body.ticket}`];

  const viewer = await TestViewer.open(hub.url, { protocols });
  viewer.send({ type: "subscribe", types: ["token"] });

  expect(viewer.socket.protocol).toBe("sidestick.v1");
  await eventually(() => expect(viewer.frames).toMatchObject([{ type: "error", code: "forbidden" }]));
  expect(await TestViewer.knock(hub.url, { protocols })).toBe(401);
  expect(await TestViewer.knock(hub.url, { protocols: ["sidestick.v1", "sidestick.ticket.guess"] })).toBe(401);
});

test("[SEC-10] a ticket ends with its maker's token and after 30 seconds", async () => {
  const operator = operatorClient(hub.dataDir);
  const made = await operator.token.create({ role: "viewer", name: "v" });
  const ticket = async (token: string) => {
    const { body } = await ask(hub.url, { method: "POST", path: "/stream/tickets", token });
    return { protocols: ["sidestick.v1", `sidestick.ticket.${body.ticket}`] };
  };
  const revoked = await ticket(made.token);
  await operator.token.revoke({ tokenId: made.tokenId });
  const late = await ticket(hub.operatorToken);

  expect(await TestViewer.knock(hub.url, revoked)).toBe(401);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 30_001);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await TestViewer.knock(hub.url, late)).toBe(401);
});

test("[SEC-13] a cookie counts only for what the hub's own page asks", async () => {
  const { cookie, "sidestick-csrf": key } = loginOf(await login(hub));
  const create = (headers: Record<string, string>) =>
    ask(hub.url, {
      method: "POST",
      path: "/sessions",
      body: { kind: "terminal" },
      headers: { cookie, ...headers },
    }).then(verdict);

  expect(await create({ origin: hub.url, "sidestick-csrf": key })).toBe("201");
  expect(await create({ origin: hub.url })).toBe("403 origin_refused");
  expect(await create({ "sidestick-csrf": key })).toBe("403 origin_refused");
  expect(await create({ origin: "http://127.0.0.1:9", "sidestick-csrf": key })).toBe("403 origin_refused");
  expect(await whoami(hub, { cookie, "sec-fetch-site": "same-site" }).then(verdict)).toBe("403 origin_refused");
  expect(await whoami(hub, { cookie, "sidestick-csrf": key, "sec-fetch-site": "same-origin" }).then(verdict)).toBe(
    "200",
  );
  expect(await whoami(hub, { authorization: `Bearer ${cookie.split("=")[1]}` }).then(verdict)).toBe(
    "401 unauthenticated",
  );
  expect(await whoami(hub, { cookie: `${cookie}; ${cookie}` }).then(verdict)).toBe("401 unauthenticated");
  expect(await whoami(hub, { cookie: `sidestick_${hub.port}=${hub.operatorToken}` }).then(verdict)).toBe(
    "401 unauthenticated",
  );
});

test("[SEC-14] the hub listens on loopback and nowhere else", async () => {
  const hex = hub.port.toString(16).toUpperCase().padStart(4, "0");
  const tables = await Promise.all(["tcp", "tcp6"].map((it) => readFile(`/proc/net/${it}`, "utf8").catch(() => "")));

  const listening = tables
    .join("\n")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((it) => it[3] === "0A" && it[1]?.endsWith(`:${hex}`));

  expect(listening.map((it) => it[1])).toEqual([`0100007F:${hex}`]);
});

test("[SEC-15] the operator's socket is private and serves its owner without a token", async () => {
  const { mode } = await stat(join(hub.dataDir, "hub.sock"));

  expect(mode & 0o777).toBe(0o600);
  expect(await operatorClient(hub.dataDir).hub.whoami({})).toMatchObject({ role: "operator", kind: "person" });
});

test.skipIf(process.getuid?.() !== 0)(
  "[SEC-15] another user is not served even where the file lets them in (needs perl and root)",
  async () => {
    const hub = await startTestHub();
    const path = join(hub.dataDir, "hub.sock");
    execFileSync("chmod", ["0777", path]);
    execFileSync("chmod", ["0755", hub.dataDir]);
    // Perl, because every Debian has it where every user may run it; our own Node may live below a private home.
    const script = `use IO::Socket::UNIX; $SIG{PIPE} = "IGNORE"; my $s = IO::Socket::UNIX->new(Peer => "${path}") or die "no connection"; print $s "GET /whoami HTTP/1.1\r\nHost: x\r\n\r\n"; print "got:", <$s>;`;
    const { stdout } = await promisify(execFile)("perl", ["-e", script], { uid: 65534, gid: 65534 });

    expect(stdout).toBe("got:");
  },
);

test("[SEC-16] every answer carries the safe headers and pages hold no inline script", async () => {
  for (const path of ["/", "/login", "/docs", "/healthz", "/sessions", "/nothing"]) {
    const { headers, text } = await ask(hub.url, { path });
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["content-security-policy"]).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(String(headers["content-security-policy"])).not.toContain("unsafe");
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|style="/i);
  }
});

test("[SEC-17] only operators see the hub's housekeeping", async () => {
  const hub = await startTestHub();
  const viewer = await tokenOf(hub.dataDir, "viewer", "v");
  const read = (token: string, path: string) => ask(hub.url, { path, token });

  expect(await read(viewer, "/events?types=token").then(verdict)).toBe("403 forbidden");
  expect(await read(hub.agentToken, "/events/stream?types=status,workspace").then(verdict)).toBe("403 forbidden");
  const seen = await read(hub.operatorToken, "/events?types=token");
  expect(seen.body.map((it: { payload: object }) => it.payload)).toMatchObject([
    { change: "created", role: "operator", name: "olga" },
    { change: "created", role: "agent", name: "bot" },
    { change: "created", role: "viewer", name: "v" },
  ]);
  expect((await read(hub.operatorToken, "/events")).body).toEqual([]);
});

test("[SEC-5] a revocation that did not reach the disk acts at once and can be repeated until it does", async () => {
  const store = await openSqliteStore(await temporaryDirectory(), { now: () => Date.now() });
  onTestFinished(() => store.close());
  let full = false;
  // The real store, with a disk that is full for a while.
  const credentials: CredentialStore = {
    all: () => store.credentials.all(),
    remove: (tokenIds) => store.credentials.remove(tokenIds),
    put: (credential) => (full ? Promise.reject(new StorageFailed("disk full")) : store.credentials.put(credential)),
  };
  const parts = {
    store: credentials,
    journal: new Journal(store.events),
    clock: { now: () => Date.now() },
    newId,
    newSecret,
    digest,
  };
  const desk = new CredentialDesk(parts);
  const ann = { kind: "person", id: "ann" } as const;
  const { token, secret } = await desk.create({ kind: "token", role: "agent", name: "bot" }, ann);

  full = true;
  await expect(desk.revoke(token.tokenId, ann)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(desk.recognise(secret)).toBeUndefined();
  full = false;
  await desk.revoke(token.tokenId, ann);

  const recorded = (await store.events.read({ types: ["token"], limit: 10 })).map((it) => it.payload.change);
  expect(recorded).toEqual(["created", "revoked"]);
  const restarted = new CredentialDesk(parts);
  await restarted.start();
  expect(restarted.recognise(secret)).toBeUndefined();
});

test("[SEC-10] one credential's answers and tickets are not another's, whatever the names and keys", async () => {
  const viewer = await tokenOf(hub.dataDir, "viewer", "olga");
  const headers = { "idempotency-key": "same" };
  const ticket = (token: string) => ask(hub.url, { method: "POST", path: "/stream/tickets", token, headers });

  const [first, second] = [await ticket(hub.operatorToken), await ticket(viewer)];

  expect(first.body.ticket).not.toBe(second.body.ticket);
  const watching = await TestViewer.open(hub.url, {
    protocols: ["sidestick.v1", `sidestick.ticket.${second.body.ticket}`],
  });
  watching.send({ type: "subscribe", types: ["token"] });
  await eventually(() => expect(watching.frames).toMatchObject([{ type: "error", code: "forbidden" }]));
});

test("[SEC-10] one holder can't take all tickets", async () => {
  const hub = await startTestHub();
  const ticket = (token: string) => ask(hub.url, { method: "POST", path: "/stream/tickets", token }).then(verdict);

  const taken = [];
  for (let i = 0; i < 110; i += 1) taken.push(await ticket(hub.agentToken));

  expect(taken.filter((it) => it === "429 limit_reached")).toHaveLength(10);
  expect(await ticket(hub.operatorToken)).toBe("201");
});

test("[SEC-5] revoking acts while the token's own sockets flood the hub", async () => {
  const dataDir = await temporaryDirectory();
  const hub = await spawnTestHub(dataDir);
  const operator = operatorClient(dataDir);
  const doomed = await operator.token.create({ role: "agent", name: "flood" });
  const flooding = await TestViewer.open(hub.url, { token: doomed.token });
  const pump = setInterval(() => {
    for (let i = 0; i < 500 && flooding.socket.readyState === flooding.socket.OPEN; i += 1)
      flooding.send({ type: "ping" });
  }, 5);
  onTestFinished(() => clearInterval(pump));
  await eventually(() => expect(flooding.frames.length).toBeGreaterThan(100));

  await operator.token.revoke({ tokenId: doomed.tokenId });

  await eventually(() => expect(flooding.closedAt).toBeGreaterThan(0));
  clearInterval(pump);
});
