/** Which processes a stop ends, and which it lets be. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { seeded, SEED } from "../../../test/crash/seeded.ts";
import { BESIDE, ESCAPES, forkLoop } from "../../../test/support/escapes.ts";
import { ANN } from "../../../test/support/terminal.ts";
import { canHaveAccounts } from "../../../test/support/account.ts";
import { closeServices, isAlive, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { bootTimeMs } from "./boot-clock.ts";
import { terminate } from "./ending.ts";
import { allProcesses, statsOf } from "./probe/processes.ts";
import { soakCount } from "../../../test/support/soak.ts";

afterAll(closeServices);

const SHELLS = ["/bin/bash", "/usr/bin/zsh", "/usr/bin/fish", "/bin/dash"];

test.each(ESCAPES)("[STP-7] what runs $how dies", async ({ command, count }) => {
  const live = await LiveTerminal.open();
  await live.command(command);
  const pids = await live.running("sleep", count);

  const receipt = await live.stop();

  expect(pids.filter(isAlive)).toEqual([]);
  expect(receipt).toMatchObject({ respawned: false, survivors: [] });
  expect(receipt.killed.map((it) => it.pid)).toEqual(expect.arrayContaining([...pids]));
  await live.answers();
});

test.each(BESIDE)("[STP-21] what runs $how dies, and nothing else", async ({ command }) => {
  const [live, other] = [await LiveTerminal.open(), await LiveTerminal.open()];
  await other.command(command);
  const others = await other.runningAnywhere("sleep");
  await live.command(command);
  const pid = await live.runningAnywhere("sleep");

  const receipt = await live.stop();

  expect([isAlive(pid), isAlive(others)]).toEqual([false, true]);
  expect(receipt).toMatchObject({ killed: [{ pid, program: "sleep" }], respawned: false, survivors: [] });
  await live.answers();
});

test.each(BESIDE)("[STP-21, STP-9] what runs $how and began while no agent held control lives", async ({ command }) => {
  const live = await LiveTerminal.open();
  await live.command(command);
  const pid = await live.runningAnywhere("sleep");

  const receipt = await live.stop({ agentTimes: [] });

  expect(receipt).toMatchObject({ killed: [], respawned: false });
  expect(isAlive(pid)).toBe(true);
});

test.each(BESIDE)("[STP-21] what runs $how doesn't outlive a shell that is replaced", async ({ command }) => {
  const live = await LiveTerminal.open();
  await live.command(command);
  const pid = await live.runningAnywhere("sleep");

  await live.terminal.respawn(ANN);

  await eventually(() => expect(isAlive(pid)).toBe(false));
  await live.answers();
});

test("[STP-21] a keeper that was stopped holds up neither a new shell nor the end", async () => {
  const live = await LiveTerminal.open();
  await live.command("kill -STOP $PPID");

  await live.terminal.respawn(ANN);
  await live.answers();
  await live.command("kill -STOP $PPID");
  await terminate(live.terminal);

  expect(live.frames.at(-1)).toMatchObject({ kind: "exit" });
});

test.runIf(process.getuid!() === 0)(
  "[STP-7] what runs in a process namespace of its own dies, found or with its first process (needs root, unshare and namespaces)",
  async () => {
    const live = await LiveTerminal.open();
    await live.command("unshare -pf --kill-child sleep 1000 &");
    const pids = await live.running("sleep");

    const receipt = await live.stop();

    expect(pids.filter(isAlive)).toEqual([]);
    expect(receipt).toMatchObject({ respawned: false, survivors: [] });
    expect(receipt.killed.map((it) => it.program)).toContain("unshare");
    await live.answers();
  },
);

/** Few by default: the machine is shared. */
const CHAINS = soakCount(40);

test("[STP-8] a fork loop is caught up with, and the list of the killed is bounded", async () => {
  const live = await LiveTerminal.open();
  onTestFinished(() => rmSync(live.path("on"), { force: true }));
  await live.command("touch on");
  await live.command(forkLoop(CHAINS));
  await live.running("sh", CHAINS);

  const receipt = await live.stop();

  expect(live.processes).toEqual([]);
  expect(receipt.survivors).toEqual([]);
  expect(receipt.killed_count).toBeGreaterThanOrEqual(CHAINS);
  expect(receipt.killed.length).toBeLessThanOrEqual(100);
  await live.answers();
  expect(live.processes).toEqual([]);
});

