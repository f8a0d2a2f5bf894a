/** What a person approves is what runs, in real shells, open and guarded. */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { BoundTerminal, type Wanted } from "../../../test/support/bound-terminal.ts";
import { BOT, closeServices } from "../../../test/support/terminal.ts";
import { IS_SOAK } from "../../../test/support/soak.ts";

afterAll(closeServices);

const PERSON = { kind: "person", id: "ann" } as const;

type Shell = "bash" | "zsh" | "fish" | "dash";
type Mutation = {
  readonly name: string;
  /** A command, where it differs by shell; absent: it can't be done, or not be seen, there. */
  readonly typed?: Readonly<Partial<Record<Shell, string>>>;
  readonly done?: (bound: BoundTerminal) => void;
  readonly changed: readonly string[];
};

type Refused = { readonly code: string; readonly details: { readonly changed?: readonly string[] } };

const SHELLS = ["bash", "zsh", "fish", "dash"] as const;
const WANTED: Wanted = { programs: ["./x.sh", "tool", "echo"], scripts: ["l.sh", "d/y.sh"] };
const inAll = (text: string): Record<Shell, string> => ({ bash: text, zsh: text, fish: text, dash: text });

const MUTATIONS: readonly Mutation[] = [
  { name: "the directory", typed: inAll("cd d"), changed: ["cwd", "shell_cwd"] },
  { name: "back", typed: inAll("cd .."), changed: ["cwd", "shell_cwd"] },
  {
    name: "a variable",
    typed: { ...inAll("export EVIL=1"), fish: "set -gx EVIL 1" },
    changed: ["environment"],
  },
  { name: "PATH", typed: { ...inAll('PATH="$PATH:/evil"'), fish: "set -gx PATH $PATH /evil" }, changed: ["path"] },
  {
    name: "a function",
    typed: { bash: "tool() { :; }", zsh: "tool() { :; }", fish: "function tool; end" },
    changed: ["functions", "program:tool"],
  },
  {
    name: "no function",
    typed: { bash: "unset -f tool", zsh: "unfunction tool", fish: "functions -e tool" },
    changed: ["functions", "program:tool"],
  },
  {
    name: "an alias",
    typed: { bash: "alias tool=evil", zsh: "alias tool=evil", dash: "alias tool=evil" },
    changed: ["aliases", "program:tool"],
  },
  {
    name: "no alias",
    typed: { bash: "unalias tool", zsh: "unalias tool", dash: "unalias tool" },
    changed: ["aliases", "program:tool"],
  },
  { name: "an option", typed: { bash: "set -C", zsh: "set -C", dash: "set -C" }, changed: ["options"] },
  { name: "a trap", typed: { bash: "trap : USR1", zsh: "trap : USR1", dash: "trap : USR1" }, changed: ["traps"] },
  { name: "a program's content", done: (it) => it.write("bin/tool", "echo evil"), changed: ["program:tool"] },
  { name: "a program before it", done: (it) => it.write("first/tool", "echo evil"), changed: ["program:tool"] },
  {
    name: "a script's content",
    done: (it) => it.write("x.sh", "echo evil"),
    changed: ["program:./x.sh", "script:l.sh"],
  },
  {
    name: "where a link leads",
    done: (it) => {
      rmSync(it.path("l.sh"));
      symlinkSync("d/y.sh", it.path("l.sh"));
    },
    changed: ["script:l.sh"],
  },
  { name: "a file that is gone", done: (it) => rmSync(it.path("d/y.sh")), changed: ["script:d/y.sh"] },
];

/** How a shell tells of itself doesn't depend on the guard around it, and what is done to files not on the shell. */
const GUARDED = IS_SOAK ? SHELLS : (["bash"] as const);
const LEVELS = [
  ...SHELLS.map((shell) => ({ shell, level: "open", needs: shell, inFiles: IS_SOAK || shell === "bash" }) as const),
  ...GUARDED.map(
    (shell) => ({ shell, level: "guard", needs: `${shell}, perl and namespaces`, inFiles: true }) as const,
  ),
];
const BY_FILES = new Set(["a program's content", "a script's content"]);

