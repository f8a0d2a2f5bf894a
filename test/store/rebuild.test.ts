import { expect, test } from "vitest";
import { createLogger } from "../../src/lib/logger.ts";
import { type OpenDesks, openDesks } from "../../src/main/desks.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const DAY = 86_400_000;
const ann = { kind: "person", id: "ann" } as const;
const bot = { kind: "agent", id: "bot" } as const;
const session = { kind: "terminal", workspaceId: "default", interactive: false } as const;
const question = { kind: "tool", payload: { text: "x".repeat(10_000) }, timeoutMs: DAY } as const;

function open(dataDir: string, auditMaxBytes: number): Promise<OpenDesks> {
  return openDesks({
    dataDir,
    openDrivers: async () => [new MemoryDriver("terminal")],
    logger: createLogger("error", () => undefined),
    clock: { now: Date.now },
    limits: {
      activityMaxAgeMs: DAY,
      activityMaxBytes: 0,
      auditMaxAgeMs: DAY,
      auditMaxBytes,
      outputMaxBytes: 1e9,
    },
  });
}

/** Its sessions and approvals, as a person sees them. */
function seen({ sessions, approvals }: OpenDesks): unknown {
  return {
    sessions: sessions.list().map(({ sessionId, status }) => ({ sessionId, status })),
    pending: approvals.list("pending").map(({ requestId }) => requestId),
  };
}

test("[LOG-22, HUB-8] a hub that removed all it may is the same after a restart", async () => {
  const dataDir = await temporaryDirectory();
  const before = await open(dataDir, 0);
  const live = await before.sessions.create(session, ann);
  await before.sessions.pause(live.sessionId, ann);
  const over = await before.sessions.create(session, ann);
  const ofSession = await before.approvals.request({ ...question, sessionId: live.sessionId }, bot);
  const ofHub = await before.approvals.request(question, bot);
  const decided = await before.approvals.request(question, bot);
  await before.approvals.resolve(decided.requestId, { status: "approved" }, ann);
  await before.sessions.close(over.sessionId, ann);
  await before.retention.run();
  await before.close();

  const after = await open(dataDir, 0);
  const found = seen(after);
  await after.close();

  expect(found).toEqual({
    sessions: [{ sessionId: live.sessionId, status: "paused" }],
    pending: [ofSession.requestId, ofHub.requestId],
  });
});

test("[LOG-9] an agent that floods its live session with questions drives out nobody else's decisions", async () => {
  const dataDir = await temporaryDirectory();
  const desks = await open(dataDir, 200_000);
  const mine = await desks.sessions.create(session, bot);
  const other = await desks.sessions.create(session, ann);
  const { requestId } = await desks.approvals.request({ ...question, sessionId: other.sessionId }, ann);
  await desks.approvals.resolve(requestId, { status: "rejected" }, ann);
  for (let index = 0; index < 60; index += 1) {
    const asked = await desks.approvals.request({ ...question, sessionId: mine.sessionId }, bot);
    await desks.approvals.resolve(asked.requestId, { status: "rejected" }, bot);
  }

  await desks.retention.run();
  const kept = await desks.log.read({ types: ["approval_request", "approval_decision"], limit: 1_000 });
  await desks.close();

  const bySession = (sessionId: string) => kept.filter((event) => event.sessionId === sessionId);
  expect(bySession(other.sessionId).map((event) => event.type)).toEqual(["approval_request", "approval_decision"]);
  expect(bySession(mine.sessionId).length).toBeLessThan(40);
});
