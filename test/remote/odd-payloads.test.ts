/** What a host tells of its sessions may be anything: the hub keeps it, answers, and starts again with it. */
import { expect, onTestFinished, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { type Random, SEED, seeded } from "../crash/seeded.ts";
import { eventually } from "../support/eventually.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { enrolLight, LightHost } from "../support/light-host.ts";
import { seen } from "../support/remote-host.ts";
import { soakCount } from "../support/soak.ts";

const EVENTS = soakCount(20_000);

const TYPES = [
  "prompt log_line agent_block_begin agent_block_delta agent_block_end quiet redacted keyframe input",
  " resize control_handoff intent safe_point receipt approval_violated",
].flatMap((it) => it.split(" "));

const FIELDS = [
  "blockId seq cmd cwd cursor length exitCode signal canceled kind promptId program confidence marker text choices status",
  "nonce expiresAt epoch control_mode user_intent agent_status holder lease_seconds granted_seconds stop_epoch lease_expiry granted_by attended held",
  "requested_by handback_note reason interrupted_by bytes class number cols rows ranges from to killed survivors changed",
  "runId session by at event paths screen ansi offset size waitsFor claimedBy automatic change integration position",
].flatMap((it) => it.split(" "));

function oddValue(random: Random, depth = 0): unknown {
  const values = [
    null,
    -1,
    2 ** 53,
    1e300,
    0.5,
    random(50),
    true,
    "",
    "x".repeat(random(5_000)),
    "\u001B]0;owned\u0007\u001B[2J",
    "__proto__",
    "USER",
    "AGENT",
    "STOP_NOW",
    "WAIT",
    "RUNNING",
    "password",
    "shell",
    "line",
    "gone",
    crypto.randomUUID(),
    "2026-01-01T00:00:00.000Z",
    "+99999-01-01",
  ];
  const isDeep = depth < 3 && random(3) === 0;
  if (!isDeep) return values[random(values.length)];
  if (random(2) === 0) return Array.from({ length: random(4) }, () => oddValue(random, depth + 1));
  return oddPayload(random, depth + 1);
}

function oddPayload(random: Random, depth = 0): object {
  const count = depth === 0 ? random(FIELDS.length) : random(5);
  return Object.fromEntries(
    Array.from({ length: count }, () => [FIELDS[random(FIELDS.length)]!, oddValue(random, depth)]),
  );
}

/** What readers of the session are answered: their codes. */
async function answersOf(person: SidestickClient, sessionId: string): Promise<readonly string[]> {
  const asked = { conversation_id: "c" };
  const settled = await Promise.allSettled([
    person.session.get({ sessionId }),
    person.session.list(),
    person.snapshot.get(),
    person.control.get({ sessionId }),
    person.event.list({ sessionId, limit: 5000 }),
    person.prompt.list({}),
    person.approval.list({}),
    person.host.list(),
    person.pty.blocks(asked),
    person.pty.read_output({ ...asked, from_cursor: 0 }),
    person.pty.read_output({ ...asked, from_cursor: 0, view: "raw" }),
    person.pty.wait_for({ ...asked, match: "PROMPT", timeout_ms: 1, from_cursor: 0 }),
    person.pty.wait_for({ ...asked, match: "nothing", timeout_ms: 1, from_cursor: 0 }),
  ]);
  return settled.map((it) => (it.status === "fulfilled" ? "ok" : String((it.reason as { code?: string }).code)));
}

test(`[RML-23, RML-24] ${EVENTS} events with odd payloads stop neither a hub nor the next one (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const hub = await startTestHub();
  const { dataDir } = hub;
  const person = operatorClient(dataDir);
  const host = new LightHost(await enrolLight(hub.url, person, "odd"));
  onTestFinished(() => host.close());
  await host.connect();
  await seen(person, "odd", true);
  await person.workspace.put({ workspaceId: "odd", hostId: "odd", settings: { containment: "open" } });
  const { sessionId } = await person.session.create({ kind: "terminal", workspaceId: "odd", conversationId: "c" });
  await eventually(async () => expect((await person.session.get({ sessionId })).status).toBe("active"));
  await person.session.input({ sessionId, data: "begin" });
  const { id } = await person.hub.whoami({});
  const actors = [undefined, { kind: "person", id }, { kind: "agent", id: "bot" }, { kind: "system", id: "gate" }];
  const read = () => person.pty.read_output({ conversation_id: "c", from_cursor: 0, max_bytes: 65_536 });

  for (let sent = 0; sent < EVENTS; sent += 1) {
    const promptId = random(3) === 0 ? {} : { promptId: `${sessionId}.${random(9)}` };
    const payload = { ...oddPayload(random), ...promptId };
    const type = TYPES[random(TYPES.length)]!;
    // Of another session it would end the connection.
    if (type !== "prompt" || "promptId" in promptId) host.event(sessionId, type, payload, actors[random(4)]);
    if (sent % 100 === 0) await read();
  }
  host.output(sessionId, "the end");
  await eventually(async () => expect((await read()).data).toContain("the end"));

  expect((await person.host.get({ hostId: "odd" })).online).toBe(true);
  expect(new Set(await answersOf(person, sessionId))).toEqual(new Set(["ok"]));
  host.close();
  await hub.stop();
  await startTestHub({ dataDir });
  expect(new Set(await answersOf(operatorClient(dataDir), sessionId))).toEqual(new Set(["ok"]));
});
