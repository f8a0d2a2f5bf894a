/** A hub that lies: whatever it sends, the host's own policy stands between it and the device. */
import { parse } from "unbash";
import { expect, test } from "vitest";
import { HostPolicy } from "../../src/host/host-policy.ts";
import type { HostedSession, SessionRequest, StartMessage } from "../../src/host/hosted-session.ts";
import { policed } from "../../src/host/policed-session.ts";
import type { JsonObject } from "../../src/domain/event.ts";
import { HostPolicyFile } from "../../src/protocol/host-policy.ts";
import { HubMessage } from "../../src/protocol/link.ts";

const session_id = crypto.randomUUID();
const IDLE = { mode: "idle", shell: "/bin/bash", integration: "marks", cwd: "/", cols: 80, rows: 24 };
const START: StartMessage = {
  type: "START_INTERACTIVE_CMD",
  id: 1,
  session_id,
  cols: 80,
  rows: 24,
  for_agent: true,
  cwd: "/usr",
};

/** What reaches a session of that status, and what the hub is told of the rest. */
async function tried(file: object, status: JsonObject = IDLE) {
  const policy = new HostPolicy(HostPolicyFile.parse(file), parse);
  const reached: SessionRequest[] = [];
  const device: HostedSession = {
    sessionId: session_id,
    pause: () => undefined,
    resume: () => undefined,
    handle: async (request) => {
      if (request.type !== "STATUS") reached.push(request);
      return { fields: request.type === "STATUS" ? status : {} };
    },
  };
  const session = await policed(async () => device, { current: () => policy, shells: ["/bin/bash"] })(
    START,
    () => undefined,
  );
  const ask = async (type: string, fields: object = {}, body = ""): Promise<string> => {
    const request = HubMessage.parse({ type, id: 1, session_id, ...fields }) as SessionRequest;
    return session.handle(request, Buffer.from(body)).then(
      () => "ok",
      (error: unknown) => (error as { code: string }).code,
    );
  };
  return { ask, reached };
}

const by = { kind: "person", id: "eve" };
const gated = { by, number: 1 };
const bound = { digest: "d", programs: [], scripts: [] };
const block_id = crypto.randomUUID();

/** Every request but those that begin and adopt a session, with what of it could run or type. */
const REQUESTS: Readonly<Record<string, readonly (readonly [object, string?])[]>> = {
  SEND_INPUT: [
    [{ ...gated, class: "drive" }, "rm x\r"],
    [{ ...gated, class: "assist", if_prompt: "p" }, "rm x\r"],
    [{ ...gated, class: "drive", secret: true }, "rm x\r"],
    [{ ...gated, class: "drive", keys: ["c-c", "up", "Enter"] }, ""],
    [{ ...gated, class: "drive" }, "\u001B[A\r"],
    [{ ...gated, class: "drive" }, "!!\r"],
    [{ ...gated, class: "drive" }, "r\\\r"],
  ],
  RUN_BLOCK: [
    [{ ...gated, block_id }, "rm x"],
    [{ ...gated, block_id, bound }, "rm x"],
    [{ ...gated, block_id, run_id: block_id }, "rm x"],
  ],
  RUN_COMMAND: [
    [{ ...gated, block_id, lifetime_ms: 1 }, "rm x"],
    [{ ...gated, block_id, lifetime_ms: 1, bound }, "rm x"],
  ],
};
/** They run nothing of a hub's choice, and type nothing. */
const HARMLESS = {
  PREPARE: { ...gated, programs: [], scripts: [] },
  END_RUN: gated,
  CONTROL: { command: { type: "take", by } },
  RESPAWN: gated,
  RESIZE: { by, cols: 1, rows: 1 },
  READ_SCREEN: {},
  SNAPSHOT: {},
  CHANGES: {},
  TERMINATE_CMD: {},
} as const;
const OF_THE_HOST = ["HELLO", "PING", "ACK", "START_INTERACTIVE_CMD", "ADOPT", "STATUS", "SHUTDOWN"];

test("[RML-30] every message of a hub is one that the policy judges, or runs nothing", () => {
  const types = HubMessage.options.map((it) => it.shape.type.value);

  expect(types.toSorted()).toEqual([...Object.keys(REQUESTS), ...Object.keys(HARMLESS), ...OF_THE_HOST].toSorted());
});

test.each(Object.keys(REQUESTS))("[RML-30, RML-31, RML-33] nothing that is denied passes by %s", async (type) => {
  const { ask, reached } = await tried({ deny: ["rm"] });

  const codes = [];
  for (const [fields, body] of REQUESTS[type]!) codes.push(await ask(type, fields, body));

  expect(codes).toEqual(codes.map(() => "policy_denied"));
  expect(reached).toEqual([]);
});

test("[RML-30] the rest passes", async () => {
  const { ask, reached } = await tried({ default: "deny" });

  for (const [type, fields] of Object.entries(HARMLESS)) expect([type, await ask(type, fields)]).toEqual([type, "ok"]);
  expect(reached.map((it) => it.type)).toEqual(Object.keys(HARMLESS));
});

test("[RML-33] an answer goes to the question for which it was judged, and to no later one", async () => {
  const waits = { prompt_id: `${session_id}.4`, for: "line" };
  const foreground = { programs: ["head"], at_empty_prompt: true, waits };
  const { ask, reached } = await tried({ deny: ["rm"] }, { ...IDLE, mode: "block_running", foreground });
  const answer = (fields: object) => ask("SEND_INPUT", { ...gated, class: "drive", ...fields }, "rm x\r");

  const codes = [await answer({}), await answer({ if_prompt: `${session_id}.9` })];

  expect(codes).toEqual(["ok", "prompt_gone"]);
  expect(reached).toMatchObject([{ if_prompt: waits.prompt_id, not_at_shell: true }]);
});

test("[RML-32] where commands begin is limited, also for a block's own directory and for what is typed", async () => {
  const file = { cwd_roots: ["/usr"], deny: ["rm"] };
  const inside = await tried(file, { ...IDLE, cwd: "/usr/share" });
  const outside = await tried(file, { ...IDLE, cwd: "/etc" });
  const codes = async ({ ask }: typeof inside) => [
    await ask("RUN_BLOCK", { ...gated, block_id }, "ls"),
    await ask("RUN_BLOCK", { ...gated, block_id, cwd: "../../etc" }, "ls"),
    await ask("RUN_BLOCK", { ...gated, block_id, cwd: "/usr/lib" }, "ls"),
    await ask("RUN_COMMAND", { ...gated, block_id, lifetime_ms: 1 }, "ls"),
    await ask("SEND_INPUT", { ...gated, class: "drive" }, "ls\r"),
  ];

  expect(await codes(inside)).toEqual(["ok", "policy_denied", "ok", "ok", "ok"]);
  expect(await codes(outside)).toEqual(["policy_denied", "policy_denied", "ok", "policy_denied", "policy_denied"]);
});
