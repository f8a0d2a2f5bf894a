import { expect, test } from "vitest";
import { describeControl } from "../../src/domain/control-record.ts";
import { type ControlState, initialControl } from "../../src/domain/control-state.ts";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import type { Overview } from "../../src/protocol/overview.ts";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { askedIn } from "../../src/web/model/pending.ts";
import {
  applyEvent,
  EMPTY_WORLD,
  withoutReceipt,
  withPrompt,
  type World,
  worldFrom,
} from "../../src/web/model/world.ts";

const PROMPT = { prompt_id: "p", nonce: "n", status: "answered", feedback: [] as string[] } as unknown as AskedPrompt;

function told(
  type: WorkspaceEvent["type"],
  payload: WorkspaceEvent["payload"],
  more: Partial<WorkspaceEvent> = {},
): WorkspaceEvent {
  const source = { kind: "system", id: "system" } as const;
  return { sequence: 1, sessionId: "s", type, timestamp: "2026-01-01T00:00:00.000Z", payload, source, ...more };
}

const line = (text: string): WorkspaceEvent => told("chat", { kind: "feedback", promptId: "p", text });
const linesOf = ({ prompts }: World): readonly string[] | undefined => prompts.get("p")?.feedback;

test("[WEB-48] each line is there when it comes, whatever is asked for meanwhile, and the outcome has all of them once", () => {
  const sent = applyEvent(withPrompt(EMPTY_WORLD, PROMPT), line("Sent: y + Enter"));
  const askedLate = withPrompt(sent, PROMPT);
  const retrying = applyEvent(askedLate, line("CLI did not respond to y, retrying..."));
  const feedback = ["Sent: y + Enter", "CLI did not respond to y, retrying...", "CLI advanced"];
  const over = withPrompt(retrying, { ...PROMPT, outcome: "advanced", feedback });

  expect([sent, askedLate, retrying].map(linesOf)).toEqual([
    feedback.slice(0, 1),
    feedback.slice(0, 1),
    feedback.slice(0, 2),
  ]);
  expect(linesOf(applyEvent(over, line("CLI advanced")))).toEqual(feedback);
});

test("[WEB-48] a question that is offered anew begins without lines", () => {
  const sent = applyEvent(withPrompt(EMPTY_WORLD, PROMPT), line("Sent: y + Enter"));

  expect(linesOf(withPrompt(sent, { ...PROMPT, nonce: "n2", status: "pending" }))).toEqual([]);
});

test("[WEB-52] of what is over the newest hundred stay, and all that waits", () => {
  const ids = Array.from({ length: 150 }, (_, at) => `r${at}`);
  const asked = ids.reduce(
    (world, requestId) => applyEvent(world, told("approval_request", { requestId })),
    EMPTY_WORLD,
  );
  const decided = ids
    .slice(0, 120)
    .reduce(
      (world, requestId) => applyEvent(world, told("approval_decision", { requestId, status: "rejected" })),
      asked,
    );

  expect([asked.approvals.size, [...decided.approvals.keys()]]).toEqual([150, ids.slice(20)]);
});

test("[WEB-10] of closed sessions those stay that were closed last, and who drove them goes with them", () => {
  const ids = Array.from({ length: 150 }, (_, at) => `s${at}`);
  const status = (sessionId: string, of: string, minute: number) =>
    told(
      "status",
      { status: of, session: { sessionId } },
      { sessionId, timestamp: new Date(minute * 60_000).toISOString() },
    );
  const open = ids.map((id) => status(id, "created", 0)).reduce(applyEvent, EMPTY_WORLD);
  const closed = ids
    .slice(0, 120)
    .toReversed()
    .map((id, minute) => status(id, "closed", minute))
    .reduce(applyEvent, open);

  expect([open.sessions.size, open.controls.size]).toEqual([150, 150]);
  const kept = [...ids.slice(0, 100), ...ids.slice(120)];
  expect([[...closed.sessions.keys()], [...closed.controls.keys()]]).toEqual([kept, kept]);
});

test("[WEB-10] what an overview reflects already, or what changes nothing, leaves the world as it is", () => {
  const world: World = { ...EMPTY_WORLD, asOf: 7 };
  const request = { requestId: "r" };

  expect(applyEvent(world, told("approval_request", request, { sequence: 7 }))).toBe(world);
  expect(applyEvent(world, told("chat", { kind: "text" }, { sequence: 8 }))).toBe(world);
  expect(applyEvent(world, told("approval_request", request, { sequence: 8 })).approvals.size).toBe(1);
});