test.each(LEVELS)(
  "[APR-11, APR-12] $shell ($level): what didn't change runs, once; what is bound and changes is refused by name, and nothing runs (needs $needs)",
  async ({ shell, level, inFiles }) => {
    const bound = await BoundTerminal.open(shell, level === "guard" ? level : undefined);
    await runsUnchanged(bound);
    const refusals: Record<string, readonly string[]> = {};
    const apply = MUTATIONS.filter(({ name, typed, done }) =>
      done === undefined ? typed?.[shell] !== undefined : inFiles || BY_FILES.has(name),
    );

    for (const { name, typed, done } of apply) {
      const prepared = await bound.prepare(WANTED);
      const text = typed?.[shell];
      if (text !== undefined) await bound.terminal.block(text);
      done?.(bound);
      const { code, details } = await bound.run(prepared, "echo >ran").then(
        (): Refused => ({ code: "ran", details: {} }),
        (error: Refused) => error,
      );
      refusals[name] = code === "approval_stale" ? (details.changed ?? []) : [code];
    }

    expect(refusals).toEqual(
      Object.fromEntries(apply.map(({ name, changed }) => [name, expect.arrayContaining([...changed]) as string[]])),
    );
    expect(existsSync(bound.path("ran")) || existsSync(bound.path("d/ran"))).toBe(false);
    expect((await bound.run(await bound.prepare(WANTED), "./x.sh")).output).toContain("evil");
  },
);

async function runsUnchanged(bound: BoundTerminal): Promise<void> {
  const first = await bound.prepare(WANTED);
  const again = await bound.prepare(WANTED);

  const { output, violated } = await bound.run(again, "./x.sh; tool; sh l.sh; sh d/y.sh; echo >d/new");

  expect(again.reply).toEqual(first.reply);
  expect(output.match(/good/g)).toHaveLength(4);
  expect(violated).toBeUndefined();
  expect(first.reply.resolved).toMatchObject({
    "program:tool": expect.stringContaining(bound.path("bin/tool")) as string,
    "script:l.sh": expect.stringContaining(bound.path("x.sh")) as string,
  });
}

test("[APR-12] another directory under the same name is refused, and so is another epoch", async () => {
  const bound = await BoundTerminal.open("bash");
  const wanted = { programs: [], scripts: ["y.sh"], cwd: "d" };
  const prepared = await bound.prepare(wanted);
  renameSync(bound.path("d"), bound.path("e"));
  mkdirSync(bound.path("d"));
  bound.write("d/y.sh", "echo good");

  await expect(bound.run(prepared, "echo >ran")).rejects.toMatchObject({
    code: "approval_stale",
    details: { changed: ["cwd"] },
  });
  const fresh = await bound.prepare(wanted);
  await bound.terminal.ask({ type: "CONTROL", command: { type: "take", by: PERSON } });
  await bound.letGoOn();
  await expect(bound.run(fresh, "echo >ran")).rejects.toMatchObject({ code: "stale_epoch" });
  expect(existsSync(bound.path("d/ran"))).toBe(false);
});

test("[APR-11] preparing gives an agent control as its command would, and is refused as that would be", async () => {
  const bound = await BoundTerminal.open("bash");
  const { terminal } = bound;
  await terminal.ask({ type: "CONTROL", command: { type: "take", by: PERSON } });
  await bound.letGoOn();
  const before = terminal.epoch;

  const { reply } = await bound.prepare(WANTED);
  const begun = await terminal.run("read line");
  const busy = bound.prepare(WANTED);

  expect(reply).toMatchObject({ epoch: before + 1, control: { epoch: before + 1, control_mode: "AGENT" } });
  await expect(busy).rejects.toMatchObject({ code: "busy" });
  await terminal.send("\r");
  await terminal.finished(begun);
  await terminal.ask({ type: "CONTROL", command: { type: "take", by: PERSON } });
  await expect(bound.prepare(WANTED)).rejects.toMatchObject({ code: "control_refused" });
});

test.each([
  { shell: "bash", done: "exec bash --norc", what: "environment", reason: "not_integrated" },
  { shell: "bash", done: "trap : DEBUG", what: "shell_state", reason: "debug_trap" },
  { shell: "bash", done: "eval() { :; }", what: "shell_state", reason: "overridden" },
  { shell: "bash", done: "__sidestick_place() { :; }", what: "shell_state", reason: "overridden" },
  { shell: "dash", done: "true", what: "functions", reason: "functions_unseen" },
])("[APR-11] of $shell after `$done` it is said that $what can't be bound", async ({ shell, done, what, reason }) => {
  const bound = await BoundTerminal.open(shell);
  const before = bound.terminal.frames.length;
  await bound.terminal.run(done);
  await bound.terminal.event("prompt", ({ kind }) => kind === "shell", before);

  const { reply } = await bound.prepare({ programs: ["nope"], scripts: [] });

  expect(reply.unbound).toContainEqual({ what, reason: reason === "not_integrated" ? expect.any(String) : reason });
  expect(reply.unbound).toContainEqual({ what: "program:nope", reason: "not_found" });
});

