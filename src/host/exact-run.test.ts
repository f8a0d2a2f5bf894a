import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DEADLINE_MS } from "../../test/support/deadline.ts";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { type ApprovedFile, type ExactCommand, runExactly } from "./exact-run.ts";
import { soakCount } from "../../test/support/soak.ts";

const TRIES = soakCount(1_000);

function approved(path: string): ApprovedFile {
  return { path, digest: createHash("sha256").update(readFileSync(path)).digest("hex") };
}

function directory(path: string): ExactCommand["cwd"] {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, identity: `${dev}:${ino}` };
}

async function place(): Promise<{ readonly cwd: ExactCommand["cwd"]; readonly file: (name: string) => string }> {
  const home = await temporaryDirectory();
  return { cwd: directory(home), file: (name) => join(home, name) };
}

const USUAL = { env: { PATH: "/usr/bin:/bin" }, timeoutMs: DEADLINE_MS, scripts: [] };
const SH = "/usr/bin/dash";
const text = ({ stdout }: { readonly stdout: Uint8Array }): string => Buffer.from(stdout).toString();

test("[APR-31] a program gets its name, its arguments, its environment and its directory, and no input", async () => {
  const { cwd } = await place();
  const script = 'echo "$0 $1 $X"; pwd; cat; echo wrong >&2; exit 9';

  const result = await runExactly({
    ...USUAL,
    argv: ["my-name", "-c", script, "zero", "one"],
    program: approved(SH),
    cwd,
    env: { ...USUAL.env, X: "y" },
  });

  expect(result).toMatchObject({ exitCode: 9, timedOut: false, truncated: false });
  expect(text(result)).toBe(`zero one y\n${cwd.path}\n`);
  expect(Buffer.from(result.stderr).toString()).toBe("wrong\n");
});

test("[APR-31] the name of a program stays as it was given", async () => {
  const { cwd } = await place();

  const result = await runExactly({
    ...USUAL,
    argv: ["some name", "-c", String.raw`tr '\0' '\n' </proc/$$/cmdline | head -1`],
    program: approved(SH),
    cwd,
  });

  expect(text(result)).toBe("some name\n");
});

test("[APR-31] a script as argument, and one that names its interpreter, run from what was read", async () => {
  const { cwd, file } = await place();
  writeFileSync(file("a.sh"), "echo script $1\n");
  writeFileSync(file("b"), "#!/usr/bin/env dash\necho own $1\n", { mode: 0o755 });

  const asArgument = await runExactly({
    ...USUAL,
    argv: ["sh", "a.sh", "one"],
    program: approved(SH),
    scripts: [{ ...approved(file("a.sh")), argument: 1 }],
    cwd,
  });
  const itself = await runExactly({
    ...USUAL,
    argv: ["./b", "two"],
    program: approved(file("b")),
    interpreter: approved(SH),
    cwd,
  });

  expect([text(asArgument), text(itself)]).toEqual(["script one\n", "own two\n"]);
});

test.each([
  {
    what: "program",
    change: (file: (name: string) => string) => writeFileSync(file("tool"), "#!/bin/sh\ntouch evil\n"),
  },
  { what: "script:", change: (file: (name: string) => string) => writeFileSync(file("a.sh"), "touch evil\n") },
  {
    what: "cwd",
    change: (file: (name: string) => string) => {
      renameSync(file("work"), file("gone"));
      mkdirSync(file("work"));
    },
  },
])("[APR-31] another $what is refused, and nothing runs", async ({ what, change }) => {
  const { file } = await place();
  mkdirSync(file("work"));
  copyFileSync(SH, file("tool"));
  chmodSync(file("tool"), 0o755);
  writeFileSync(file("a.sh"), "echo ran\n");
  const command: ExactCommand = {
    ...USUAL,
    argv: ["tool", "a.sh"],
    program: approved(file("tool")),
    scripts: [{ ...approved(file("a.sh")), argument: 1 }],
    cwd: directory(file("work")),
  };
  expect(text(await runExactly(command))).toBe("ran\n");

  change(file);

  const refused = { code: "approval_stale", details: { changed: [expect.stringContaining(what) as string] } };
  await expect(runExactly(command)).rejects.toMatchObject(refused);
  expect(["work/evil", "evil"].some((name) => existsSync(file(name)))).toBe(false);
});

