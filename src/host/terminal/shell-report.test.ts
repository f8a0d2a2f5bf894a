import { spawn } from "node:child_process";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { closeServices, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { terminate } from "./ending.ts";
import { POISONS } from "./shell-poisons.contract.ts";
import { shellReport, type ShellReport } from "./shell-report.ts";

afterAll(closeServices);

const NAMES = (["bash", "zsh", "fish", "dash"] as const).map((shell) => ({ shell }));

/** What each can say of itself, if it isn't made to lie. */
const ALL_RIGHT = { bash: {}, zsh: {}, fish: {}, dash: { reason: "functions_unseen" } } as const;

/** It never answers: it is not waited for. */
const MUTE = { answerMs: 200 };

async function poisoned(shell: string, ...commands: readonly string[]): Promise<LiveTerminal> {
  const live = await LiveTerminal.open(`/usr/bin/${shell}`);
  for (const command of commands) await live.command(command);
  return live;
}

const reportOf = ({ terminal }: LiveTerminal): Promise<ShellReport> => shellReport(terminal);

test.each(POISONS)("[GRD-28] $shell after `$done` (needs $shell)", async ({ shell, done, told }) => {
  const live = await poisoned(shell, done);

  const { since, ...report } = await reportOf(live);

  expect(report).toEqual({ trusted: shell !== "dash", ...ALL_RIGHT[shell], changes: told });
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.now());
});

test.each(NAMES)(
  "[GRD-28] asking a $shell shows nothing, runs no block, leaves its status, its history and its prompt (needs $shell)",
  async ({ shell }) => {
    const live = await poisoned(shell, "cd /", "false");
    const { frames, terminal } = live;
    const prompt = terminal.prompts.present;
    const before = frames.length;

    const report = await reportOf(live);

    expect(report).toMatchObject({ ...ALL_RIGHT[shell], changes: [] });
    expect(frames.slice(before).filter((it) => it.kind !== "event" || it.type !== "quiet")).toEqual([]);
    expect(terminal.prompts.present).toBe(prompt);
    expect(terminal.blocks.refusal).toBeUndefined();
    await live.command(shell === "fish" ? "echo was $status; history" : "echo was $?; fc -l 1");
    expect(live.output).toContain("was 1");
    expect(live.output).not.toMatch(/__ss|7717|\/ask/);
  },
);

test.each(NAMES.slice(0, 2))(
  "[GRD-28] $shell is asked under set -e, -u, noclobber and a strange IFS (needs $shell)",
  async ({ shell }) => {
    const live = await poisoned(shell, "set -eu; set -C; IFS=/s; evil() { :; }", "true");

    const { changes, trusted } = await reportOf(live);

    expect(trusted).toBe(true);
    expect(changes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      expect.arrayContaining(["function evil", "option errexit"]),
    );
    await live.answers();
  },
);

test("[GRD-28] what another program prints meanwhile is shown", async () => {
  const live = await poisoned("bash", "(while [ -d . ]; do echo beside; sleep 0.001; done) &");
  const from = live.output.length;

  await reportOf(live);

  await eventually(() => expect(live.output.slice(from)).toContain("beside"));
  expect(live.output.slice(from)).not.toContain("7717");
});

test.each([
  {
    shell: "bash",
    lie: "builtin() { :; }; declare() { :; }; printf() { :; }; unset() { :; }; .() { :; }",
    name: "builtin",
  },
  { shell: "bash", lie: "alias builtin=: .=: exec=: trap=:", name: "exec" },
  { shell: "bash", lie: "command_not_found_handle() { :; }", name: "command_not_found_handle" },
  { shell: "zsh", lie: "function . exec print for { : }", name: "exec" },
  { shell: "zsh", lie: "alias -g .=: builtin=:; alias exec=: for=:", name: "exec" },
  { shell: "fish", lie: "function source; end; function contains; end", name: "source" },
  { shell: "dash", lie: "alias .=: trap=: printf=:", name: "trap" },
  { shell: "dash", lie: "alias trap=:; printf() { :; }; alias() { :; }", name: "trap" },
])("[GRD-28] $shell can't look clean by `$lie` (needs $shell)", async ({ shell, lie, name }) => {
  const live = await poisoned(shell, lie);

  const { changes } = await reportOf(live);

  expect(changes).toContainEqual(expect.objectContaining({ name }));
});

test.each([
  { shell: "bash", lie: "builtin() { :; }; readonly -f builtin", reason: "incomplete", names: ["builtin"] },
  { shell: "bash", lie: "enable -n builtin", reason: "no_report", names: [] },
  { shell: "bash", lie: "readonly POSIXLY_CORRECT", reason: "no_report", names: [] },
  { shell: "bash", lie: "set -T; trap 'true' DEBUG", reason: "debug_trap", names: ["DEBUG", "functrace"] },
  { shell: "zsh", lie: "trap 'true' DEBUG", reason: "debug_trap", names: ["DEBUG"] },
  { shell: "zsh", lie: "unset functions; typeset -A functions", reason: "no_report", names: [] },
  { shell: "zsh", lie: "trap() { : }", reason: "overridden", names: ["trap"] },
])("[GRD-29] after `$lie` $shell isn't trusted (needs $shell)", async ({ shell, lie, reason, names }) => {
  const live = await poisoned(shell, lie);

  const report = await reportOf(live);

  expect(report).toMatchObject({ trusted: false, reason });
  expect(report.changes.map((it) => it.name).filter((name) => !name.startsWith("__ss"))).toEqual(
    names.length === 0 ? [] : expect.arrayContaining([...names]),
  );
  await live.answers();
});

