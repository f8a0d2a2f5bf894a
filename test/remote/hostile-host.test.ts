/** A host that lies: the hub believes it only what is its own to say. */
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { operation, operationNames } from "../../src/protocol/operations.ts";
import { eventually } from "../support/eventually.ts";
import { pingedUnread } from "../support/flood.ts";
import { ask, verdict } from "../support/http.ts";
import { openTestHub, operatorClient, type TestHub } from "../support/hub.ts";
import { enrolLight, LightHost } from "../support/light-host.ts";
import { seen } from "../support/remote-host.ts";

let hub: TestHub;
let person: SidestickClient;
let hosts = 0;
beforeAll(async () => {
  hub = await openTestHub();
  person = operatorClient(hub.dataDir);
  return hub.stop;
});

/** A host that nobody else speaks for; its workspace has its name. */
async function come(): Promise<{ readonly name: string; readonly host: LightHost }> {
  hosts += 1;
  const name = `host-${hosts}`;
  const host = new LightHost(await enrolLight(hub.url, person, name));
  onTestFinished(() => host.close());
  await host.connect();
  await seen(person, name, true);
  await person.workspace.put({ workspaceId: name, hostId: name, settings: { containment: "open" } });
  return { name, host };
}

async function begun(workspaceId: string): Promise<string> {
  const { sessionId } = await person.session.create({ kind: "terminal", workspaceId });
  await eventually(async () => expect((await person.session.get({ sessionId })).status).toBe("active"));
  return sessionId;
}

const eventsOf = (sessionId: string) => person.event.list({ sessionId, limit: 1000 });

test("[RML-20] a host can't speak of another host's session, nor of one that it was not asked for", async () => {
  const { name: liar, host } = await come();
  const honest = await come();
  const theirs = await begun(honest.name);
  const before = await eventsOf(theirs);

  for (const sessionId of [theirs, crypto.randomUUID()]) {
    host.output(sessionId, "forged");
    await host.closed();
    await host.connect();
    await seen(person, liar, true);
  }

  expect(await eventsOf(theirs)).toEqual(before);
});

test.each(["approval_decision", "approval_consumed", "status", "stdout", "token", "workspace", "host", "chat", "plan"])(
  "[RML-20] an event of type %s is not a host's to write",
  async (type) => {
    const { name: liar, host } = await come();
    const sessionId = await begun(liar);

    host.event(sessionId, type, { status: "approved" });
    await host.closed();

    expect((await eventsOf(sessionId)).map((it) => it.type)).not.toContain(type === "status" ? "none" : type);
    expect((await person.session.get({ sessionId })).status).toBe("active");
  },
);

test.each(["prompt", "prompt_decision"])(
  "[RML-20] a %s of another host's session is not a host's to tell",
  async (type) => {
    const { name: liar, host } = await come();
    const honest = await come();
    const [own, theirs] = [await begun(liar), await begun(honest.name)];
    honest.host.event(theirs, "prompt", { promptId: `${theirs}.1`, kind: "line", program: "x" });
    await eventually(async () => expect((await eventsOf(theirs)).map((it) => it.type)).toContain("prompt"));

    host.event(
      own,
      type,
      type === "prompt" ? { promptId: `${theirs}.2`, kind: "line" } : { promptId: `${theirs}.1`, status: "gone" },
    );
    await host.closed();

    expect((await eventsOf(own)).map((it) => it.type)).not.toContain(type);
  },
);

test("[RML-24] what can't be read as an event of its type is a line that says so, and who reads it later is answered", async () => {
  const { name: liar, host } = await come();
  await person.session.create({ kind: "terminal", workspaceId: liar, conversationId: "c" });
  const [{ sessionId } = expect.fail("no session")] = await person.session.list({ conversationId: "c" });
  await eventually(async () => expect((await person.session.get({ sessionId })).status).toBe("active"));
  const read = () => person.pty.read_output({ conversation_id: "c", from_cursor: 0 });
  await read();

  host.event(sessionId, "redacted", { ranges: 5 });
  host.event(sessionId, "receipt", { requested_by: "eve" });
  host.event(sessionId, "keyframe", { cursor: 0, cols: 1e9, rows: 1, data: "" });
  host.output(sessionId, "after");

  await eventually(async () => expect((await read()).data).toBe("after"));
  const lines = (await eventsOf(sessionId)).filter((it) => it.type === "log_line").map((it) => it.payload);
  expect(lines).toEqual(["redacted", "receipt", "keyframe"].map((type) => ({ event: "malformed_event", type })));
  expect((await read()).redacted).toEqual([]);
});