test("[APR-31] a link leads to what was approved, or nothing runs", async () => {
  const { cwd, file } = await place();
  writeFileSync(file("good"), "echo good\n");
  writeFileSync(file("evil"), "echo evil\n");
  symlinkSync("good", file("link"));
  const scripts = [{ ...approved(file("link")), argument: 1 }];
  const command: ExactCommand = { ...USUAL, argv: ["sh", "link"], program: approved(SH), scripts, cwd };
  expect(text(await runExactly(command))).toBe("good\n");

  symlinkSync("evil", file("other"));
  renameSync(file("other"), file("link"));

  await expect(runExactly(command)).rejects.toMatchObject({ code: "approval_stale" });
});

test("[APR-31] what changes its script while it runs changes another file than it reads", async () => {
  const { cwd, file } = await place();
  writeFileSync(file("a.sh"), 'echo "echo evil" >"$1"; echo one; cat "$0" | head -c 4\n');
  const scripts = [{ ...approved(file("a.sh")), argument: 1 }];

  const argv = ["sh", "a.sh", file("a.sh")] as const;
  const result = await runExactly({ ...USUAL, argv: [...argv], program: approved(SH), scripts, cwd });

  expect(text(result)).toBe("one\necho");
  expect(readFileSync(file("a.sh"), "utf8")).toBe("echo evil\n");
});

test("[APR-32] at its time limit, and at its end, all of its group is killed", async () => {
  const { cwd, file } = await place();
  const run = (script: string, timeoutMs: number) =>
    runExactly({ ...USUAL, argv: ["sh", "-c", script], program: approved(SH), cwd, timeoutMs });

  const late = await run("echo $$ >first; sleep 1000 & sleep 1000", DEADLINE_MS / 10);
  const left = await run("sleep 1000 & echo $! >second; exit 3", DEADLINE_MS);

  expect(late).toMatchObject({ signal: "SIGKILL", timedOut: true });
  expect(left).toMatchObject({ exitCode: 3, timedOut: false });
  const pids = ["first", "second"].map((name) => Number(readFileSync(file(name), "utf8")));
  await eventually(() => expect(pids.filter((pid) => isRunning(pid))).toEqual([]));
});

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

test("[APR-32] of endless output the beginning is kept", async () => {
  const { cwd } = await place();

  const result = await runExactly({
    ...USUAL,
    argv: ["sh", "-c", "head -c 3000000 /dev/zero"],
    program: approved(SH),
    cwd,
  });

  expect(result).toMatchObject({ exitCode: 0, truncated: true });
  expect(result.stdout.length).toBe(1024 * 1024);
});

/** Changes both, in every way, without a pause. */
const SWAPPER = `
use strict;
my ($dir) = @ARGV;
chdir $dir or die;
print "on\\n"; $| = 1; print "\\n";
while (1) {
  for my $name ("tool", "a.sh") {
    rename "$name.evil", "$name.x"; rename $name, "$name.evil"; rename "$name.x", $name;
    select(undef, undef, undef, rand() * 0.004);
    rename "$name.evil", "$name.x"; rename $name, "$name.evil"; rename "$name.x", $name;
  }
  open(my $out, "+<", "b.sh"); syswrite($out, "echo evil\\n"); select(undef, undef, undef, rand() * 0.002);
  seek($out, 0, 0); syswrite($out, "echo good\\n"); close $out;
}
`;

test("[APR-31] of files that are swapped as fast as can be, nothing but what was approved ever runs (needs perl)", async () => {
  const { cwd, file } = await place();
  copyFileSync(SH, file("tool"));
  writeFileSync(file("tool.evil"), "#!/bin/sh\necho evil\n");
  for (const name of ["tool", "tool.evil"]) chmodSync(file(name), 0o755);
  writeFileSync(file("a.sh"), "echo good\n");
  writeFileSync(file("a.sh.evil"), "echo evil\n");
  writeFileSync(file("b.sh"), "echo good\n");
  const usual = { ...USUAL, program: approved(file("tool")), cwd };
  const commands = ["a.sh", "b.sh"].map((name): ExactCommand => ({
    ...usual,
    argv: ["tool", name],
    scripts: [{ ...approved(file(name)), argument: 1 }],
  }));
  const swapper = spawn("/usr/bin/perl", ["-e", SWAPPER, cwd.path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  await new Promise((resolve) => swapper.stdout.once("data", resolve));

  const outcomes = new Map<string, number>();
  for (let round = 0; round < TRIES; round += 1) {
    const outcome = await runExactly(commands[round % 2]!).then(text, (error: { code: string }) => error.code);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  expect([...outcomes.keys()].filter((it) => it !== "approval_stale")).toEqual(["good\n"]);
});