test.each([
  { name: "a script that is swapped and swapped back", did: "mv x.sh o; cp d/y.sh x.sh; sh x.sh; mv o x.sh" },
  { name: "a script that is written to", did: "echo 'echo evil' >>x.sh; sh x.sh" },
  { name: "a link that leads elsewhere for a while", did: "mv l.sh o; ln -s d/y.sh l.sh; sh l.sh; mv o l.sh" },
])("[APR-14] $name is told, and the agent begins nothing more", async ({ did }) => {
  const bound = await BoundTerminal.open("bash");
  const { blockId } = (await bound.run(await bound.prepare(WANTED), did)).violated ?? {};

  expect(blockId).toEqual(expect.any(String));
  expect(bound.terminal.events("approval_violated").at(-1)?.payload["changed"]).toContainEqual({
    what: "script:l.sh",
    path: bound.path("x.sh"),
  });
  expect(bound.terminal.events("intent").at(-1)?.payload).toMatchObject({
    intent: "SAFE_INTERRUPT",
    cause: "approval_violated",
  });
  await expect(bound.terminal.run("echo >ran")).rejects.toMatchObject({ code: "paused" });
  expect(existsSync(bound.path("ran"))).toBe(false);
});

test("[APR-14] a directory above a script that is another one for a while is told", async () => {
  const bound = await BoundTerminal.open("bash");
  const did = "mv d e; mkdir d; echo 'echo evil' >d/y.sh; sh d/y.sh; rm -r d; mv e d";

  const { output, violated } = await bound.run(await bound.prepare(WANTED), did);

  expect(output).toBe("evil\r\n");
  expect(violated?.["changed"]).toEqual([{ what: "script:d/y.sh", path: bound.path("d/y.sh") }]);
});

test.each([
  { did: "echo >>x.sh; exit 3", touched: ["program:./x.sh", "script:l.sh"] },
  { did: "./x.sh; exit 3", touched: [] },
])("[APR-14] a block that ends its shell is looked at before its end is told: `$did`", async ({ did, touched }) => {
  const bound = await BoundTerminal.open("bash");
  const { terminal } = bound;
  const { programs, scripts, reply } = await bound.prepare(WANTED);
  const block_id = "6a1c1f0e-0000-4000-8000-000000000009";
  const request = { type: "RUN_BLOCK", by: BOT, block_id, bound: { programs, scripts, digest: reply.digest } } as const;

  await terminal.ask({ ...request, epoch: reply.epoch }, did);
  await eventually(() => expect(terminal.exit).toMatchObject({ exitCode: 3 }));

  const changed = touched.map((what) => ({ what, path: bound.path("x.sh") }));
  expect(terminal.events("approval_violated").map((it) => it.payload)).toEqual(
    touched.length === 0 ? [] : [{ blockId: block_id, changed }],
  );
  expect(terminal.frames.at(-1)).toBe(terminal.exit);
});

/** The newest file there is the one that is read. It is read-only: without -f, mv asks an ordinary user. */
const SWAP =
  'f=$(ls -t "$__ss.c" | head -1); cp "$__ss.c/$f" o; echo "echo evil" >e; mv -f e "$__ss.c/$f"; cp o "$__ss.c/$f"';

test.each([{ shell: "bash" }, { shell: "zsh" }, { shell: "dash" }])(
  "[APR-14] $shell: the file from which it reads a command can't be changed inside a guard; elsewhere that is told (needs $shell, perl and namespaces)",
  async ({ shell }) => {
    const [open, guarded] = [await BoundTerminal.open(shell), await BoundTerminal.open(shell, "guard")];
    const none = { programs: [], scripts: [] };

    const seen = await open.run(await open.prepare(none), SWAP);
    const inside = await guarded.run(await guarded.prepare(none), `${SWAP}; rm -rf "$__ss.c"; mv "$__ss.c" "$__ss.x"`);

    expect(seen.violated?.["changed"]).toEqual([{ what: "command", path: "" }]);
    expect(inside.output).toMatch(/read-only|busy/i);
    expect(inside.violated).toBeUndefined();
    expect((await guarded.terminal.block("echo still")).output).toBe("still\r\n");
  },
);