test("[WEB-98] of plans the page keeps the newest alone", () => {
  const ids = Array.from({ length: 600 }, (_, at) => String(at));
  const found = ids.reduce(
    (world, planId) => applyEvent(world, told("plan", { planId, title: "t", steps: [] })),
    EMPTY_WORLD,
  );

  expect([...found.plans.keys()]).toEqual(ids.slice(100));
});

const NOW = "2026-01-01T00:00:00.000Z";
const AT: Overview = {
  now: NOW,
  version: "0",
  me: { role: "operator", id: "ann" },
  eventCursor: 0,
  sessions: [],
  controls: [],
  approvals: [],
  prompts: [],
  plans: [],
  hosts: [],
};
const SESSION = { sessionId: "s", status: "active" } as Overview["sessions"][number];

/** An overview as of a place in the log. */
function begun(eventCursor: number, more: Partial<Overview> = {}, before: World = EMPTY_WORLD): World {
  return worldFrom({ ...AT, eventCursor, sessions: [SESSION], ...more }, before, Date.parse(NOW));
}

function controlled(type: "control_handoff" | "receipt", sequence: number, change: Partial<ControlState>) {
  const state = describeControl({ ...initialControl(false), ...change });
  return told(type, { ...state, killed_count: 1 }, { sequence, source: { kind: "system", id: "gate" } });
}

const STOPPED = { holder: { kind: "person", id: "ann" }, reason: "stop_now", agentStatus: "STOPPED" } as const;
const GRANTED = { holder: { kind: "agent", id: "bot" }, mode: "AGENT", reason: "granted" } as const;
const receiptIn = ({ receipts }: World) => {
  const receipt = receipts.get("s");
  return receipt && [receipt.by, receipt.at, receipt.told["killed_count"]];
};

test("[WEB-25] a receipt says who stopped and when, also when it comes after the overview that followed the stop", () => {
  const receipt = controlled("receipt", 5, STOPPED);
  const takenMeanwhile = controlled("receipt", 5, { ...STOPPED, reason: "taken" });

  expect([begun(4), begun(7)].map((it) => receiptIn(applyEvent(it, receipt)))).toEqual([
    ["ann", NOW, 1],
    ["ann", NOW, 1],
  ]);
  expect(receiptIn(applyEvent(begun(4), takenMeanwhile))).toEqual([undefined, NOW, 1]);
});

test("[WEB-25] a receipt outlives a lost connection until an agent has control again, and is gone once it was closed", () => {
  const stopped = applyEvent(begun(4), controlled("receipt", 5, STOPPED));
  const grant = controlled("control_handoff", 6, GRANTED);
  const taken = controlled("control_handoff", 6, { ...STOPPED, reason: "taken" });
  const control = { session_id: "s", control_mode: "AGENT" } as Overview["controls"][number];
  const closed = withoutReceipt(stopped, "s");

  expect([begun(5, {}, stopped), applyEvent(stopped, taken)].map(receiptIn)).toEqual([
    ["ann", NOW, 1],
    ["ann", NOW, 1],
  ]);
  const over = [
    applyEvent(stopped, grant),
    begun(7, { controls: [control] }, stopped),
    applyEvent(begun(7, {}, stopped), grant),
    begun(7, {}, closed),
  ];
  expect(over.map(receiptIn)).toEqual([undefined, undefined, undefined, undefined]);
});

test("[WEB-44] a plan that was decided while the page was away waits no longer, and says by whom when that is told", () => {
  const plan = { planId: "p", title: "t", steps: [] };
  const found = applyEvent(begun(4), told("plan", plan, { sequence: 5 }));
  const back = begun(9, {}, found);
  const decided = applyEvent(back, told("plan", { planId: "p", decision: "execute", by: "ben" }, { sequence: 6 }));
  const shown = [found, back, decided].map((it) => [askedIn(it)[0]?.waits, it.plans.get("p")?.decidedBy]);

  expect(shown).toEqual([
    [true, undefined],
    [false, undefined],
    [false, "ben"],
  ]);
  expect(applyEvent(back, told("plan", plan, { sequence: 5 }))).toBe(back);
});
