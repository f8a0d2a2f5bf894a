import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { testFiles } from "../source-files.ts";
import { temporaryTree } from "../temporary-tree.ts";
import {
  BY_PATH,
  isMissing,
  NAMESPACES,
  needsInSource,
  needsOf,
  packageOf,
  PROGRAM_NAMES,
  programPath,
  unknownNeeds,
} from "./needs.ts";
import { installPackages, listedPackages } from "./packages.ts";
import { skippedLines } from "./summary.ts";

test.each([
  { title: "[ABC-1] runs (needs fish)", needs: ["fish"] },
  { title: "shells (needs root, fish and zsh) [ABC-1] runs (needs sudo)", needs: ["fish", "zsh", "sudo"] },
  { title: "[ABC-1] runs (needs root and an open checkout)", needs: [] },
  { title: "[ABC-1] fish", needs: [] },
])("[HSE-23] a title names the programs that its test needs: $title", ({ title, needs }) => {
  expect(needsOf("src/a.test.ts", title)).toEqual(needs);
});

test("[HSE-23] a folder can need a program as a whole", () => {
  expect(needsOf("test/web/pages.test.ts", "[ABC-1] opens (needs less)")).toEqual(["chromium", "less"]);
});

test("[HSE-23] a word that isn't known is told, one that is a condition of its test is not", () => {
  expect(unknownNeeds("[ABC-1] runs (needs root, fish and fisch)")).toEqual(["fisch"]);
});

/** By what is wrong: in a title the runner would refuse them. */
test.each([
  { what: "brackets inside", need: "(needs fish (3.6))" },
  { what: "a colon", need: "(needs: fish)" },
  { what: "a capital", need: "(Needs fish)" },
  { what: "one thing", need: "(need fish)" },
  { what: "a space", need: "( needs fish)" },
  { what: "other brackets", need: "[needs fish]" },
  { what: "nothing", need: "(needs)" },
  { what: "only a space", need: "(needs )" },
  { what: "no end", need: "(needs fish" },
])("[HSE-23] what looks like a need and can't be read is told: $what", ({ need }) => {
  expect(unknownNeeds(`[ABC-1] runs (needs less) ${need}`)).toEqual([need]);
  expect(unknownNeeds("[ABC-1] needs fish (which needs less)")).toEqual([]);
});

test("[HSE-23] every path of the table begins a test file's, and needs what is known", () => {
  const files = testFiles([], "test.ts");
  const known = new Set([...PROGRAM_NAMES, NAMESPACES]);

  expect(Object.keys(BY_PATH).filter((begin) => !files.some((file) => file.startsWith(begin)))).toEqual([]);
  expect(
    Object.values(BY_PATH)
      .flat()
      .filter((name) => !known.has(name)),
  ).toEqual([]);
});

test("[HSE-23] a program is missing when no folder of the path has it", () => {
  expect([isMissing("sh"), isMissing("no-such-program-anywhere")]).toEqual([false, true]);
});

test("[HSE-23] a browser of another distribution does as well as Debian's", () => {
  using tree = temporaryTree({ chromium: "", "google-chrome": "" });
  for (const name of ["chromium", "google-chrome"]) chmodSync(join(tree.root, name), 0o755);
  vi.stubEnv("PATH", tree.root);
  onTestFinished(() => void vi.unstubAllEnvs());

  expect(programPath("chromium")).toBe(join(tree.root, "chromium"));
});

test.runIf(process.getuid?.() === 0)(
  "[HSE-23] namespaces are missing to who can't make them (needs root and setpriv)",
  () => {
    const path = join(import.meta.dirname, "needs.ts");
    const script = `console.log((await import(${JSON.stringify(path)})).isMissing("${NAMESPACES}"))`;
    const without = ["--bounding-set", "-sys_admin", "--inh-caps", "-all", process.execPath, "-e", script];

    expect(spawnSync("setpriv", without, { encoding: "utf8" }).stdout).toBe("true\n");
  },
);

test("[HSE-23] the summary counts what was skipped, and says how to install what is missing", () => {
  const skipped = { title: "it", state: "skipped", ms: 0 } as const;
  const tests = [
    { ...skipped, missing: ["no-such-shell"] },
    { ...skipped, missing: ["no-such-shell", "no-such-editor"] },
    { ...skipped, title: "[ABC-1] one (needs root)" },
    { ...skipped, title: "[ABC-1] two (only on macOS)" },
    { ...skipped, title: "[ABC-1] three (of four) (needs root)" },
  ];

  expect(skippedLines(tests)).toEqual([
    "skipped 2: no-such-editor, no-such-shell are missing; sudo apt-get install no-such-editor no-such-shell",
    "skipped 3: needs root (2), only on macOS (1)",
  ]);
  expect(skippedLines([{ ...skipped, missing: [NAMESPACES] }])).toEqual([
    "skipped 1: this machine lets nobody make namespaces",
  ]);
});

