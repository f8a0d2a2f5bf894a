/** STOP_NOW when the machine is busy, again and again: nothing of the agent's runs on, and none of its calls hangs. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { SEED, type Random, seeded } from "../crash/seeded.ts";
import { codeOf, ControlHub, type Driven } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { livingChildrenOf } from "../support/living-children.ts";
import { IS_SOAK, soakCount } from "../support/soak.ts";

const STOPS = soakCount(300);
const WAITS = 20;
const LINES = 5;

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

/** What an agent may be at when it is stopped. */
const WORK = [
  (evil: string) => `sleep 1000; touch ${evil}`,
  (evil: string) => `yes 'all work and no play'; touch ${evil}`,
  (evil: string) => `while :; do :; done; touch ${evil}`,
  (evil: string) => `for i in $(seq 1000); do sleep 0.01; done; touch ${evil}`,
  (evil: string) => `setsid -f sleep 1000; nohup sleep 1000 >/dev/null 2>&1 & sleep 1000; touch ${evil}`,
  (evil: string) => `trap '' INT TERM; sleep 1000; touch ${evil}`,
  (evil: string) => `(while :; do :; done) & (trap '' TERM; sleep 1000) & sleep 1000; touch ${evil}`,
  (evil: string) => `python3 -c 'import time; time.sleep(1000)'; touch ${evil}`,
];

/** Others keep the machine busy: a flood of output, and a core. Beside other tests, which are load too, it comes in bursts. */
const LOAD = IS_SOAK
  ? ["yes 0123456789abcdefghijklmnopqrstuvwxyz", "while :; do :; done"]
  : ["while :; do seq 20000; sleep 0.1; done"];

async function addLoad(): Promise<void> {
  for (const command of LOAD) {
    await house.otherAgent.pty.exec_block({ conversation_id: house.conversation(), command });
  }
}

/** Every call that the agent has open, by its outcome. */
function openCalls({ conversation_id }: Driven): Promise<string>[] {
  const never = { conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS };
  const waits = Array.from({ length: WAITS }, () => house.agent.pty.wait_for(never).then(({ reason }) => reason));
  const heavy = { conversation_id, match: "(([a-z ]{1,50}){1,20}[0-9]){1,20}ZZ", match_type: "regex" } as const;
  const expecting = house.agent.pty.expect_send({ ...never, data: "touch evil\r" }).then(({ reason }) => reason);
  return [...waits, codeOf(house.agent.pty.wait_for({ ...heavy, timeout_ms: WAIT_BUDGET_MS })), expecting];
}

async function stopOnce(driven: Driven, random: Random, round: number): Promise<void> {
  const { conversation_id, sessionId } = driven;
  const evil = join(house.hub.dataDir, `evil-${round}`);
  const command = WORK[random(WORK.length)]!(evil);
  const block = house.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  const ended = codeOf(block);
  await eventually(async () => expect((await house.control(sessionId)).agent_status).toBe("RUNNING"));
  const calls = openCalls(driven);
  for (let line = 0; line < LINES; line += 1) {
    await house.agent.pty.send({ conversation_id, data: `touch ${evil}-line-${line}\r` });
  }
  const receipts = (await house.events(sessionId, ["receipt"])).length;

  await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

  expect(await ended, command).toBe("stopped");
  const outcomes = new Set(await Promise.all(calls));
  expect([...outcomes].filter((it) => !["revoked", "ok", "pattern_refused"].includes(it))).toEqual([]);
  const { payload } = await eventually(async () => {
    const told = await house.events(sessionId, ["receipt"]);
    expect(told).toHaveLength(receipts + 1);
    return told.at(-1)!;
  });
  expect(payload, command).toMatchObject({ survivors: [], containment: "subreaper" });
  // What a new shell runs while it starts is its own.
  await eventually(async () => {
    const { pid = 0 } = await house.person.pty.status({ conversation_id });
    expect(livingChildrenOf(pid), command).toEqual([]);
  });
}

test(`[CTL-31, CTL-32, CTL-33] ${STOPS} stops under load: no line runs, nothing survives, every call ends (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  await addLoad();
  const driven = await house.granted();

  for (let round = 0; round < STOPS; round += 1) {
    await stopOnce(driven, random, round);
    await house.person.control.grant({ sessionId: driven.sessionId, lease_seconds: 600 });
    const { conversation_id } = driven;
    const alive = await house.agent.pty.exec_block({ conversation_id, command: "echo alive", wait_ms: WAIT_BUDGET_MS });
    expect(alive.output).toBe("alive\n");
  }

  expect(readdirSync(house.hub.dataDir).filter((it) => it.startsWith("evil"))).toEqual([]);
  expect(existsSync(join(house.hub.dataDir, "evil"))).toBe(false);
});
