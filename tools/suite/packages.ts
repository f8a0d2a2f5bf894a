/**
 * Installs the Debian packages that tests need, where that is possible: on Debian, as root or with a sudo that asks
 * nothing. Everywhere else it says what is missing, and the tests that need it are skipped. It never fails a run.
 * Rule HSE-25 in docs/spec/house.md.
 *
 *   node tools/suite/packages.ts    all of tools/debian-packages.txt
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, ROOT, testFiles } from "../source-files.ts";
import { isMissing, needsInSource, packageOf, PROGRAM_NAMES } from "./needs.ts";

/** Another run of the tests, or the system itself, may be installing: without waiting, apt-get fails at once. */
const WAIT_FOR_LOCK = ["-o", "DPkg::Lock::Timeout=600"];

type Ran = { readonly ok: boolean; readonly output: string };

/** For all tests; with filters only what the titles in the chosen files name. */
export async function installPackages(filters: readonly string[] = []): Promise<void> {
  const missing = filters.length === 0 ? await missingPackages() : missingFor(filters);
  if (missing.length === 0) return;
  const prefix = await rootPrefix();
  if (prefix !== undefined) {
    console.log(`installing Debian packages: ${missing.join(", ")}`);
    const output = await install(missing, prefix);
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
async function install(names: readonly string[], prefix: readonly string[]): Promise<string | undefined> {
  const apt = (...words: string[]): Promise<Ran> =>
    run([...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...WAIT_FOR_LOCK, ...words]);
  const updated = await apt("update");
  const installed = (...packages: readonly string[]): Promise<Ran> =>
    apt("install", "-y", "--no-install-recommends", ...packages);
  if ((await installed(...names)).ok) return undefined;
  const failed: Ran[] = updated.ok ? [] : [updated];
  for (const name of names) {
    const ran = await installed(name);
    if (!ran.ok) failed.push(ran);
  }
  return failed.length === 0 ? undefined : failed.map(({ output }) => lastLines(output)).join("\n");
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

function run([file = "", ...parameters]: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", (error) => resolve({ ok: false, output: String(error) }));
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

function lastLines(output: string): string {
  return output.trimEnd().split("\n").slice(-5).join("\n");
}

if (isMain(import.meta.url)) await installPackages();
