import { expect, onTestFinished, test } from "vitest";
import { MemoryDriver } from "../../test/support/memory-driver.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { WorkspaceSessionManager } from "./workspace-session-manager.ts";
import { eventually } from "../../test/support/eventually.ts";

async function open(dataDir: string): Promise<WorkspaceSessionManager> {
  const manager = await WorkspaceSessionManager.open({ dataDir, drivers: [new MemoryDriver("terminal")] });
  onTestFinished(() => manager.close());
  return manager;
}

test("[SES-13] the ten published methods and closeSession, over one log", async () => {
  const manager = await open(await temporaryDirectory());

  const session = await manager.createSession({ kind: "terminal" });
  const { sessionId } = session;
  await manager.sendInput(sessionId, { data: "hi" });
  const paused = await manager.pauseSession(sessionId);
  const resumed = await manager.resumeSession(sessionId);
  const asked = await manager.requestApproval({ sessionId, kind: "tool", payload: { command: "ls" } });
  const decided = await manager.resolveApproval({ requestId: asked.requestId, status: "approved", approved: true });
  const closed = await manager.closeSession(sessionId);
  const events = await manager.drainEvents();
  const snapshot = await manager.getSnapshot();

  expect([session, paused, resumed, closed].map((it) => it.status)).toEqual(["created", "paused", "active", "closed"]);
  expect([asked.status, decided.status]).toEqual(["pending", "approved"]);
  expect(events.map((it) => it.type).filter((it) => it !== "stdout")).toEqual([
    "status",
    "status",
    "control_handoff",
    "input",
    "status",
    "status",
    "approval_request",
    "approval_decision",
    "status",
  ]);
  expect(await manager.drainEvents(events[2]?.sequence, 2)).toEqual(events.slice(3, 5));
  expect(snapshot).toEqual({ sessions: await manager.listSessions(), eventCursor: expect.any(Number) });
  expect(await manager.drainEvents(snapshot.eventCursor)).toEqual([]);
});

test("[SES-13] refusals are the same typed errors as over HTTP", async () => {
  const manager = await open(await temporaryDirectory());
  const { sessionId } = await manager.createSession({ kind: "terminal" });
  await manager.closeSession(sessionId);

  await expect(manager.pauseSession(sessionId)).rejects.toMatchObject({ code: "invalid_transition" });
  await expect(manager.createSession({ kind: "browser" })).rejects.toMatchObject({ code: "kind_unavailable" });
  await expect(manager.createSession({ kind: "nope" as never })).rejects.toMatchObject({ code: "invalid_request" });
  await expect(manager.sendInput(sessionId, {})).rejects.toMatchObject({ code: "invalid_request" });
  await expect(manager.drainEvents(-1)).rejects.toMatchObject({ code: "invalid_request" });
});

test("[SES-12, SES-13] reset ends everything but the log", async () => {
  const manager = await open(await temporaryDirectory());
  await manager.createSession({ kind: "terminal" });
  await manager.requestApproval({ kind: "plan", payload: {} });
  const before = await manager.getSnapshot();

  await manager.reset();

  await eventually(async () => expect((await manager.listSessions()).map((it) => it.status)).toEqual(["closed"]));
  expect((await manager.drainEvents(before.eventCursor)).map((it) => [it.type, it.payload.status])).toEqual(
    expect.arrayContaining([
      ["approval_decision", "rejected"],
      ["status", "closed"],
    ]),
  );
});
