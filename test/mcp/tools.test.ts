/** The MCP tools, met by the protocol's own client in both eras. Rules in docs/spec/mcp.md. */
import { fromJsonSchema, type JsonSchemaType, type Tool } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { ROLES } from "../../src/domain/actor.ts";
import { AppError } from "../../src/protocol/errors.ts";
import { operation, operationNames, toolName } from "../../src/protocol/operations.ts";
import { IDEMPOTENCY_META_KEY } from "../../src/server/mcp/server.ts";
import { type Call, DoorServer, ERAS } from "./door-server.ts";
import { WaitingCall } from "./waiting-call.ts";

const [MODERN, LEGACY] = ERAS;
const SESSION_ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const session = {
  sessionId: SESSION_ID,
  kind: "terminal",
  status: "active",
  createdAt: "2026-08-01T10:00:00.000Z",
  updatedAt: "2026-08-01T10:00:00.000Z",
  workspaceId: "default",
  hostId: "local",
  controllerId: null,
  interactive: false,
  containment: "guard",
  title: "build",
};

const nothing: Call = async () => ({});

describe.each(ERAS)("a client of $era", (era) => {
  test.each(ROLES)("[MCP-1, MCP-2] sees the tools of its role: %s", async (role) => {
    await using server = await DoorServer.start(nothing);
    const client = await server.connect(era, role);

    const { tools } = await client.listTools();

    const allowed = operationNames.map(operation).filter((it) => it.tool && it.roles.includes(role));
    expect(tools.map(({ name, description }) => ({ name, description }))).toEqual(
      allowed.map((it) => ({ name: toolName(it.name as "hub.whoami"), description: it.summary })),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(era.era);
  });

  test.each(["session_create", "session_vanish", "constructor"])("[MCP-3] a viewer meets no tool %s", async (name) => {
    await using server = await DoorServer.start(nothing);
    const client = await server.connect(era, "viewer");

    await expect(client.callTool({ name, arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`No such tool: ${name}`),
    });
  });

  test("[MCP-4] hints follow from the effect", async () => {
    await using server = await DoorServer.start(nothing);
    const client = await server.connect(era, "agent");

    const { tools } = await client.listTools();

    const hints = (readOnlyHint: boolean, destructiveHint: boolean) => ({
      readOnlyHint,
      destructiveHint,
      idempotentHint: readOnlyHint,
      openWorldHint: !readOnlyHint,
    });
    expect(toolOf(tools, "session_list").annotations).toEqual(hints(true, false));
    expect(toolOf(tools, "session_create").annotations).toEqual(hints(false, false));
    expect(toolOf(tools, "session_close").annotations).toEqual(hints(false, true));
  });

  test("[MCP-6] a viewer is not told of tools that it does not have", async () => {
    await using server = await DoorServer.start(nothing);
    const agent = await server.connect(era, "agent");
    const viewer = await server.connect(era, "viewer");

    expect(agent.getInstructions()).toMatch(/session_input.*event_list.*approval_request/s);
    expect(viewer.getInstructions()).toContain("event_list");
    expect(viewer.getInstructions()).not.toMatch(/session_input|approval_request/);
  });

  test("[MCP-6] an agent is told that an expired approval is neither yes nor no", async () => {
    await using server = await DoorServer.start(nothing);
    const agent = await server.connect(era, "agent");

    expect(agent.getInstructions()).toContain("`expired` is neither: nobody decided, and you may do nothing on it");
  });

  test("[MCP-7] the input schema is closed and says what is required", async () => {
    await using server = await DoorServer.start(nothing);
    const client = await server.connect(era, "agent");

    const { tools } = await client.listTools();

    expect(toolOf(tools, "session_get").inputSchema).toEqual({
      type: "object",
      properties: { sessionId: { type: "string", minLength: 1, maxLength: 128 } },
      required: ["sessionId"],
      additionalProperties: false,
    });
  });

  test.each([
    { arguments: { sessionId: SESSION_ID, force: true }, errors: [{ path: "", message: "unknown: force" }] },
    {
      arguments: { sessionId: 7 },
      errors: [{ path: "sessionId", message: "must be text" }],
    },
    {
      arguments: undefined,
      errors: [{ path: "sessionId", message: "is missing" }],
    },
  ])("[MCP-7] wrong arguments are refused before the call: $arguments", async ({ arguments: given, errors }) => {
    const calls: unknown[] = [];
    await using server = await DoorServer.start(async (...call) => calls.push(call));
    const client = await server.connect(era, "agent");

    const result = await client.callTool({ name: "session_close", ...(given && { arguments: given }) });

    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: "invalid_request", status: 400, errors },
    });
    expect(calls).toEqual([]);
  });

  test("[MCP-8] an object is answered as it is, as structured content and as text", async () => {
    await using server = await DoorServer.start(async () => session);
    const client = await server.connect(era, "agent");
    const { tools } = await client.listTools();

    const result = await client.callTool({ name: "session_get", arguments: { sessionId: SESSION_ID } });

    expect(result.structuredContent).toEqual(session);
    expect(result.content).toEqual([
      { type: "text", text: "session_get: done." },
      { type: "text", text: JSON.stringify(session) },
    ]);
    expect(issuesOf(toolOf(tools, "session_get"), session)).toEqual([]);
    expect(issuesOf(toolOf(tools, "session_get"), { ...session, status: "odd" })).not.toEqual([]);
  });

  test("[MCP-8] a list is answered as items", async () => {
    await using server = await DoorServer.start(async () => [session]);
    const client = await server.connect(era, "agent");
    const { tools } = await client.listTools();

    const result = await client.callTool({ name: "session_list" });

    expect(result.structuredContent).toEqual({ items: [session] });
    expect(result.content[0]).toEqual({ type: "text", text: "session_list: 1 item." });
    expect(issuesOf(toolOf(tools, "session_list"), { items: [session] })).toEqual([]);
    expect(issuesOf(toolOf(tools, "session_list"), { items: [{}] })).not.toEqual([]);
  });

  test("[MCP-9] a field that the schema does not know passes", async () => {
    await using server = await DoorServer.start(async () => [{ ...session, colour: "red" }]);
    const client = await server.connect(era, "agent");
    await client.listTools();

    const result = await client.callTool({ name: "session_list" });

    expect(result.structuredContent).toEqual({ items: [{ ...session, colour: "red" }] });
  });

  test("[MCP-10] a failure is a problem detail, advice, and allowed by the output schema", async () => {
    await using server = await DoorServer.start(async () => {
      throw new AppError("cursor_expired", { oldest: 41 });
    });
    const client = await server.connect(era, "agent");
    const { tools } = await client.listTools();

    const result = await client.callTool({ name: "event_list", arguments: { after: 3 } });

    const problem = {
      type: "urn:sidestick:error:cursor_expired",
      title: "That part is no longer kept",
      status: 410,
      code: "cursor_expired",
      detail: "That part is no longer kept",
      oldest: 41,
    };
    expect(result).toMatchObject({ isError: true, structuredContent: problem });
    expect(result.content[0]).toEqual({
      type: "text",
      text:
        "cursor_expired: That part is no longer kept. " +
        "Continue from the oldest place that is still kept, which this failure names.",
    });
    expect(JSON.parse((result.content[1] as { text: string }).text)).toEqual(problem);
    expect(issuesOf(toolOf(tools, "event_list"), problem)).toEqual([]);
  });

  test("[MCP-11] a bug shows its id and nothing else", async () => {
    const bug = new Error("secret of the house");
    await using server = await DoorServer.start(async () => {
      throw bug;
    });
    const client = await server.connect(era, "agent");

    const result = await client.callTool({ name: "hub_whoami" });

    expect(server.faults).toEqual([{ id: expect.any(String), error: bug }]);
    expect(result.structuredContent).toEqual({
      type: "urn:sidestick:error:internal",
      title: "A fault of ours",
      status: 500,
      code: "internal",
      detail: "A fault of ours",
      id: server.faults[0]?.id,
    });
    expect(JSON.stringify(result)).not.toMatch(/secret|\.ts/);
  });

  test("[MCP-12] the idempotency key of _meta reaches the call", async () => {
    const keys: unknown[] = [];
    await using server = await DoorServer.start(async (_name, _input, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return session;
    });
    const client = await server.connect(era, "agent");
    const call = { name: "session_create", arguments: { kind: "terminal" } };

    await client.callTool({ ...call, _meta: { [IDEMPOTENCY_META_KEY]: "k1" } });
    await client.callTool(call);
    const odd = await client.callTool({ ...call, _meta: { [IDEMPOTENCY_META_KEY]: 7 } });

    expect(keys).toEqual(["k1", undefined]);
    expect(odd.structuredContent).toMatchObject({ code: "invalid_request" });
  });

  test("[MCP-13] the call is made as the credential's actor, on the arguments as given", async () => {
    const calls: unknown[] = [];
    await using server = await DoorServer.start(async (name, input, { caller }) => {
      calls.push({ name, input, actor: caller.actor, role: caller.role, tokenId: caller.tokenId });
      return [];
    });
    const client = await server.connect(era, "agent");

    await client.callTool({ name: "event_list", arguments: { waitMs: 5 }, _meta: { "x/actor": "operator-1" } });

    expect(calls).toEqual([
      {
        name: "event.list",
        input: { waitMs: 5 },
        actor: { kind: "agent", id: "agent-1" },
        role: "agent",
        tokenId: "token-of-agent",
      },
    ]);
  });

  test("[MCP-14] a cancelled call is told", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);
    const client = await server.connect(era, "agent");
    const user = new AbortController();

    const result = client.callTool({ name: "event_list" }, { signal: user.signal });
    const refused = expect(result).rejects.toThrow();
    await waiting.begun;
    user.abort();

    await refused;
    await waiting.aborted;
    expect(server.faults).toEqual([]);
  });

  test("[MCP-14] a call is told when its client is gone", async () => {
    const waiting = new WaitingCall();
    await using server = await DoorServer.start(waiting.call);
    const client = await server.connect(era, "agent");

    const refused = expect(client.callTool({ name: "event_list" })).rejects.toThrow();
    await waiting.begun;
    await client.close();

    await refused;
    await waiting.aborted;
  });

  test("[MCP-17] nothing but tools is offered", async () => {
    await using server = await DoorServer.start(nothing);
    const client = await server.connect(era, "operator");

    expect(client.getServerCapabilities()).toEqual({ tools: {} });
  });
});

test("[MCP-2] both eras are told the same", async () => {
  await using server = await DoorServer.start(async () => session);
  const modern = await server.connect(MODERN, "agent");
  const legacy = await server.connect(LEGACY, "agent");
  const call = { name: "session_get", arguments: { sessionId: SESSION_ID } };

  expect((await modern.listTools()).tools).toEqual((await legacy.listTools()).tools);
  expect(modern.getInstructions()).toEqual(legacy.getInstructions());
  expect((await modern.callTool(call)).content).toEqual((await legacy.callTool(call)).content);
});

function toolOf(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((it) => it.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

function issuesOf(tool: Tool, value: unknown): readonly unknown[] {
  const schema = fromJsonSchema(tool.outputSchema as JsonSchemaType);
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) throw new TypeError("JSON Schema is checked at once");
  return result.issues ?? [];
}
