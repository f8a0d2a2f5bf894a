/** The hub dies between a decision and what follows from it: nothing is done twice, and nothing without a decision. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest } from "../support/terminal-hub.ts";
import { POLICY } from "./judged-hub.ts";
import { soakCount } from "../support/soak.ts";

/** A start of the hub is what takes long: several decisions are on their way at each of its deaths. */
const DEATHS = soakCount(200);
const DECISIONS = 4;
/** From the decision's way in to the block's end, on a machine that has nothing else to do. */
const WITHIN_MS = 40;

type House = {
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  readonly kill: () => Promise<void>;
};

async function started(dataDir: string): Promise<House> {
  const { url, kill } = await spawnTestHub(dataDir, [], "terminal-hub");
  const [agent, person] = await Promise.all([clientOf(url, dataDir, "agent"), clientOf(url, dataDir, "operator")]);
  return { agent, person, kill: () => kill("SIGKILL") };
}

type Asked = { readonly conversation_id: string; readonly done: string; readonly requestId: string };

async function askedFor(house: House, conversation_id: string, done: string): Promise<Asked> {
  const command = `touch ${done}.asked; echo once >> ${done}`;
  house.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS }).catch(() => undefined);
  return eventually(async () => {
    const pending = await house.person.approval.list({ status: "pending" });
    const approval = pending.find((it) => it.payload["command"] === command);
    expect(approval).toBeDefined();
    return { conversation_id, done, requestId: approval!.requestId };
  });
}

/** How often it ran, which must fit what is known of its decision. */
async function runsOf(house: House, { requestId, conversation_id, done }: Asked, death: number): Promise<number> {
  const after = await house.person.approval.get({ requestId });
  expect(after.status, `death ${death}`).not.toBe("pending");
  // Whatever was given to the shell has come to its end when the next command has.
  await house.agent.pty.exec_block({ conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS });
  const runs = existsSync(done) ? readFileSync(done, "utf8").split("\n").filter(Boolean).length : 0;
  expect(runs, `death ${death}`).toBeLessThanOrEqual(1);
  if (runs > 0) expect(after.status, `death ${death}`).toBe("approved");
  if (runs > 0) expect(["run", "unknown"], `death ${death}`).toContain(after.result?.["outcome"]);
  if (after.status === "rejected") expect(after).toMatchObject({ resolvedBy: "system", reason: "revoked" });
  return runs;
}

test(`[APR-13] ${DEATHS} deaths around ${DECISIONS} decisions each (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const dataDir = await temporaryDirectory();
  const place = await temporaryDirectory();
  endHostAfterTest(dataDir);
  await writeFile(join(dataDir, "policy.yaml"), POLICY);
  const seen = { ran: 0, notRun: 0 };
  let house = await started(dataDir);
  let withinMs = WITHIN_MS;

  for (let death = 0; death < DEATHS; death += 1) {
    const { person } = house;
    const names = Array.from({ length: DECISIONS }, (_, at) => [`kills-${at}`, join(place, `${death}-${at}`)] as const);
    const all = await Promise.all(names.map(([conversation_id, done]) => askedFor(house, conversation_id, done)));
    const beganAt = performance.now();
    const decisions = all.map(async ({ requestId }) => {
      if (death > 1) await delay(random(withinMs));
      await person.approval.resolve({ requestId, status: "approved" }).catch(() => undefined);
    });
    // The first death comes before the decisions, the second after all that follows from them, the others in between.
    if (death === 1) await Promise.all(decisions);
    if (death === 1) withinMs = Math.max(WITHIN_MS, Math.ceil(performance.now() - beganAt));
    if (death > 1) await delay(random(2 * withinMs));
    await house.kill();
    await Promise.all(decisions);
    house = await started(dataDir);

    for (const asked of all) seen[(await runsOf(house, asked, death)) === 1 ? "ran" : "notRun"] += 1;
  }

  // Otherwise the deaths came too early or too late to mean anything.
  expect(seen.ran).toBeGreaterThan(0);
  expect(seen.notRun).toBeGreaterThan(0);
});

test("[APR-17] a restart ends what was asked under the control that it takes away; what an agent asked by itself stays", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  await writeFile(join(dataDir, "policy.yaml"), POLICY);
  const house = await started(dataDir);
  const { requestId } = await askedFor(house, "restart", "/nowhere/at/all");
  const { requestId: own } = await house.agent.approval.request({ kind: "plan", payload: { steps: 2 } });

  await house.kill();
  const { person } = await started(dataDir);

  await eventually(async () => {
    const ended = await person.approval.get({ requestId });
    expect(ended).toMatchObject({ status: "rejected", resolvedBy: "system", reason: "revoked" });
  });
  expect((await person.approval.get({ requestId: own })).status).toBe("pending");
});
