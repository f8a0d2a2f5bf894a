/** What an agent has going when it no longer drives: a stop ends it, whoever took over, and so does the shell's end. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bootTimeMs } from "../../src/host/terminal/boot-clock.ts";
import { childrenFinder, isDead, readStat, statsOf } from "../../src/host/terminal/probe/processes.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { ControlHub, type Driven } from "../support/control-hub.ts";
import { asSibling } from "../support/escapes.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

const hostPid = (): number => Number(readFileSync(join(house.hub.dataDir, "host", "lock"), "utf8"));
const living = (parent: number) => statsOf(childrenFinder()(parent)).filter((it) => !isDead(it));
const mode = async ({ conversation_id }: Driven) => (await house.person.pty.status({ conversation_id })).mode;

async function shellOf({ conversation_id }: Driven): Promise<number> {
  return (await house.person.pty.status({ conversation_id })).pid ?? 0;
}

/** The agent's command runs: unless said otherwise, one for which the shell starts nothing. */
async function loops(driven: Driven, command = "while :; do :; done"): Promise<void> {
  const { conversation_id } = driven;
  await house.agent.pty.exec_block({ conversation_id, command, wait_ms: 0 });
  await eventually(async () => expect(await mode(driven)).toBe("block_running"));
}

describe("a stop after the agent lost control", () => {
  const LOSSES = [
    { how: "a person took it", lose: (sessionId: string) => house.person.control.take({ sessionId }) },
    { how: "a person typed", lose: (sessionId: string) => house.person.session.input({ sessionId, data: "x\r" }) },
    {
      how: "its lease was over",
      lose: async (sessionId: string) => {
        await house.agent.control.renew({ sessionId, lease_seconds: 0.2 });
        await eventually(async () => expect((await house.control(sessionId)).reason).toBe("lease_expired"));
      },
    },
  ];

  test.each(LOSSES)("[STP-5] ends what the shell runs for it, though $how before", async ({ lose }) => {
    const driven = await house.granted();
    const { sessionId } = driven;
    await loops(driven);
    await lose(sessionId);
    expect(await mode(driven)).toBe("block_running");

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    await house.receipt(sessionId);
    await eventually(async () => expect(await mode(driven)).toBe("idle"));
  });

  test("[STP-7] ends what its command started since, in the background too", async () => {
    const driven = await house.driven();
    const { sessionId } = driven;
    const go = join(await temporaryDirectory(), "go");
    await loops(
      driven,
      `until [ -e ${go} ]; do sleep 0.02; done; setsid -f tail -f /dev/null; while :; do sleep 0.02; done`,
    );
    await house.person.control.take({ sessionId });
    writeFileSync(go, "");
    const pid = await shellOf(driven);
    const programs = () => living(pid).map((it) => it.program);
    await eventually(() => expect(programs()).toContain("tail"));

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    await house.receipt(sessionId);
    await eventually(() => expect(programs()).toEqual([]));
  });

  test("[STP-9] lets the command of the person be who drives since", async () => {
    const driven = await house.driven();
    const { sessionId } = driven;
    await house.person.control.take({ sessionId });
    const taken = bootTimeMs();
    // The kernel notes beginnings by hundredths of a second.
    await eventually(() => expect(bootTimeMs()).toBeGreaterThan(taken + 20));
    await house.person.session.input({ sessionId, data: "sleep 1000; true\r" });
    const pid = await shellOf(driven);
    await eventually(() => expect(living(pid).map((it) => it.program)).toEqual(["sleep"]));

    await house.person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    expect((await house.receipt(sessionId)).payload).toMatchObject({ killed_count: 0, respawned: false });
    expect(await mode(driven)).toBe("block_running");
  });
});

const ended = async (sessionId: string) => (await house.person.session.get({ sessionId })).status;

/** A program of a session's that waits for `go`, then asks the hub by the operator's socket. */
async function caller() {
  const directory = await temporaryDirectory();
  const [go, answer, program] = ["go", "answer", "program"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const socket = join(house.hub.dataDir, "hub.sock");
  const curl = `/usr/bin/curl -s -o /dev/null -w "status %{http_code}" --unix-socket ${socket} http://hub/tokens`;
  writeFileSync(program, `until [ -e ${go} ]; do sleep 0.02; done; ${curl} > ${answer}`);
  return { program, go: () => writeFileSync(go, ""), answer: () => readFileSync(answer, "utf8") };
}

describe("what stands beside a shell", () => {
  test("[STP-21, CTL-39] is no caller at the operator's socket (needs curl)", async () => {
    const driven = await house.flagged();
    const { program, go, answer } = await caller();
    const keeper = readStat(await shellOf(driven))!.parent;

    await house.person.session.input({
      sessionId: driven.sessionId,
      data: `${asSibling(`setsid(); exec "sh", "${program}"`)}\r`,
    });

    await eventually(() => expect(living(keeper).map((it) => it.program)).toContain("sh"));
    go();
    await eventually(() => expect(answer()).toBe("status 403"));
  });

  test("[STP-21] can be killed by what runs in it: then the shell goes too", async () => {
    const driven = await house.flagged();
    const { sessionId } = driven;
    const pid = await shellOf(driven);

    await house.person.session.input({ sessionId, data: "trap '' HUP; kill -9 $PPID; while :; do :; done\r" });

    await eventually(async () => expect(await ended(sessionId)).toBe("closed"));
    await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  });
});

describe("a shell that ends by itself", () => {
  test("[STP-19, STP-20] takes along what the agent left behind", async () => {
    const { conversation_id, sessionId } = await house.driven();
    const pids = join(await temporaryDirectory(), "pids");
    const leave = `setsid -f sh -c 'echo $$ > ${pids}; exec tail -f /dev/null'`;
    const command = `${leave}; until [ -s ${pids} ]; do sleep 0.02; done; exit`;

    await house.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

    await eventually(async () => expect(await ended(sessionId)).toBe("closed"));
    await eventually(() => expect(existsSync(`/proc/${readFileSync(pids, "utf8").trim()}`)).toBe(false));
  });

  test("[STP-19, CTL-39] leaves what is the person's, which is still no caller at the operator's socket (needs curl)", async () => {
    const { sessionId } = await house.flagged();
    const { program, go, answer } = await caller();

    await house.person.session.input({ sessionId, data: `setsid -f sh ${program}; exit\r` });

    await eventually(async () => expect(await ended(sessionId)).toBe("closed"));
    await eventually(() => expect(living(hostPid()).map((it) => it.program)).toContain("sh"));
    go();
    await eventually(() => expect(answer()).toBe("status 403"));
  });
});
