import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { IS_ROOT } from "../../test/support/account.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { deadRuns, RUNNER_FILE } from "./left-runs.ts";
import { RunDirectory } from "./run-directory.ts";

const RUN = `import { spawn } from "node:child_process";
import { inRunDirectory } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
await inRunDirectory(async ({ path, env }) => {
  const { pid } = spawn("sleep", ["1000"], { env: { ...process.env, ...env }, stdio: "ignore", detached: true });
  console.log(JSON.stringify({ path, pid }));
  await new Promise((resolve) => process.stdin.once("data", resolve));
});
process.exit();`;

type Running = { readonly child: ChildProcess; readonly path: string; readonly pid: number };

async function startRun(place: string): Promise<Running> {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", RUN], {
    env: { ...process.env, TMPDIR: place },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface(child.stdout))
    if (line.startsWith("{")) return { child, ...(JSON.parse(line) as Omit<Running, "child">) };
  throw new Error("it ended before it began");
}

test("[HSE-31] the next run removes what a killed runner left, and leaves a run beside it alone", async () => {
  const place = await temporaryDirectory();
  const killed = await startRun(place);
  const beside = await startRun(place);
  killed.child.kill("SIGKILL");
  await once(killed.child, "exit");
  expect([killed, beside].map(({ path }) => existsSync(path))).toEqual([true, true]);

  const next = await startRun(place);

  expect([killed, beside, next].map(({ path }) => existsSync(path))).toEqual([false, true, true]);
  expect([killed, beside, next].map(({ pid }) => lives(pid))).toEqual([false, true, true]);
  for (const { child } of [beside, next]) child.stdin?.write("\n");
  await Promise.all([beside, next].map(({ child }) => once(child, "exit")));
});

test("[HSE-31] a number that was given away again, or counted before the machine began anew, is a dead runner's", async () => {
  const place = await temporaryDirectory();
  const { path } = new RunDirectory(place);
  const runner = JSON.parse(readFileSync(join(path, RUNNER_FILE), "utf8")) as Record<string, unknown>;
  const told = (change: Readonly<Record<string, unknown>>): string[] => {
    writeFileSync(join(path, RUNNER_FILE), JSON.stringify({ ...runner, ...change }));
    return deadRuns(place).map((it) => it.path);
  };

  expect([told({}), told({ beganAt: 1 }), told({ boot: "before" })]).toEqual([[], [path], [path]]);
  const elsewhere = [{ host: "another" }, { namespace: "pid:[1]" }, { pid: "1" }];
  expect(elsewhere.map((it) => told({ beganAt: 1, ...it }))).toEqual([[], [], []]);
});

test("[HSE-31] what no run of this account made stays", async () => {
  const place = await temporaryDirectory();
  const dead = new RunDirectory(place).path;
  const runner = JSON.parse(readFileSync(join(dead, RUNNER_FILE), "utf8")) as Record<string, unknown>;
  const content = JSON.stringify({ ...runner, beganAt: 1 });
  writeFileSync(join(dead, RUNNER_FILE), content);
  const [named, begun] = [join(place, "ss-mine"), join(place, "ss-abcdef")];
  for (const path of [named, begun]) mkdirSync(path);
  writeFileSync(join(named, RUNNER_FILE), content);
  symlinkSync(dead, join(place, "ss-linked"));

  expect(deadRuns(place)).toEqual([{ path: dead, session: undefined, beganAt: 1 }]);
  // Of a run from before the machine began anew no process is left, whatever the number says.
  writeFileSync(join(dead, RUNNER_FILE), JSON.stringify({ ...runner, boot: "before", beganAt: 1 }));
  expect(deadRuns(place)).toEqual([{ path: dead, session: undefined, beganAt: Number.POSITIVE_INFINITY }]);
});

test.runIf(IS_ROOT)(
  "[HSE-31] neither another account's directory nor what another wrote is believed (needs root)",
  async () => {
    const place = await temporaryDirectory();
    const runs = [new RunDirectory(place).path, new RunDirectory(place).path];
    for (const path of runs) {
      const runner = JSON.parse(readFileSync(join(path, RUNNER_FILE), "utf8")) as Record<string, unknown>;
      writeFileSync(join(path, RUNNER_FILE), JSON.stringify({ ...runner, beganAt: 1 }));
    }
    expect(deadRuns(place).length).toBe(2);

    const [theirs = "", written = ""] = runs;
    chownSync(theirs, 65_534, 65_534);
    chownSync(join(written, RUNNER_FILE), 65_534, 65_534);

    expect(deadRuns(place)).toEqual([]);
  },
);

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