test("[STP-9] a person's job from before lives, and all that it starts; the agent's dies", async () => {
  const live = await LiveTerminal.open();
  await live.command("sh -c 'while :; do sleep 0.05; done' &");
  const [persons] = await live.running("sh");
  await live.command("sleep 1000 &");
  const [other] = await live.running("sleep");
  const from = bootTimeMs() + 10;
  await eventually(() => expect(bootTimeMs()).toBeGreaterThan(from + 10));
  await live.command("setsid -f tail -f /dev/null");
  const [agents] = await live.running("tail");
  live.type("cat\r");
  await live.running("cat");

  const receipt = await live.stop({ agentTimes: [{ from }] });

  expect([persons, other, agents].map((pid) => isAlive(pid!))).toEqual([true, expect.anything(), false]);
  expect(receipt.killed.map((it) => it.program).toSorted()).toEqual(["cat", "tail"]);
  await live.answers();
  expect(isAlive(persons!)).toBe(true);
});

test("[STP-9] what a person started while no agent held control lives", async () => {
  const live = await LiveTerminal.open();
  await live.command("sleep 1000 &");
  const [pid] = await live.running("sleep");

  const receipt = await live.stop({ agentTimes: [{ from: 0, to: live.openedAt - 100 }] });

  expect(receipt).toMatchObject({ killed: [], respawned: false });
  expect(isAlive(pid!)).toBe(true);
});

test("[STP-9] a person who drives keeps the program in front; what the agent left beside it dies", async () => {
  const live = await LiveTerminal.open();
  await live.command("tail -f /dev/null &");
  const [agents] = await live.running("tail");
  const to = bootTimeMs();
  await eventually(() => expect(bootTimeMs()).toBeGreaterThan(to + 20));
  live.type("sleep 1000; touch after\r");
  const [persons] = await live.running("sleep");

  const receipt = await live.stop({ agentTimes: [{ from: 0, to }], drivesForeground: false });

  expect([isAlive(agents!), isAlive(persons!)]).toEqual([false, true]);
  expect(receipt).toMatchObject({ killed_count: 1, respawned: false });
});

test("[STP-5] the job in front is the agent's while it drives, though a person started it", async () => {
  const live = await LiveTerminal.open();
  live.type("bash --norc\r");
  const [nested] = await live.running("bash");
  live.type("sleep 1000; touch evil\r");
  await live.running("sleep");

  const receipt = await live.stop({ agentTimes: [] });

  expect(isAlive(nested!)).toBe(false);
  expect(receipt.killed.map((it) => it.program)).toEqual(["bash", "sleep"]);
  await live.answers();
  expect(live.files).toEqual([]);
});

test("[STP-5] what runs on a terminal inside the terminal dies with what holds it (needs script)", async () => {
  const live = await LiveTerminal.open();
  live.type("script -qc 'sleep 1000; touch evil' /dev/null\r");
  const pids = await live.running("sleep");

  await live.stop({ agentTimes: [] });

  expect(pids.filter(isAlive)).toEqual([]);
  await live.answers();
  expect(live.files).toEqual([]);
});

test("[STP-9] scope `all` spares only the shell", async () => {
  const live = await LiveTerminal.open();
  await live.command("setsid -f sleep 1000");
  const pids = await live.running("sleep");
  const { pid } = live.terminal.shell;

  const receipt = await live.stop({ agentTimes: [], drivesForeground: false, scope: "all" });

  expect(pids.filter(isAlive)).toEqual([]);
  expect(receipt).toMatchObject({ kill_scope: "all", killed_count: 1, respawned: false });
  expect(live.terminal.shell.pid).toBe(pid);
});

test("[STP-11] a replaced shell takes the person's jobs with it, and they are told", async () => {
  const live = await LiveTerminal.open();
  await live.command("sleep 1000 &");
  const [persons] = await live.running("sleep");
  await eventually(() => expect(bootTimeMs()).toBeGreaterThan(live.openedAt + 20));
  live.type("trap '' INT; while :; do :; done\r");
  await eventually(() => expect(live.terminal.shell.ignoresInterrupt).toBe(true));

  const receipt = await live.stop({ agentTimes: [] });

  expect(receipt).toMatchObject({ respawned: true, killed: [{ pid: persons, program: "sleep" }] });
  expect(isAlive(persons!)).toBe(false);
});

test("[STP-15] another session feels nothing", async () => {
  const [live, other] = [await LiveTerminal.open(), await LiveTerminal.open()];
  other.type("sleep 1000; touch went-on\r");
  const [pid] = await other.running("sleep");
  live.type("sleep 1000\r");
  await live.running("sleep");

  await live.stop({ scope: "all" });

  expect(isAlive(pid!)).toBe(true);
  expect(other.files).toEqual([]);
});