test.each([
  ["approval_pending", 500, "internal"],
  ["unauthenticated", 500, "internal"],
  ["secret_for_person", 500, "internal"],
  ["busy", 409, "busy"],
])("[RML-24] a host that refuses with %s is answered for with %i %s", async (code, status, answered) => {
  const { name: liar, host } = await come();
  host.onMessage = (message, _body, it) => {
    if (message.type === "START_INTERACTIVE_CMD") return it.reply(message.id);
    if ("id" in message) it.say({ type: "REPLY", id: message.id, ok: false, code, fields: { requestId: "x" } });
  };

  const refusal = await person.session
    .input({ sessionId: await begun(liar), data: "x" })
    .catch((error: unknown) => error);

  expect(refusal).toMatchObject({ code: answered, status });
});

test("[RML-24] what a host says of itself can't drive the terminal of whoever lists it", async () => {
  const { name: liar, host } = await come();
  host.close();
  await seen(person, liar, false);

  host.facts = { os: "Linux\u001B]0;owned\u0007", arch: "x64", shells: ["/bin/sh"], version: "0" };
  await host.connect();
  await host.closed();

  expect((await person.host.get({ hostId: liar })).online).toBe(false);
  const enrolled = enrolLight(host.membership.url, person, "second", host.facts);
  await expect(enrolled).rejects.toThrow(/invalid_request/);
});

test("[RML-7] two that come with one key have one link: the later one's", async () => {
  const { name: liar, host } = await come();
  const thief = new LightHost(host.membership);
  onTestFinished(() => thief.close());

  await thief.connect();
  await host.closed();
  const sessionId = await eventually(() => begun(liar));

  expect([host.sessions.has(sessionId), thief.sessions.has(sessionId)]).toEqual([false, true]);
});

test("[RML-23] a message without end, and one that is too large, cost the hub no memory and others nothing", async () => {
  const { host } = await come();
  const honest = await come();
  const before = process.memoryUsage().rss;
  const head = Buffer.alloc(4);

  head.writeUInt32BE(60 * 1024 * 1024);
  host.raw(head);
  for (let sent = 0; sent < 59; sent += 1) host.raw(Buffer.alloc(1024 * 1024));
  const sessionId = await begun(honest.name);
  honest.host.output(sessionId, "hello");
  head.writeUInt32BE(2 ** 32 - 1);
  host.raw(Buffer.concat([Buffer.alloc(1024 * 1024), head]));
  await host.closed();

  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  expect(honest.host.isOpen).toBe(true);
});

test("[RML-23] a host that pings and doesn't read has its answers kept only up to a limit", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);
  const shown = async () => (await eventsOf(sessionId)).filter((it) => it.type === "quiet").length;

  const answered = await pingedUnread(host.socket("data")!, async () => {
    host.event(sessionId, "quiet", { ms: 1 });
    await eventually(async () => expect(await shown()).toBe(1));
  });

  expect(answered).toBeLessThan(0.9);
  expect(host.isOpen).toBe(true);
});

test("[RML-22] a host that has acknowledged more each time it is asked is not asked for ever", async () => {
  const { name: liar, host } = await come();
  await begun(liar);
  host.close();
  await seen(person, liar, false);
  let asked = 0;
  host.onMessage = (message, _body, it) => {
    if (message.type !== "ADOPT") return;
    asked += 1;
    it.reply(message.id, { acknowledged: message.order + 1, order: message.order + 1, inputs: 0 });
  };

  await host.connect();
  await host.closed();

  expect(asked).toBe(2);
});

