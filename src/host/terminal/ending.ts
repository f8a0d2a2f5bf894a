/**
 * Ways to end what runs: politely first, firmly at last, each step told, and done only when the shell's prompt or the
 * end is seen. Rules PTY-41..PTY-44 in docs/spec/terminal.md, CTL-41 in docs/spec/control.md.
 */
import type { Actor } from "../../domain/actor.ts";
import { AppError } from "../../protocol/errors.ts";
import { readStat } from "./probe/processes.ts";
import { endOf, survivorsOf } from "./survivors.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Ends the command that runs; the shell stays, or is replaced as the last resort. It takes seconds, so that an agent is
 * judged again before each step: what a person took control to save must not be killed by a call from before.
 */
export async function endRun(terminal: Terminal, by: Actor, recheck: () => void): Promise<void> {
  // A person who has given control away meanwhile would take it back by being judged.
  const mayGoOn = by.kind === "agent" ? () => refuseIfLost(recheck) : () => undefined;
  if (await terminal.blocks.seenWithin(0)) return;
  mayGoOn();
  terminal.blocks.cancel();
  for (const { step, waitMs, act } of await stepsFor(terminal, by)) {
    mayGoOn();
    if (!act()) continue;
    terminal.frames.event("log_line", { event: "end_session", step }, by);
    // oxlint-disable-next-line no-await-in-loop -- each step has its chance
    if (await terminal.blocks.seenWithin(waitMs)) return;
  }
  mayGoOn();
  terminal.frames.event("log_line", { event: "end_session", step: "respawn" }, by);
  await terminal.respawn(by);
}

/** Ends the session itself with everything that it started; its last frame comes when that is done. */
export async function terminate(terminal: Terminal, reason = "terminated"): Promise<void> {
  const killed = killTree(terminal);
  terminal.shell.cancelInput();
  terminal.endsAfter(reason, killed);
  await terminal.ended;
}

async function killTree({ shell, frames, patience }: Terminal): Promise<void> {
  const { tree } = shell;
  for (const signal of ["SIGHUP", "SIGTERM", "SIGKILL"] as const) {
    tree.signal(signal);
    // oxlint-disable-next-line no-await-in-loop -- each signal has its chance
    if (await tree.goneWithin(patience.terminateStepMs)) return shell.wakeKeepers();
  }
  await endOf(shell, tree);
  const survivors = survivorsOf(tree).slice(0, SURVIVORS_TOLD);
  if (survivors.length > 0)
    frames.event("log_line", { event: "survivors", survivors: survivors.map((it) => ({ ...it })) });
}

/** It was let in: that it may not go on is a loss, unless it has control anew. */
function refuseIfLost(recheck: () => void): void {
  try {
    recheck();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "stopped" || error.code === "stale_epoch") throw error;
    const { reason, ...rest } = error.details;
    throw new AppError("revoked", { ...rest, control_reason: reason }, { cause: error });
  }
}

type Step = { readonly step: string; readonly waitMs: number; readonly act: () => boolean };

async function stepsFor(terminal: Terminal, by: Actor): Promise<readonly Step[]> {
  const { shell, gate, patience } = terminal;
  const farewell = await farewellOf(terminal);
  const put = (bytes: Uint8Array | undefined): boolean => {
    if (bytes === undefined) return false;
    gate.put(bytes, by);
    return true;
  };
  return [
    { step: "exit", waitMs: patience.exitMs, act: () => put(farewell) },
    { step: "ctrl_c", waitMs: patience.interruptMs, act: () => put(CTRL_C) },
    { step: "sigterm", waitMs: patience.sigtermMs, act: () => shell.signalForeground("SIGTERM") },
    { step: "sigkill", waitMs: patience.sigkillMs, act: () => shell.signalForeground("SIGKILL") },
  ];
}

/** Only where a program is known to take it, and waits for input now: elsewhere it would be typed into something. */
async function farewellOf(terminal: Terminal): Promise<Uint8Array | undefined> {
  const look = await terminal.look();
  if (look?.waiting !== true || !POLITE_KINDS.has(look.kind)) return undefined;
  const program = readStat(look.pid)?.program ?? look.program;
  const [name = ""] = /^[a-z]+\d?/i.exec(program.replace(/^-/, "")) ?? [];
  if (SHELLS.has(name)) return Buffer.from("exit\r");
  return REPLS.has(name) ? CTRL_D : undefined;
}

const CTRL_C = Uint8Array.of(3);
const CTRL_D = Uint8Array.of(4);
const SURVIVORS_TOLD = 100;
const POLITE_KINDS: ReadonlySet<string> = new Set(["line", "line_editor", "shell"]);
const SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "fish", "dash", "sh", "ksh", "tcsh", "ash"]);
const REPLS: ReadonlySet<string> = new Set(
  [
    "python",
    "python2",
    "python3",
    "ipython",
    "node",
    "MainThread",
    "bun",
    "deno",
    "psql",
    "sqlite3",
    "mysql",
    "mariadb",
  ].concat([
    "gdb",
    "lldb",
    "bc",
    "dc",
    "irb",
    "ruby",
    "perl",
    "php",
    "lua",
    "R",
    "ghci",
    "julia",
    "octave",
    "redis",
    "cat",
    "ftp",
  ]),
);