test.each([
  { lie: "function builtin { : }", reason: "busy" },
  { lie: "evil() { : }; zle -N accept-line evil", reason: "no_report" },
])("[GRD-29] a zsh whose hooks are gone by `$lie` says nothing that counts (needs zsh)", async ({ lie, reason }) => {
  const live = await LiveTerminal.open("/usr/bin/zsh", undefined, MUTE);
  live.type(`${lie}\r`);

  await eventually(async () => expect(await reportOf(live)).toMatchObject({ trusted: false, reason, changes: [] }));
});

test("[GRD-29] a shell that runs a program, has half a line, or has ended isn't asked", async () => {
  const live = await LiveTerminal.open();
  const reasons: (string | undefined)[] = [];
  const ask = async (): Promise<void> => void reasons.push((await reportOf(live)).reason);

  live.type("half");
  await ask();
  await live.command("\u0003sleep 0");
  live.type("sleep 1000\r");
  await eventually(() => expect(live.terminal.blocks.refusal).toBe("busy"));
  await ask();
  await terminate(live.terminal);
  await ask();

  expect(reasons).toEqual(["half_line", "busy", "ended"]);
});

test("[GRD-29] a shell isn't asked while an agent drives, nor one that gave its place to another program", async () => {
  const live = await LiveTerminal.open();
  live.terminal.stick.admit({ kind: "agent", id: "bot" }, live.terminal.stick.epoch);
  const driven = await reportOf(live);
  live.terminal.stick.admit({ kind: "person", id: "ann" });
  const taken = await reportOf(live);
  live.type("exec bash --norc\r");

  expect(driven).toMatchObject({ trusted: false, reason: "agent_drives" });
  expect(taken).toMatchObject({ trusted: true, changes: [] });
  await eventually(async () => expect(await reportOf(live)).toMatchObject({ trusted: false, reason: "replaced" }));
});

test("[GRD-29] a shell that a debugger holds isn't asked (needs gdb)", async () => {
  const live = await LiveTerminal.open();
  const gdb = spawn("gdb", ["-q", "-nx", "-p", String(live.terminal.shell.pid)], { stdio: "pipe" });
  onTestFinished(() => void gdb.kill("SIGKILL"));
  let told = "";
  gdb.stdout.on("data", (chunk: Buffer) => (told += chunk.toString()));
  await eventually(() => expect(live.terminal.shell.isTraced).toBe(true));

  expect(await reportOf(live)).toMatchObject({ trusted: false, reason: "traced" });
  // Killed before it has taken note of the shell's stop, it would leave it stopped.
  await eventually(() => expect(told).toContain("(gdb)"));
  gdb.kill("SIGKILL");

  await eventually(async () => expect(await reportOf(live)).toMatchObject({ trusted: true, changes: [] }));
});

test.each([
  { name: "a pipe", put: 'mkfifo "$__ss/told"' },
  { name: "a directory", put: 'mkdir -p "$__ss/told/x"' },
  { name: "a link", put: 'ln -sf /etc/passwd "$__ss/told"' },
])("[GRD-29] $name where the answer should be changes nothing", async ({ put }) => {
  const live = await poisoned("bash", put, "evil() { :; }");

  const report = await reportOf(live);

  expect(report).toMatchObject({ trusted: true, changes: [{ kind: "function", name: "evil" }] });
});

test("[GRD-29] an answer that is too large is none", async () => {
  const live = await poisoned("bash", 'big=$(printf "%01100000d" 0); export big');

  expect(await reportOf(live)).toMatchObject({ trusted: false, reason: "no_report", changes: [] });
});

/** It does something else when it is asked. */
async function elsewhere(answerMs: number): Promise<LiveTerminal> {
  const live = await LiveTerminal.open("/usr/bin/zsh", undefined, { answerMs });
  await live.command("late() { echo instead; sleep 1000 }; preexec_functions+=(late)");
  return live;
}

test("[GRD-29] a shell that does something else when it is asked is interrupted, and what it shows is seen (needs zsh)", async () => {
  // Long enough that it has begun with that, on any machine.
  const live = await elsewhere(DEADLINE_MS / 60);
  const from = live.output.length;

  const report = await reportOf(live);

  expect(report).toMatchObject({ trusted: false, reason: "no_report", changes: [] });
  await eventually(() => expect(live.output.slice(from)).toContain("instead"));
  await eventually(() => expect(live.processes.filter((it) => it.program === "sleep")).toEqual([]));
});

test("[GRD-29] a stop while it is asked ends the question, and nothing that is shown gets lost (needs zsh)", async () => {
  const live = await elsewhere(DEADLINE_MS);
  const asked = reportOf(live);
  await live.running("sleep");

  await live.stop({ scope: "all" });

  expect(await asked).toMatchObject({ trusted: false, changes: [] });
  expect(live.output).toContain("instead");
  await live.atPrompt();
});

test("[GRD-29] a start that somebody changed is not believed: it is taken before anybody can", async () => {
  const live = await poisoned("bash", 'echo nothing >"$__ss/began"; evil() { :; }');

  expect(await reportOf(live)).toMatchObject({ trusted: true, changes: [{ name: "evil" }] });
});

test("[GRD-28] a shell that was started anew is compared with its own start", async () => {
  const live = await poisoned("bash", "evil() { :; }");
  const { since } = await reportOf(live);
  await live.terminal.respawn({ kind: "person", id: "ann" });
  await live.atPrompt();

  const report = await reportOf(live);

  expect(report).toMatchObject({ trusted: true, changes: [] });
  expect(report.since > since).toBe(true);
});