test("[HST-13] a host that lives and doesn't say that a session has ended holds nobody who closes it", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);
  const asked = Promise.withResolvers<void>();
  host.onMessage = ({ type }) => void (type === "TERMINATE_CMD" && asked.resolve());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());

  let answered: unknown;
  const closing = person.session.close({ sessionId }).catch((error: unknown) => (answered = error));
  await asked.promise;
  vi.advanceTimersByTime(7_999);
  // Answered after whatever the hub was asked before.
  await person.session.get({ sessionId });
  const early = answered;
  vi.advanceTimersByTime(1);
  await closing;

  // Told by the hub: a caller's own patience ends otherwise.
  const message = "The host did not say in time that it has ended it.";
  expect([early, answered]).toMatchObject([undefined, { code: "unknown_outcome", message }]);
  expect(host.isOpen).toBe(true);
});

test("[RML-20] places that don't follow one another end the connection", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);

  host.output(sessionId, "hello");
  host.say(
    { type: "INTERACTIVE_OUTPUT", session_id: sessionId, order: host.order(sessionId), cursor: 99 },
    Buffer.from("x"),
  );
  await host.closed();

  expect((await person.session.get({ sessionId })).status).toBe("active");
});

test("[RML-22] frames on the connection that is never held up end it, and nothing of them is taken", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);
  const place = { session_id: sessionId, order: host.order(sessionId), cursor: 0 };
  const before = await eventsOf(sessionId);

  host.say({ type: "INTERACTIVE_OUTPUT", ...place }, Buffer.from("past the limit"), "control");
  await host.closed();

  expect(await eventsOf(sessionId)).toEqual(before);
});

test("[RML-21] a host's word on who acted counts only for those for whom the hub asked", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);
  await person.session.input({ sessionId, data: "x" });
  const { id } = await person.hub.whoami({});

  host.event(sessionId, "resize", { cols: 10, rows: 10 }, { kind: "person", id });
  host.event(sessionId, "resize", { cols: 20, rows: 20 }, { kind: "person", id: "eve" });

  const resizes = await eventually(async () => {
    const found = (await eventsOf(sessionId)).filter((it) => it.type === "resize");
    expect(found).toHaveLength(2);
    return found;
  });
  expect(resizes.map((it) => [it.source, it.payload["claimedBy"]])).toEqual([
    [{ kind: "person", id }, undefined],
    [
      { kind: "host", id: host.membership.hostId },
      { kind: "person", id: "eve" },
    ],
  ]);
});

test("[RML-5] a host's token is refused by every operation, and opens no other door", async () => {
  const { host } = await come();
  const { token } = host.membership;

  const calls = operationNames.map(async (name) => {
    const { method, path } = operation(name);
    const at = path.replaceAll(/\{\w+\}/g, "default");
    const answer = await ask(hub.url, { method, path: at, token, ...(method === "GET" ? {} : { body: {} }) });
    return [name, verdict(answer)];
  });
  const stream = await ask(hub.url, {
    path: "/mcp",
    method: "POST",
    token,
    body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
  });

  expect(await Promise.all(calls)).toEqual(operationNames.map((name) => [name, "403 forbidden"]));
  expect(verdict(stream)).not.toMatch(/^500/);
});

test("[RML-5] a token of another role, or of no enrolled host, opens no link", async () => {
  const stray = await person.token.create({ role: "host", name: "stray" });

  for (const token of [hub.operatorToken, hub.agentToken, stray.token, "nonsense"]) {
    const host = new LightHost({ url: hub.url, hostId: "x", token });
    await expect(host.connect()).rejects.toThrow(/40[13]/);
  }
});

test("[RML-6, RML-14] a removed host's link ends at once, and its sessions are closed", async () => {
  const { name: liar, host } = await come();
  const sessionId = await begun(liar);

  const names = async () => (await person.host.list()).map((it) => it.name);
  const before = await names();
  const closed = host.closed();
  await person.host.remove({ hostId: liar });
  await closed;

  await eventually(async () =>
    expect(await person.session.get({ sessionId })).toMatchObject({ status: "closed", reason: "host_removed" }),
  );
  await expect(host.connect()).rejects.toThrow(/401/);
  expect(await names()).toEqual(before.filter((it) => it !== liar));
});
