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
import { filesIn, isMain, isTestFile, ROOT } from "../source-files.ts";
import { isMissing, needsInSource, packageOf, PROGRAM_NAMES } from "./needs.ts";

type Ran = { readonly isWell: boolean; readonly output: string };

/** For all tests; with filters only what the titles in the chosen files name. */
export async function installPackages(filters: readonly string[] = []): Promise<void> {
  const missing = filters.length === 0 ? await missingPackages() : missingFor(filters);
  if (missing.length === 0) return;
  const line = `apt-get update && apt-get install -y --no-install-recommends ${missing.join(" ")}`;
  const prefix = await rootPrefix();
  if (prefix === undefined) {
    console.log(`Tests that need ${missing.join(", ")} will be skipped. To run them too, as root: ${line}`);
    return;
  }
  console.log(`installing Debian packages: ${missing.join(", ")}`);
  const { isWell, output } = await run([...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", line]);
  if (!isWell) console.log(`This failed, and tests that need those packages will be skipped: ${line}\n${output}`);
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
  const files = filesIn(ROOT, "{src,test,tools}/**/*.ts").filter(isTestFile);
  const chosen = files.filter((path) => filters.some((it) => join(ROOT, path).includes(it)));
  const names = chosen.flatMap((path) => needsInSource(path, readFileSync(join(ROOT, path), "utf8")));
  return [...new Set(names)].filter(isMissing).map(packageOf);
}

/** What makes a command root's; undefined where nothing does, or where Debian's tools are not there. */
async function rootPrefix(): Promise<readonly string[] | undefined> {
  if (isMissing("apt-get")) return undefined;
  if (process.getuid?.() === 0) return [];
  return (await run(["sudo", "-n", "true"])).isWell ? ["sudo", "-n"] : undefined;
}

function run([file = "", ...parameters]: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", (error) => resolve({ isWell: false, output: String(error) }));
    child.on("close", (code) => resolve({ isWell: code === 0, output }));
  });
}

if (isMain(import.meta.url)) await installPackages();
