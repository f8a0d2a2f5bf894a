/**
 * What is left of runs whose runner was killed. Each runner writes down in the directory of its run who it is; the next
 * run removes the directories whose runner is dead. Rule HSE-31 in docs/spec/house.md.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { readOwn } from "./accounts.ts";
import { isGone, type Run, stateOf } from "./left-processes.ts";

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
      if (runner === undefined || !isDead(runner)) return [];
      // The clock of processes begins anew with the machine: no process of today is of a run from before.
      const beganAt = runner.boot === here()?.boot ? runner.beganAt : Number.POSITIVE_INFINITY;
      return [{ path, session: undefined, beganAt }];
    });
}

function ourselves(): Runner | undefined {
  const [machine, state] = [here(), stateOf(process.pid)];
  return machine && state && { ...machine, pid: process.pid, beganAt: state.beganAt };
}

/** Undefined where /proc doesn't tell. */
function here(): Pick<Runner, "host" | "boot" | "namespace"> | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { host: hostname(), boot, namespace: readlinkSync("/proc/self/ns/pid") };
  } catch {
    return undefined;
  }
}

/** Only what can be seen from here is dead: another machine or container may share the place. */
function isDead({ host, boot, namespace, pid, beganAt }: Runner): boolean {
  const ours = here();
  if (host !== ours?.host) return false;
  if (boot !== ours.boot) return true;
  if (namespace !== ours.namespace) return false;
  const state = stateOf(pid);
  return state === undefined ? isGone(pid) : state.isDead || state.beganAt !== beganAt;
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
