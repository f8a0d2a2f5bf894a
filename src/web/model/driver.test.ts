import { expect, test } from "vitest";
import { type ControlState, initialControl } from "../../domain/control-state.ts";
import { agentText, driverOf, driverText, factsOf, myId } from "./driver.ts";

const bot = { kind: "agent", id: "bot" } as const;
const ann = { kind: "person", id: "ann" } as const;
const bob = { kind: "person", id: "bob" } as const;
const lease = { seconds: 60, granted: 60, endsAt: 0, by: "ann" };
const LOST = "the agent lost control; what it started runs on";

type Case = readonly [says: string, ofAgent: string, change: Partial<ControlState>];
const CASES: readonly Case[] = [
  ["Nobody drives", "", {}],
  ["bot drives, without a grant", "the agent works", { holder: bot, reason: "granted", agentStatus: "RUNNING" }],
  ["bot drives, granted by ann · “mind it”", "", { holder: bot, reason: "granted", lease, note: "mind it" }],
  ["You drive, you typed", LOST, { holder: ann, reason: "user_input_override", note: "old", agentStatus: "STOPPED" }],
  ["bob drives, somebody typed", "", { holder: bob, reason: "user_input_override" }],
  ["You drive, the agent was stopped", "", { holder: ann, reason: "stop_now", agentStatus: "STOPPED" }],
];

test.each(CASES)("[WEB-20] who drives, why, and how the agent stands: %s", (says, ofAgent, change) => {
  const control: ControlState = { ...initialControl(true), ...change };
  const driver = driverOf(control, "ann");

  expect([driverText(driver), factsOf(control, driver)].filter(Boolean).join(", ")).toBe(says);
  expect(agentText(control)).toBe(ofAgent);
});

test("[WEB-15] who only looks doesn't drive, though somebody of the same name does", () => {
  const control: ControlState = { ...initialControl(true), holder: ann };
  const says = (role: "operator" | "viewer") => driverText(driverOf(control, myId({ me: { role, id: "ann" } })));

  expect([says("operator"), says("viewer")]).toEqual(["You drive", "ann drives"]);
});
