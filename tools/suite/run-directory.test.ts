import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inRunDirectory, leftoverLines, RunDirectory } from "./run-directory.ts";

test("[HSE-26] files and processes that were left are told, ended and removed", async () => {
  const directory = new RunDirectory();
  onTestFinished(() => directory.remove());
  const { TMPDIR = "", HOME = "" } = directory.env;
  mkdirSync(join(TMPDIR, "sidestick-left"));
  writeFileSync(join(TMPDIR, "sidestick-left", "spool"), "");
  writeFileSync(join(HOME, ".left"), "");
  const child = spawn("sleep", ["1000"], { env: { ...process.env, ...directory.env }, stdio: "ignore" });
  const ended = once(child, "exit");

  const left = await directory.leftovers();
  expect(left).toEqual({
    files: ["sidestick-left/ (spool)", "~/.left"],
    processes: [{ pid: child.pid, command: "sleep 1000" }],
  });
  expect(leftoverLines(left)).toEqual([
    "",
    "left behind by tests (3), now gone:",
    "  file sidestick-left/ (spool)",
    "  file ~/.left",
    `  process ${child.pid}: sleep 1000`,
  ]);

  directory.remove();
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(existsSync(directory.path)).toBe(false);
});

test("[HSE-26] a run that leaves nothing says nothing, and its directory is gone also when it fails", async () => {
  let path = "";
  const { run, left } = await inRunDirectory(async ({ TMPDIR = "" }) => {
    path = TMPDIR;
    return 7;
  });
  expect([run, leftoverLines(left), existsSync(path)]).toEqual([7, [], false]);

  const failing = inRunDirectory(async ({ TMPDIR = "" }) => {
    path = TMPDIR;
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(path)).toBe(false);
});

test("[HSE-26] a run that is interrupted removes its directory and one inside another", async () => {
  const script = `import { inRunDirectory } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
    await inRunDirectory((outer) => inRunDirectory(async (inner) => {
      console.log(JSON.stringify([outer.TMPDIR, inner.TMPDIR]));
      await new Promise((resolve) => setTimeout(resolve, 1_000_000));
    }));`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const paths = JSON.parse(chunk.toString()) as string[];
  expect(paths.map((it) => existsSync(it))).toEqual([true, true]);

  child.kill("SIGTERM");

  expect(await once(child, "exit")).toEqual([130, null]);
  expect(paths.map((it) => existsSync(it))).toEqual([false, false]);
});

test("[HSE-26] directories of programs in /tmp go too, unless they were there before or somebody uses them", () => {
  const names = ["before", "used", "new"].map((name) => join("/tmp", `fish.${name}-${randomUUID()}`));
  const [before = "", used = "", unused = ""] = names;
  onTestFinished(() => names.forEach((it) => rmSync(it, { recursive: true, force: true })));
  mkdirSync(before);
  const directory = new RunDirectory();
  for (const path of [used, unused]) mkdirSync(path);
  writeFileSync(join(used, "socket"), "");
  writeFileSync(join(unused, "fish_universal_variables.notifier"), "");

  directory.remove();

  expect(names.map((it) => existsSync(it))).toEqual([true, true, false]);
});
