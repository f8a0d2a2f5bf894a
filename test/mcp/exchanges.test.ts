/** What the MCP door does with exchanges that end early, and with messages that no honest client sends. */
import { describe, expect, test } from "vitest";
import { type Call, DoorServer } from "./door-server.ts";
import { ENVELOPE, legacyCall, MODERN_VERSION, modernCall, modernHeaders } from "./messages.ts";
import { WaitingCall } from "./waiting-call.ts";

const nothing: Call = async () => ({});

describe("revocation", () => {
  test("[MCP-16] ends a waiting exchange of a 2026-07-28 client with 401 and tells the call", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);

    const response = server.post("agent", modernCall("event_list"), modernHeaders("event_list"));
    await waiting.begun;
    server.revoke("agent");

    expect((await response).status).toBe(401);
    expect(await (await response).json()).toMatchObject({ code: "unauthenticated" });
    await waiting.aborted;
  });

  test("[MCP-16] ends the open stream of a 2025 client and tells the call", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start((name, ...rest) =>
      name === "event.list" ? waiting.call(name, ...rest) : nothing(name, ...rest),
    );

    // Two in one: the first answer opens the stream that the second then holds open.
    const response = await server.post("agent", [legacyCall(1, "hub_whoami"), legacyCall(2, "event_list")]);
    await waiting.begun;
    server.revoke("agent");

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect((await response.text()).match(/"id":./g)).toEqual(['"id":1']);
    await waiting.aborted;
  });

  test("[MCP-16] leaves other credentials alone", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);

    const response = server.post("viewer", legacyCall(1, "event_list"));
    await waiting.begun;
    server.revoke("agent");
    waiting.finish([]);

    expect(await (await response).text()).toContain('"structuredContent":{"items":[]}');
  });

  test("[MCP-16] a revoked credential opens nothing new", async () => {
    await using server = await DoorServer.start(nothing);
    server.revoke("agent");

    const modern = await server.post("agent", modernCall("hub_whoami"), modernHeaders("hub_whoami"));
    const legacy = await server.post("agent", legacyCall(1, "hub_whoami"));

    expect([modern.status, legacy.status]).toEqual([401, 401]);
  });
});

describe("cancellation by a POST", () => {
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  const client = (id: string) => ({ "mcp-session-id": id });

  test("[MCP-14] ends the stream of the request", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);

    const response = server.post("agent", legacyCall(1, "event_list"), client("a"));
    await waiting.begun;
    const cancelled = await server.post("agent", cancel, client("a"));

    expect(cancelled.status).toBe(202);
    expect(await (await response).text()).toBe("");
    await waiting.aborted;
  });

  test.each([
    { whose: "another client", role: "agent", headers: client("b") },
    { whose: "another credential with the same session id", role: "viewer", headers: client("a") },
    { whose: "a client without a session id", role: "agent", headers: {} },
  ] as const)("[MCP-15] $whose cancels nothing", async ({ role, headers }) => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);

    const response = server.post("agent", legacyCall(1, "event_list"), client("a"));
    await waiting.begun;
    const cancelled = await server.post(role, cancel, headers);
    waiting.finish([]);

    expect(cancelled.status).toBe(202);
    expect(await (await response).text()).toContain('"structuredContent":{"items":[]}');
  });
});

describe("the wire", () => {
  test("[MCP-5] the list of tools may be kept, but only by its client", async () => {
    await using server = await DoorServer.start(nothing);

    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: ENVELOPE } };
    const response = await server.post("agent", body, { ...MODERN_VERSION, "mcp-method": "tools/list" });

    expect(await response.json()).toMatchObject({ result: { ttlMs: 300_000, cacheScope: "private" } });
  });

  test("[MCP-17] a request state is refused", async () => {
    await using server = await DoorServer.start(nothing);

    const call = modernCall("hub_whoami");
    const body = { ...call, params: { ...call.params, requestState: "made-up" } };
    const response = await server.post("agent", body, modernHeaders("hub_whoami"));

    expect(await response.json()).toMatchObject({
      error: { code: -32602, message: "Invalid or expired requestState" },
    });
  });

  test.each(["prompts/list", "resources/list", "logging/setLevel", "completion/complete"])(
    "[MCP-17] %s is no method here",
    async (method) => {
      await using server = await DoorServer.start(nothing);

      const response = await server.post("agent", { jsonrpc: "2.0", id: 1, method, params: {} });

      expect(await response.text()).toContain('"code":-32601');
    },
  );

  test.each([
    { header: "mcp-name", value: "session_list" },
    { header: "mcp-method", value: "tools/list" },
  ])("[MCP-18] a $header that contradicts the body is refused", async ({ header, value }) => {
    const calls: unknown[] = [];
    await using server = await DoorServer.start(async (...call) => calls.push(call));

    const response = await server.post("agent", modernCall("hub_whoami"), {
      ...modernHeaders("hub_whoami"),
      [header]: value,
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
    expect(calls).toEqual([]);
  });

  test.each(["GET", "DELETE"])("[MCP-17] %s offers no stream", async (method) => {
    await using server = await DoorServer.start(nothing);

    const response = await fetch(server.url, { method });

    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
