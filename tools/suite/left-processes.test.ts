import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { killProcessesOf, processesOf, type Run, stateOf } from "./left-processes.ts";
import { leftoverLines, RunDirectory } from "./run-directory.ts";

const PATH = process.env["PATH"] ?? "";

/** Waits until it runs: before that, it looks like the one that started it. */
async function sleep(options: Parameters<typeof spawn>[2]): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn("sleep", ["1000"], { stdio: "ignore", ...options });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child as ChildProcess & { readonly pid: number };
}

function openDirectory(): RunDirectory {
  const directory = new RunDirectory();
  onTestFinished(() => directory.remove());
  return directory;
}

test("[HSE-30] a person's processes in the directory of a run are told and live on", async () => {
  const place = openDirectory();
  // Sessions of their own, as a terminal has, from before the run.
  const reader = await sleep({ cwd: place.path, env: { PATH, PWD: place.path }, detached: true });
  const beganAt = await later(reader.pid);
  const { runner, inside } = await runnerWithChild(place.path);
  const run: Run = { path: place.path, session: runner.pid, beganAt };
  const own = await sleep({ env: { PATH, TMPDIR: join(place.path, "deep") }, detached: true });
  const begun = await sleep({ cwd: place.path, env: { PATH }, detached: true });

  const named = processesOf(run);
  const ofDead = processesOf({ ...run, session: undefined });
  killProcessesOf(run);
  await eventually(() => expect([own, begun].map((it) => it.signalCode)).toEqual(["SIGKILL", "SIGKILL"]));
  await eventually(() => expect(stateOf(inside.pid)?.isDead ?? true).toBe(true));

  const listed = (...children: { readonly pid: number }[]) =>
    children.map(({ pid }) => ({ pid, command: "sleep 1000" })).toSorted((a, b) => a.pid - b.pid);
  expect(named).toEqual({ own: listed(own, inside, begun), others: listed(reader) });
  expect(ofDead).toEqual({ own: listed(own), others: listed(reader, inside, begun) });
  expect([reader.signalCode, runner.signalCode]).toEqual([null, null]);
  expect(leftoverLines({ files: [], processes: [], others: listed(reader), mounts: [], accounts: [] })).toEqual([
    "",
    "left running, because no test started them (1):",
    `  process ${reader.pid}: sleep 1000`,
  ]);
});

test("[HSE-30] a process whose session has lost its leader is the run's, also when it says nothing of itself", async () => {
  const place = openDirectory();
  mkdirSync(join(place.path, "in"));
  const script = `sleep 1000 >/dev/null & echo $!`;
  const leader = spawn("sh", ["-c", script], { cwd: join(place.path, "in"), env: { PATH }, detached: true });
  const [pid] = await Promise.all([text(leader.stdout), once(leader, "exit")]);

  await eventually(() =>
    expect(processesOf({ path: place.path, session: undefined, beganAt: 0 }).own).toEqual([
      { pid: Number(pid), command: "sleep 1000" },
    ]),
  );
});

test("[HSE-30] a process whose session is led from outside of the container is not the run's (needs unshare and namespaces)", async () => {
  const place = openDirectory();
  const script = `
    import { spawn } from "node:child_process";
    import { processesOf } from ${JSON.stringify(join(import.meta.dirname, "left-processes.ts"))};
    const { PATH, PLACE: path } = process.env;
    const { pid } = spawn("sleep", ["1000"], { cwd: path, env: { PATH }, stdio: "ignore" });
    console.log(JSON.stringify({ pid, ...processesOf({ path, session: undefined, beganAt: 0 }) }));
    process.exit();`;
  const namespaces = [...(process.getuid?.() === 0 ? [] : ["-Ur"]), "--pid", "--fork", "--mount-proc"];
  const node = [process.execPath, "--input-type=module", "-e", script];
  const inside = spawn("unshare", [...namespaces, ...node], {
    env: { PATH, PLACE: place.path },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [told] = await Promise.all([text(inside.stdout), once(inside, "exit")]);

  const { pid, ...named } = JSON.parse(told);
  expect(named).toEqual({ own: [], others: [{ pid, command: "sleep 1000" }] });
});

/** The leader of a session, which names nothing, and a process of that session in a directory. */
async function runnerWithChild(
  cwd: string,
): Promise<{ readonly runner: ChildProcess; readonly inside: { pid: number } }> {
  const script = "sleep 1000 >/dev/null & cd / && echo $! && exec env -u PWD -u OLDPWD sleep 1000 >/dev/null";
  const runner = spawn("sh", ["-c", script], { cwd, env: { PATH }, detached: true });
  onTestFinished(() => void runner.kill("SIGKILL"));
  return { runner, inside: { pid: Number(await text(runner.stdout)) } };
}

/** A run that begins after that process. */
async function later(pid: number): Promise<number> {
  const before = stateOf(pid)?.beganAt ?? 0;
  return eventually(async () => {
    const child = await sleep({});
    const { beganAt } = stateOf(child.pid) ?? { beganAt: 0 };
    child.kill("SIGKILL");
    expect(beganAt).toBeGreaterThan(before);
    return beganAt;
  });
}