test.each([{ paused: false }, { paused: true }])(
  "[STP-14] a flood of 20 MB is stopped, paused: $paused",
  async ({ paused }) => {
    const live = await LiveTerminal.open();
    live.type("head -c 20000000 /dev/zero | tr '\\0' x; touch evil\r");
    await live.running("tr");
    if (paused) live.terminal.pause();

    const receipt = await live.stop();
    live.terminal.resume();

    expect(receipt).toMatchObject({ respawned: false, survivors: [] });
    await live.answers();
    expect(live.files).toEqual([]);
  },
);

test("[STP-17] with a full table of descriptors a stop does the same (needs prlimit)", async () => {
  const live = await LiveTerminal.open();
  await live.command("setsid -f sleep 1000");
  live.type("sleep 1000; touch evil\r");
  await live.running("sleep", 2);
  const limits = execFileSync("prlimit", ["--pid", String(process.pid), "--nofile", "-o", "SOFT,HARD", "--noheadings"]);
  const [soft, hard] = limits.toString().trim().split(/\s+/);
  const limit = (to: string): void =>
    void execFileSync("prlimit", ["--pid", String(process.pid), `--nofile=${to}:${hard}`]);
  limit(String(Math.max(...readdirSync("/proc/self/fd").map(Number)) + 20));
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // Full, but for what a stop keeps.
  }

  const receipt = await live.stop().finally(() => {
    for (const fd of taken) closeSync(fd);
    limit(soft!);
  });

  expect(taken.length).toBeGreaterThan(5);
  expect(receipt).toMatchObject({ killed_count: 2, respawned: false, survivors: [] });
  await live.answers();
  expect(live.files).toEqual([]);
});

test.runIf(canHaveAccounts)(
  "[STP-16] what belongs to another user is told as a survivor (needs root and an open checkout)",
  async () => {
    const live = await LiveTerminal.open();
    live.type("sleep 1000\r");
    const [pid] = await live.running("sleep");
    const script = new URL("sweep-as.contract.ts", import.meta.url).pathname;

    const host = spawn(process.execPath, [script, String(live.terminal.shell.pid)], { uid: 65_534, gid: 65_534 });
    const [told] = await Promise.all([text(host.stdout), once(host, "exit")]);

    expect(JSON.parse(told)).toEqual([{ pid, program: "sleep", reason: "another_user" }]);
    expect(isAlive(pid!)).toBe(true);
  },
);

test("[STP-2] without a launcher what is still in the shell's session is found", async () => {
  const live = await LiveTerminal.open("/bin/bash", "none");
  await live.command("(nohup sleep 1000 >/dev/null 2>&1 &)");
  const session = live.terminal.shell.pid;
  const isIt = (it: ReturnType<typeof statsOf>[number]) => it.session === session && it.program === "sleep";
  const { pid } = await eventually(() => statsOf(allProcesses()).find(isIt) ?? expect.unreachable("it still starts"));

  const receipt = await live.stop();

  expect(receipt).toMatchObject({ containment: "best_effort", killed: [{ pid, program: "sleep" }] });
  expect(isAlive(pid)).toBe(false);
});

test("[STP-18] the kills are sent before the call returns", async () => {
  const live = await LiveTerminal.open();
  live.type("sleep 1000 | cat\r");
  const pids = [...(await live.running("sleep")), ...(await live.running("cat"))];

  const stopped = live.stop();

  // Nothing else of this program runs meanwhile.
  const end = performance.now() + DEADLINE_MS;
  while (pids.some(isAlive) && performance.now() < end);
  expect(pids.filter(isAlive)).toEqual([]);
  await stopped;
});

test(`[STP-5, STP-7] any mix of what an agent leaves dies, in any shell (seed ${SEED}) (needs zsh and fish)`, async () => {
  const random = seeded(SEED);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  for (let round = 0; round < soakCount(200); round += 1) {
    const live = await LiveTerminal.open(pick(SHELLS));
    const left = Array.from({ length: random(4) }, () => pick(ESCAPES));
    for (const { command } of left) await live.command(command);
    live.type(pick(["sleep 1000; touch evil\rtouch evil\r", "sleep 1000 | cat; touch evil\r"]));
    const pids = await live.running("sleep", 1 + left.reduce((sum, it) => sum + it.count, 0));

    const { survivors } = await live.stop();

    expect({ alive: pids.filter(isAlive), survivors }).toEqual({ alive: [], survivors: [] });
    await live.answers();
    expect(live.files.filter((name) => name === "evil")).toEqual([]);
    await live.terminal.respawn(ANN);
  }
});
