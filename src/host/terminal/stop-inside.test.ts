/** A stop after an agent, which no longer drives, has typed into a program that a person had started. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { ANN, BOT, closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";
import { bootTimeMs } from "./boot-clock.ts";
import { childrenFinder, isDead, readStat, statsOf } from "./probe/processes.ts";

afterAll(closeServices);

const LOSSES = [
  { how: "a person took control", lose: (opened: OpenedTerminal) => control(opened, { type: "take", by: ANN }) },
  {
    how: "its lease was over",
    lose: async (opened: OpenedTerminal) => {
      const { epoch } = opened;
      await control(opened, { type: "renew", by: BOT, epoch, leaseSeconds: 0.1 });
      await eventually(() => expect(opened.epoch).toBe(epoch + 1));
    },
  },
];

type Control = Extract<Parameters<OpenedTerminal["ask"]>[0], { type: "CONTROL" }>["command"];

async function control(opened: OpenedTerminal, command: Control): Promise<void> {
  await opened.ask({ type: "CONTROL", command });
}

async function stopped(opened: OpenedTerminal) {
  await control(opened, { type: "intent", by: ANN, intent: "STOP_NOW", scope: "agent" });
  return (await opened.event("receipt")).payload;
}

/** Waits until a child of `parent` runs that program. */
function childOf(parent: number, program: string): Promise<number> {
  return eventually(() => {
    const found = statsOf(childrenFinder()(parent)).find((it) => it.program === program && !isDead(it));
    return found?.pid ?? expect.unreachable(`${program} still starts`);
  });
}

/** The agent's line runs in a shell that a person started in theirs. */
async function nested(): Promise<{ readonly opened: OpenedTerminal; readonly shell: number; readonly sleep: number }> {
  const opened = await OpenedTerminal.open();
  await opened.send("bash --norc\r", { by: ANN });
  const shell = await childOf(opened.session.processIds![0]!, "bash");
  await eventually(() => expect(opened.bytes.toString()).toMatch(/bash-[\d.]+[#$] $/));
  // The kernel notes beginnings by hundredths of a second: what begins in the same one as the agent's control is the agent's.
  const { startedAt } = readStat(shell)!;
  await eventually(() => expect(bootTimeMs()).toBeGreaterThan(startedAt + 30));
  await control(opened, { type: "grant", by: ANN, agentId: BOT.id, leaseSeconds: 600, attend: true });
  await opened.send("sleep 1000; touch evil\r");
  return { opened, shell, sleep: await childOf(shell, "sleep") };
}

test.each(LOSSES)("[STP-5] ends what runs for it in a person's nested shell, though $how before", async ({ lose }) => {
  const { opened, shell, sleep } = await nested();
  await lose(opened);

  const receipt = await stopped(opened);

  const killed = [
    { pid: shell, program: "bash" },
    { pid: sleep, program: "sleep" },
  ];
  expect(receipt).toMatchObject({ killed, killed_count: 2, respawned: false, survivors: [] });
  await opened.send("touch after\r", { by: ANN });
  await eventually(() => expect(existsSync(join(opened.home, "after"))).toBe(true));
  expect(existsSync(join(opened.home, "evil"))).toBe(false);
});

test("[STP-9] a nested shell into which a person entered a line since is theirs", async () => {
  const { opened, shell, sleep } = await nested();
  await control(opened, { type: "take", by: ANN });
  process.kill(sleep, "SIGINT");
  await eventually(() => expect(statsOf(childrenFinder()(shell))).toEqual([]));
  await opened.send("tail -f /dev/null\r", { by: ANN });
  await childOf(shell, "tail");

  const receipt = await stopped(opened);

  expect(receipt).toMatchObject({ killed_count: 0, respawned: false, survivors: [] });
  await childOf(shell, "tail");
});