test.each([
  { what: "a title", source: 'test("[A-1] runs (needs fish)", …)', needs: ["fish"] },
  {
    what: "the rows of a title",
    source: 'const SHELLS = ["bash", "zsh", "fish"]; test.each(SHELLS)("[A-1] %s (needs $shell)", …)',
    needs: ["bash", "zsh", "fish"],
  },
  {
    what: "not what no package has",
    source: 'test("[A-1] is guarded (needs perl and namespaces)", …)',
    needs: ["perl"],
  },
  { what: "not another string", source: 'test("[A-1] fish is quoted", () => run("fish"))', needs: [] },
])("[HSE-25] what a file needs is read from its source: $what", ({ source, needs }) => {
  expect(needsInSource("src/a.test.ts", source)).toEqual(needs);
});

test("[HSE-25] every program that a test can need is in a package that npm test installs", () => {
  const listed = new Set(listedPackages());

  expect(PROGRAM_NAMES.map(packageOf).filter((name) => !listed.has(name))).toEqual([]);
});

test("[HSE-25] tests of the rules need no package", async () => {
  const said: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  await withoutPath(() => installPackages(["src/domain"])).finally(() => log.mockRestore());

  expect(said).toEqual([]);
});

test("[HSE-25] without a package manager the run goes on, and says what will be skipped", async () => {
  const said: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  await withoutPath(() => installPackages()).finally(() => log.mockRestore());

  expect(said).toEqual([
    expect.stringMatching(/^Tests that need .*fish.* will be skipped\. .* as root: apt-get update/),
  ]);
});

/** Writes down how it was called, and doesn't know fish. */
const APT_GET = `#!/bin/sh
echo "$*" >> "$APT_LOG"
for word; do [ "$word" != fish ] || { echo "E: Unable to locate package fish"; exit 100; }; done
`;

/** Another holds a lock for ever. */
const LOCKED = `#!/bin/sh
echo "$*" >> "$APT_LOG"
echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)"
exit 100
`;

/** A source of packages that never answers. */
const STUCK = `#!/bin/sh
echo "$*" >> "$APT_LOG"
exec sleep 600
`;

const QUICK = "-o DPkg::Lock::Timeout=0";

test("[HSE-25] a package that can't be installed doesn't keep the others from it", async () => {
  const { calls, said } = await installedWith(APT_GET);

  const install = `${QUICK} install -y --no-install-recommends`;
  expect(calls).toEqual([
    `${QUICK} update`,
    `${install} ${listedPackages().join(" ")}`,
    ...listedPackages().map((name) => `${install} ${name}`),
  ]);
  expect(said[1]).toBe("apt-get could not install everything:\nE: Unable to locate package fish");
});

test("[HSE-25] an install that is under way is waited for up to one deadline, and the wait is told once", async () => {
  const { calls, said } = await installedWith(LOCKED, 5_000);

  expect(new Set(calls)).toEqual(new Set([`${QUICK} update`]));
  expect(calls.length).toBeGreaterThan(1);
  expect(said.slice(1, 3)).toEqual([
    "waiting for another program that holds the lock of apt-get …",
    expect.stringMatching(/^apt-get could not install everything:\nE: Could not get lock/),
  ]);
});

test("[HSE-25] an apt-get that never ends is interrupted at the deadline, and nothing more is tried", async () => {
  const { calls, said } = await installedWith(STUCK, 1_000);

  expect(calls).toEqual([`${QUICK} update`]);
  expect(said[1]).toMatch(/^apt-get could not install everything:\n\s*it took too long/);
});

/** On a Debian that lacks every package, as somebody with a sudo that asks nothing. */
async function installedWith(aptGet: string, withinMs?: number) {
  using tree = temporaryTree({
    "apt-get": aptGet,
    "dpkg-query": "#!/bin/sh\n",
    sudo: `#!/bin/sh\nshift\nexec "$@"\n`,
  });
  for (const name of ["apt-get", "dpkg-query", "sudo"]) chmodSync(join(tree.root, name), 0o755);
  const log = join(tree.root, "log");
  vi.stubEnv("PATH", `${tree.root}:${process.env.PATH}`);
  vi.stubEnv("APT_LOG", log);
  const said: string[] = [];
  const printed = vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  await installPackages([], withinMs).finally(() => {
    printed.mockRestore();
    vi.unstubAllEnvs();
  });
  return { calls: readFileSync(log, "utf8").trimEnd().split("\n"), said };
}

/** On a machine that has none of the programs. */
async function withoutPath<T>(work: () => Promise<T>): Promise<T> {
  vi.stubEnv("PATH", "/nowhere");
  return work().finally(() => vi.unstubAllEnvs());
}
