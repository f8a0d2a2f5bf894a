/** An agent that waits for control, and people who give it to nobody in particular. */
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

test("[CTL-12] a wait answers when a person lets go and nobody attends: whoever acts has control", async () => {
  const { sessionId } = await hub.agent.session.create({ kind: "terminal" });
  await hub.person.control.take({ sessionId });
  await hub.agent.control.request({ sessionId, reason: "to go on" });

  const waiting = hub.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS });
  await hub.person.control.release({ sessionId, note: "all yours" });

  const freed = { control_mode: "USER", holder: null, interactive: false, handback_note: "all yours" };
  expect(await waiting).toMatchObject(freed);
  expect(await hub.agent.control.request({ sessionId, reason: "to go on" })).toMatchObject({ control_mode: "AGENT" });
});

test("[CTL-12] where agents may not acquire, a wait goes on over a release", async () => {
  await hub.person.workspace.put({
    workspaceId: "granted",
    settings: { containment: "open", agents_may_acquire: false },
  });
  const { sessionId } = await hub.agent.session.create({ kind: "terminal", workspaceId: "granted" });
  await hub.person.control.take({ sessionId });
  let isAnswered = false;
  const waiting = hub.agent.control.wait({ sessionId, timeout_ms: WAIT_BUDGET_MS }).finally(() => (isAnswered = true));

  await hub.person.control.release({ sessionId });
  await eventually(async () => expect(await hub.person.control.get({ sessionId })).toMatchObject({ holder: null }));
  const wasAnswered = isAnswered;
  await hub.person.control.grant({ sessionId, lease_seconds: 60, attend: true });

  expect(wasAnswered).toBe(false);
  expect(await waiting).toMatchObject({ control_mode: "AGENT" });
});
