/**
 * Installs the Debian packages that tests need, where that is possible: on Debian, as root or with a sudo that asks
 * nothing. Everywhere else it says what is missing, and the tests that need it are skipped. It never fails a run.
 * Rule HSE-25 in docs/spec/house.md.
 *
 *   node tools/suite/packages.ts    all of tools/debian-packages.txt
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { isMain, ROOT, testFiles } from "../source-files.ts";
import { isMissing, needsInSource, packageOf, PROGRAM_NAMES } from "./needs.ts";

/** For all that apt-get does: another run of the tests, or the system itself, may hold its locks for hours. */
const WITHIN_MS = 10 * 60_000;
const AGAIN_AFTER_MS = 1_000;
const TELL_AFTER_MS = 3_000;
/** How long apt-get may take to heed the interrupt. After that nobody waits for it any more. */
const GRACE_MS = 10_000;
/** apt-get can't be told to wait for the lock of its package lists, so each try fails at once and is made again here. */
const DONT_WAIT = ["-o", "DPkg::Lock::Timeout=0"];
const IS_LOCKED = /^E: Could not get lock|^dpkg: error: .* lock was locked by another/m;

type Ran = { readonly ok: boolean; readonly output: string };
type Tried = Ran & { readonly isOutOfTime: boolean };
type Apt = (...words: readonly string[]) => Promise<Tried>;

/** For all tests; with filters only what the titles in the chosen files name. */
export async function installPackages(filters: readonly string[] = [], withinMs = WITHIN_MS): Promise<void> {
  const missing = filters.length === 0 ? await missingPackages() : missingFor(filters);
  if (missing.length === 0) return;
  const prefix = await rootPrefix();
  if (prefix !== undefined) {
    console.log(`installing Debian packages: ${missing.join(", ")}`);
    const output = await install(missing, aptUntil(performance.now() + withinMs, prefix));
    if (output === undefined) return;
    console.log(`apt-get could not install everything:\n${output}`);
  }
  const still = missing.filter((name) => programsOf(name).some(isMissing));
  if (still.length === 0) return;
  const line = `apt-get update && apt-get install -y --no-install-recommends ${still.join(" ")}`;
  console.log(`Tests that need ${still.join(", ")} will be skipped. To run them too, as root: ${line}`);
}

/**
 * All at once and, where that fails, one by one: a system that lacks one of them, or has one broken source of packages,
 * still gets the others. Returns what apt-get said of the failures.
 */
async function install(names: readonly string[], apt: Apt): Promise<string | undefined> {
  const tried: Tried[] = [await apt("update")];
  const installed: Apt = (...packages) => apt("install", "-y", "--no-install-recommends", ...packages);
  const all = tried[0]?.isOutOfTime === true ? undefined : await installed(...names);
  if (all?.ok === true) return undefined;
  if (all?.isOutOfTime === true) tried.push(all);
  for (const name of names) {
    if (tried.at(-1)?.isOutOfTime === true) break;
    tried.push(await installed(name));
  }
  const failed = tried.filter(({ ok }) => !ok);
  return failed.length === 0 ? undefined : failed.map(({ output }) => lastLines(output)).join("\n");
}

/** One deadline for everything that it is asked. Until then it tries again while somebody else holds a lock. */
function aptUntil(until: number, prefix: readonly string[]): Apt {
  const tellAt = performance.now() + TELL_AFTER_MS;
  let isTold = false;
  return async (...words) => {
    for (;;) {
      const ran = await runApt(prefix, words, until - performance.now());
      const isLocked = !ran.ok && IS_LOCKED.test(ran.output);
      if (isLocked && !isTold && performance.now() >= tellAt) {
        isTold = true;
        console.log("waiting for another program that holds the lock of apt-get …");
      }
      const isOutOfTime = performance.now() + (isLocked ? AGAIN_AFTER_MS : 0) >= until;
      if (!isLocked || isOutOfTime) return { ...ran, isOutOfTime };
      await later(AGAIN_AFTER_MS);
    }
  };
}

/** An interrupt ends it between two packages. Killed, it would leave one half installed. */
function runApt(prefix: readonly string[], words: readonly string[], withinMs: number): Promise<Ran> {
  const seconds = String(Math.max(1, Math.ceil(withinMs / 1000)));
  const limited = ["timeout", "--foreground", "--signal=INT", seconds, "apt-get", ...DONT_WAIT, ...words];
  // The words that it says of a lock are looked for.
  return run([...prefix, "env", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", ...limited], withinMs + GRACE_MS);
}

/** Of the whole list; where there is no dpkg, what Debian calls the programs that aren't there. */
async function missingPackages(): Promise<string[]> {
  if (isMissing("dpkg-query")) return [...new Set(PROGRAM_NAMES.filter(isMissing).map(packageOf))];
  const needed = listedPackages();
  const { output } = await run(["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\\n", ...needed]);
  const installed = new Set(output.split("\n"));
  return needed.filter((name) => !installed.has(`${name} installed`));
}

/** One name a line, with the reason behind `#`. */
export function listedPackages(): string[] {
  return readFileSync(join(ROOT, "tools", "debian-packages.txt"), "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((name) => name !== "");
}

function missingFor(filters: readonly string[]): string[] {
  const names = testFiles(filters, "{test,contract}.ts").flatMap((path) =>
    needsInSource(path, readFileSync(join(ROOT, path), "utf8")),
  );
  return [...new Set(names.filter(isMissing).map(packageOf))];
}

function programsOf(packageName: string): string[] {
  return PROGRAM_NAMES.filter((name) => packageOf(name) === packageName);
}

/** The words that run a command as root; undefined where there is no way, or no apt-get. */
async function rootPrefix(): Promise<readonly string[] | undefined> {
  if (isMissing("apt-get")) return undefined;
  if (process.getuid?.() === 0) return [];
  return (await run(["sudo", "-n", "true"])).ok ? ["sudo", "-n"] : undefined;
}

function run([file = "", ...parameters]: readonly string[], withinMs?: number): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const end = (ran: Ran): void => {
      clearTimeout(timer);
      resolve(ran);
    };
    const leave = (): void => {
      for (const it of [child, child.stdout as Socket, child.stderr as Socket]) it.unref();
      end({ ok: false, output: `${output}\n${file} didn't end` });
    };
    const timer = withinMs === undefined ? undefined : setTimeout(leave, withinMs);
    child.on("error", (error) => end({ ok: false, output: String(error) }));
    child.on("close", (code) => end({ ok: code === 0, output: code === 124 ? `${output}\nit took too long` : output }));
  });
}

function lastLines(output: string): string {
  return output.trimEnd().split("\n").slice(-5).join("\n");
}

if (isMain(import.meta.url)) await installPackages();
