import { closeSync, constants, openSync, readdirSync, writeSync } from "node:fs";
import { onTestFinished, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { PtyExit } from "./pty.ts";
import { Pty } from "./pty.ts";
import { soakCount } from "../../../test/support/soak.ts";

type Ran = {
  readonly pty: Pty;
  readonly output: () => string;
  readonly size: () => number;
  readonly exited: Promise<PtyExit>;
};

function run(script: string): Ran {
  const parts: Buffer[] = [];
  const exited = Promise.withResolvers<PtyExit>();
  const pty = new Pty(
    {
      file: "/bin/bash",
      args: ["--norc", "--noprofile", "-c", script],
      env: { PATH: "/usr/bin:/bin", TERM: "xterm-256color" },
      cwd: "/",
      size: { cols: 80, rows: 24 },
    },
    {
      data: (bytes) => {
        parts.push(bytes);
      },
      exit: exited.resolve,
    },
  );
  onTestFinished(async () => {
    pty.resume();
    if (isThere(pty.pid)) process.kill(pty.pid, "SIGKILL");
    await exited.promise;
  });
  return {
    pty,
    output: () => Buffer.concat(parts).toString("latin1"),
    size: () => parts.reduce((sum, part) => sum + part.length, 0),
    exited: exited.promise,
  };
}

test("[PTY-36] what was written before a question to the kernel can be had before its answer is believed", async () => {
  const { pty, output } = run("stty -opost; exec sleep 1000");
  const slave = openSync(pty.slavePath, constants.O_RDWR | constants.O_NOCTTY);
  onTestFinished(() => closeSync(slave));

  for (let round = 1; round <= 50; round += 1) {
    writeSync(slave, "x");
    pty.readNow(); // nothing else of this program has run meanwhile
    expect(output().length).toBe(round);
  }
});

test("[PTY-1] bytes come as they are", async () => {
  const { output, exited } = run(String.raw`stty raw -opost; printf '\377\376\000\r\n\303'`);

  await exited;

  expect(Buffer.from(output(), "latin1")).toEqual(Buffer.from([0xff, 0xfe, 0, 13, 10, 0xc3]));
});

test.each([
  { script: "exit 3", exit: { exitCode: 3 } },
  { script: "kill -9 $$", exit: { signal: "SIGKILL" } },
  { script: "true", exit: { exitCode: 0 } },
])("[PTY-2] $script ends with its code or the name of its signal", async ({ script, exit }) => {
  expect(await run(script).exited).toEqual(exit);
});

test("[PTY-3] the end comes after the last byte", async () => {
  const { size, exited } = run("head -c 3000000 /dev/zero; exit 1");

  expect([await exited, size()]).toEqual([{ exitCode: 1 }, 3_000_000]);
});

test("[PTY-3] what was not read before the program ended is still read", async () => {
  const { pty, output, exited } = run("stty raw -opost -echo; printf begin; read; head -c 3000 /dev/zero; printf end");
  await eventually(() => expect(output()).toBe("begin"));
  pty.pause();
  writeSync(pty.fd, "\n");
  await eventually(() => expect(isThere(pty.pid)).toBe(false));
  expect(output()).toBe("begin");

  pty.resume();

  await exited;
  expect(output()).toBe(`begin${"\0".repeat(3000)}end`);
});

test("[PTY-4] a child that keeps the terminal open does not keep the end from coming", async () => {
  const { pty, output, exited } = run("(trap '' HUP; echo $BASHPID; exec sleep 60) & read; exit 4");
  await eventually(() => expect(output()).toMatch(/\d+\r\n/));
  const holder = Number.parseInt(output(), 10);
  onTestFinished(() => void process.kill(holder, "SIGKILL"));

  writeSync(pty.fd, "\n");

  expect(await exited).toEqual({ exitCode: 4 });
});

test("[PTY-5] no descriptor and no zombie stays", async () => {
  await run("true").exited;
  const before = readdirSync("/proc/self/fd").length;
  const count = soakCount(2_000);

  const pids = await endAll(count);

  await eventually(() => expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before));
  expect(pids.filter(isThere)).toEqual([]);
});

test("[PTY-5] the size is the program's", async () => {
  const { pty, output, exited } = run("stty size; read; stty size");
  await eventually(() => expect(output()).toContain("24 80"));

  pty.resize({ cols: 132, rows: 50 });
  writeSync(pty.fd, "\n");

  await exited;
  expect(output()).toContain("50 132");
});

async function endAll(count: number): Promise<number[]> {
  const pids: number[] = [];
  while (pids.length < count) {
    const batch = Array.from({ length: 20 }, () => run("echo hello"));
    // Twenty at a time: the machine is shared.
    // oxlint-disable-next-line no-await-in-loop
    await Promise.all(batch.map((it) => it.exited));
    pids.push(...batch.map((it) => it.pty.pid));
  }
  return pids;
}

/** Also as a zombie. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
