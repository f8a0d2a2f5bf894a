import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { IS_ROOT, othersMayEnter } from "../../test/support/account.ts";
import { ROOT } from "../source-files.ts";
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
    others: [],
    mounts: [],
    accounts: [],
  });
  expect(leftoverLines(left)).toEqual([
    "",
    "left behind by tests (3):",
    "  file sidestick-left/ (spool)",
    "  file ~/.left",
    `  process ${child.pid}: sleep 1000`,
  ]);

  directory.remove();
  expect(await ended).toEqual([null, "SIGKILL"]);
  expect(existsSync(directory.path)).toBe(false);
});

test("[HSE-26] a process that is killed between two runs is still among what was left", async () => {
  const directory = new RunDirectory();
  onTestFinished(() => directory.remove());
  const child = spawn("sleep", ["1000"], { env: { ...process.env, ...directory.env }, stdio: "ignore" });
  const ended = once(child, "exit");

  await directory.clear();

  expect(await ended).toEqual([null, "SIGKILL"]);
  expect((await directory.leftovers()).processes).toEqual([{ pid: child.pid, command: "sleep 1000" }]);
});

// Root may do everything; whoever else runs this is such an account.
const ORDINARY = IS_ROOT ? { uid: 65_534, gid: 65_534 } : {};

test.runIf(!IS_ROOT || othersMayEnter(import.meta.dirname))(
  "[HSE-26] files that nobody may read or remove, and processes that nobody may kill, hold up no run (needs an open checkout)",
  async () => {
    const script = `import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
    import { inRunDirectory } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
    const { left } = await inRunDirectory(async ({ path, env }) => {
      mkdirSync(path + "/closed");
      writeFileSync(path + "/closed/file", "");
      chmodSync(path + "/closed", 0);
      chmodSync(env.HOME, 0);
      console.log(path);
      await new Promise((resolve) => process.stdin.once("data", resolve));
    });
    console.log(JSON.stringify(left.files));
    process.exit(0);`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      ...ORDINARY,
      cwd: "/",
      env: { PATH: process.env.PATH, TMPDIR: "/tmp" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const path = String(await once(child.stdout, "data")).trim();
    const others = spawn("sleep", ["1000"], { cwd: path, stdio: "ignore" });
    onTestFinished(() => void others.kill("SIGKILL"));
    child.stdin.write("\n");

    expect(String(await once(child.stdout, "data"))).toBe(`["closed/"]\n`);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(existsSync(path)).toBe(false);
  },
);

test.runIf(process.getuid?.() === 0)("[HSE-26] an account whose test was killed is removed (needs root)", async () => {
  const script = `import { execFileSync } from "node:child_process";
    import { TemporaryAccount } from ${JSON.stringify(join(ROOT, "test", "support", "account.ts"))};
    console.log(new TemporaryAccount({ hasHome: true }).name);
    process.kill(process.pid, "SIGKILL");`;
  const { run: name, left } = await inRunDirectory(async ({ env }) => {
    const words = ["--input-type=module-typescript", "-e", script];
    const { stdout } = spawnSync(process.execPath, words, { env: { ...process.env, ...env }, encoding: "utf8" });
    expect(existsSync(join("/home", stdout.trim()))).toBe(true);
    return stdout.trim();
  });

  expect(left.accounts).toEqual([name]);
  expect(leftoverLines(left)).toContain(`  account ${name}`);
  expect([existsSync(join("/home", name)), spawnSync("id", [name]).status]).toEqual([false, 1]);
});

test("[HSE-26] a run that leaves nothing says nothing, and its directory is gone also when it fails", async () => {
  let path = "";
  const { run, left } = await inRunDirectory(async (directory) => {
    path = directory.path;
    return 7;
  });
  expect([run, leftoverLines(left), existsSync(path)]).toEqual([7, [], false]);

  const failing = inRunDirectory(async (directory) => {
    path = directory.path;
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(path)).toBe(false);
});

test.each(["SIGTERM", "SIGQUIT"] as const)(
  "[HSE-26] a run that gets %s removes its directory and one inside another",
  async (signal) => {
    const script = `import { inRunDirectory } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
    await inRunDirectory((outer) => inRunDirectory(async (inner) => {
      console.log(JSON.stringify([outer.path, inner.path]));
      await new Promise((resolve) => setTimeout(resolve, 1_000_000));
    }));`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [chunk] = (await once(child.stdout, "data")) as [Buffer];
    const paths = JSON.parse(chunk.toString()) as string[];
    expect(paths.map((it) => existsSync(it))).toEqual([true, true]);

    child.kill(signal);

    expect(await once(child, "exit")).toEqual([130, null]);
    expect(paths.map((it) => existsSync(it))).toEqual([false, false]);
  },
);

test("[HSE-26] Ctrl+C while the directory is being removed changes nothing", async () => {
  const script = `import { existsSync } from "node:fs";
    import { inRunDirectory } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
    const { run } = await inRunDirectory(async (directory) => {
      const remove = directory.remove.bind(directory);
      directory.remove = () => {
        process.kill(process.pid, "SIGINT");
        remove();
      };
      return directory.path;
    });
    console.log(existsSync(run));`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said, exit] = await Promise.all([text(child.stdout), once(child, "exit")]);

  expect([said, exit]).toEqual(["false\n", [0, null]]);
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
