/**
 * What is left of runs whose runner was killed. Each runner writes down in the directory of its run who it is; the next
 * run removes the directories whose runner is dead. Rule HSE-31 in docs/spec/house.md.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOwn } from "./accounts.ts";
import { type Run, stateOf } from "./left-processes.ts";

/** In the directory of the run. */
export const RUNNER_FILE = "runner";
/** As `mkdtemp` makes it. */
export const RUN_PREFIX = "ss-";
const OF_A_RUN = /^ss-[A-Za-z0-9]{6}$/;

/** A number of a process alone says nothing: it is given away again, and each container counts for itself. */
type Runner = {
  readonly host: string;
  readonly boot: string;
  readonly namespace: string;
  readonly pid: number;
  readonly beganAt: number;
};

/** Without /proc nothing is written: nobody could tell later whether the runner lives. */
export function rememberRunner(directory: string): void {
  const runner = ourselves();
  if (runner === undefined) return;
  writeFileSync(join(directory, RUNNER_FILE), JSON.stringify(runner), { flag: "wx", mode: 0o600 });
}

/** Those of this account that lie there. */
export function deadRuns(place: string): Run[] {
  return namesIn(place)
    .filter((name) => OF_A_RUN.test(name))
    .map((name) => join(place, name))
    .filter(isOurDirectory)
    .flatMap((path) => {
      const runner = runnerOf(path);
      return runner === undefined || !isDead(runner) ? [] : [{ path, session: undefined, beganAt: runner.beganAt }];
    });
}

function ourselves(): Runner | undefined {
  const state = stateOf(process.pid);
  if (state === undefined) return undefined;
  return { ...here(), pid: process.pid, beganAt: state.beganAt };
}

function here(): Pick<Runner, "host" | "boot" | "namespace"> {
  return {
    host: hostname(),
    boot: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    namespace: readlinkSync("/proc/self/ns/pid"),
  };
}

/** Only what can be seen from here is dead: another machine or container may share the place. */
function isDead({ host, boot, namespace, pid, beganAt }: Runner): boolean {
  const ours = here();
  if (host !== ours.host) return false;
  if (boot !== ours.boot) return true;
  if (namespace !== ours.namespace) return false;
  const state = stateOf(pid);
  return state === undefined || state.isDead || state.beganAt !== beganAt;
}

/** Undefined where nobody wrote, or somebody else: a run that has just begun, or one of an older checkout. */
function runnerOf(directory: string): Runner | undefined {
  try {
    const runner = JSON.parse(readOwn(join(directory, RUNNER_FILE))) as Partial<Runner>;
    const { host, boot, namespace, pid, beganAt } = runner;
    const texts = [host, boot, namespace].every((it) => typeof it === "string");
    return texts && Number.isInteger(pid) && Number.isInteger(beganAt) ? (runner as Runner) : undefined;
  } catch {
    return undefined;
  }
}

function isOurDirectory(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === process.getuid?.();
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
