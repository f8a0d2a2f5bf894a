/** Stopping and ending inside a guard: by the namespace, exactly. */
import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { terminate } from "../../src/host/terminal/ending.ts";
import { readStat } from "../../src/host/terminal/probe/processes.ts";
import { BESIDE, ESCAPES, forkLoop } from "../support/escapes.ts";
import { eventually } from "../support/eventually.ts";
import { closeServices, LiveTerminal } from "../support/live-terminal.ts";
import { canHaveAccounts, TemporaryAccount } from "../support/account.ts";
import { Victim } from "./victim.ts";

afterAll(closeServices);

const GUARD = { ours: [], terms: {} };

const NAMESPACES = { how: "in namespaces of its own", command: "unshare -Upf --kill-child sleep 1000 &", count: 1 };

/** All whose process namespace is that of this shell or below it. */
function inside(live: LiveTerminal): readonly number[] {
  const namespace = readlinkSync(`/proc/${live.terminal.shell.pid}/ns/pid`);
  return pidsWith((pid) => readlinkSync(`/proc/${pid}/ns/pid`) === namespace);
}

function pidsWith(is: (pid: number) => boolean): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && is(pid) && readStat(pid)?.state !== "Z";
      } catch {
        return false; // it is gone
      }
    });
}

test.each([...ESCAPES, NAMESPACES])("[GRD-18] what runs $how dies by a stop", async ({ command, count }) => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  await live.command(command);
  const pids = await live.running("sleep", count);

  const receipt = await live.stop();

  expect(pids.filter((pid) => existsSync(`/proc/${pid}`) && readStat(pid)?.state !== "Z")).toEqual([]);
  expect(receipt).toMatchObject({ survivors: [], containment: "pid_namespace" });
  await live.answers();
  // The first process, and the shell.
  expect(inside(live)).toHaveLength(2);
});

test.each(BESIDE)("[GRD-18, STP-21] what runs $how dies by a stop", async ({ command }) => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  await live.command(command);
  const pid = await live.runningAnywhere("sleep");

  const receipt = await live.stop();

  expect(receipt).toMatchObject({ killed: [{ pid, program: "sleep" }], survivors: [], containment: "pid_namespace" });
  await live.answers();
  expect(inside(live)).toHaveLength(2);
});

test.each(BESIDE)(
  "[GRD-18] a session in which something runs $how is closed, and nothing is left",
  async ({ command }) => {
    const live = await LiveTerminal.open("/bin/bash", GUARD);
    await live.command(command);
    await live.runningAnywhere("sleep");
    const before = inside(live);

    await terminate(live.terminal);
    await live.terminal.ended;

    expect(before).toHaveLength(3);
    expect(pidsWith((pid) => before.includes(pid))).toEqual([]);
  },
);

test("[GRD-18] a fork loop dies by a stop", async () => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  await live.command("touch on");
  await live.command(forkLoop(6));
  await live.running("sh", 6);

  const receipt = await live.stop();

  expect(receipt.survivors).toEqual([]);
  expect(receipt.killed_count).toBeGreaterThanOrEqual(6);
  await live.answers();
  await eventually(() => expect(inside(live)).toHaveLength(2));
});

test.each([{ shell: "bash" }, { shell: "zsh" }, { shell: "fish" }, { shell: "dash" }])(
  "[GRD-18] $shell that is replaced takes all with it, and the next one is guarded (needs $shell)",
  async ({ shell }) => {
    const live = await LiveTerminal.open(`/usr/bin/${shell}`, GUARD);
    await live.command("setsid -f sleep 1000");
    await live.running("sleep");
    const before = inside(live);

    await live.terminal.respawn({ kind: "person", id: "ann" });

    expect(pidsWith((pid) => before.includes(pid))).toEqual([]);
    await live.answers();
    expect(inside(live)).toHaveLength(2);
    expect(live.terminal.shell.tracking).toBe("pid_namespace");
  },
);

test("[GRD-18] when the session ends, all inside is dead before that is told", async () => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  await live.command("setsid -f sh -c 'trap \"\" HUP TERM; sleep 1000'");
  await live.running("sleep");
  const before = inside(live);

  live.type("exit 7\r");
  await live.terminal.ended;

  expect(pidsWith((pid) => before.includes(pid))).toEqual([]);
  expect(live.frames.at(-1)).toMatchObject({ kind: "exit", exitCode: 7 });
});

test("[GRD-17] the signal by which a shell ends is told", async () => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);

  live.type("kill -KILL $$\r");
  await live.terminal.ended;

  expect(live.frames.at(-1)).toMatchObject({ kind: "exit", signal: "SIGKILL" });
});

test("[GRD-18] closing a session leaves nothing of it", async () => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  await live.command("setsid -f sleep 1000");
  await live.running("sleep");
  const before = inside(live);

  await terminate(live.terminal);
  await live.terminal.ended;

  expect(pidsWith((pid) => before.includes(pid))).toEqual([]);
});

test("[GRD-7, GRD-18] what is left behind can't type when a person has taken over", async () => {
  const live = await LiveTerminal.open("/bin/bash", GUARD);
  const thief = `import fcntl, time
time.sleep(0.3)
tty = open("/dev/tty", "rb+", buffering=0)
for byte in b"touch evil\\n":
    fcntl.ioctl(tty, 0x5412, bytes([byte]))`;
  await live.command(`cat > thief.py <<'X'\n${thief}\nX`);
  await live.command("python3 thief.py >/dev/null 2>thief.log &");

  await eventually(() => expect(live.files).toContain("thief.log"));
  await live.command("wait; cat thief.log");

  expect(live.output).toContain("PermissionError");
  await live.answers();
  expect(live.files).not.toContain("evil");
});

test.runIf(canHaveAccounts)(
  "[GRD-18, STP-21] a user's guard holds what runs beside its shell too (needs root and an open checkout)",
  async () => {
    using user = new TemporaryAccount();
    await using victim = await Victim.open(user);
    const { agent, person } = victim;
    const { command } = BESIDE[0]!;
    const begun = await agent.pty.exec_interactive({ conversation_id: "beside", command });
    const sessionId = begun.workspace_session_id;
    const isUsers = (pid: number): boolean => statSync(`/proc/${pid}`).uid === user.uid;
    const sleeping = (): readonly number[] => pidsWith((pid) => isUsers(pid) && readStat(pid)?.program === "sleep");
    await eventually(() => expect(sleeping()).toHaveLength(1));

    await person.control.user_intent({ sessionId, intent: "STOP_NOW" });

    await eventually(() => expect(sleeping()).toEqual([]));
    await person.session.close({ sessionId });
    await eventually(async () => expect((await person.session.get({ sessionId })).status).toBe("closed"));
  },
);
