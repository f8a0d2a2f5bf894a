/**
 * What changed in a terminal's shell since it started, asked of the shell itself: at its idle prompt, in a turn of the gate, as
 * nobody's input and no block. What can't be had, or not be trusted, is told with its reason. Rules GRD-28, GRD-29 in
 * docs/spec/guard.md.
 */
import { setTimeout as later } from "node:timers/promises";
import { SYSTEM } from "../../domain/actor.ts";
import type { Refusal } from "../../domain/blocks.ts";
import { type ShellChange, shellChanges } from "../../domain/shell-state/shell-changes.ts";
import { readShellState, type ShellState, type ToldShell } from "../../domain/shell-state/shell-state.ts";
import type { UntrustedReason } from "../../protocol/control.ts";
import { Aside } from "./aside.ts";
import type { ShellProcess } from "./shell-process.ts";
import { inquiryOf, isToldShell } from "./shells/inquiry.ts";
import type { Terminal } from "./terminal.ts";

export type ShellReport = {
  readonly trusted: boolean;
  readonly reason?: UntrustedReason;
  readonly since: string;
  readonly changes: readonly ShellChange[];
  /** How many more there were. */
  readonly omitted?: number;
};

export async function shellReport(terminal: Terminal): Promise<ShellReport> {
  const claim = { by: SYSTEM, number: 0 };
  return terminal.gate.inTurn(claim, async () => ({ answer: await asked(terminal) }), false);
}

async function asked(terminal: Terminal): Promise<ShellReport> {
  const { shell } = terminal;
  const since = shell.since;
  const untrusted = (reason: UntrustedReason): ShellReport => ({ trusted: false, reason, since, changes: [] });
  const { family } = shell;
  const reason = whyNot(terminal);
  if (reason !== undefined) return untrusted(reason);
  const { beginning } = shell;
  if (!isToldShell(family)) return untrusted("not_integrated");
  if (beginning === undefined) return untrusted("start_unknown");
  const text = await answered(terminal, family);
  if (text === undefined) return untrusted(shell.gone ? "ended" : "no_report");
  const [before, after] = [readShellState(family, beginning), readShellState(family, text)];
  const changes = shellChanges(before, after);
  const doubt = doubtOf(family, before, after);
  const omitted = changes.length - CHANGES_MAX;
  return {
    trusted: doubt === undefined,
    ...(doubt === undefined ? {} : { reason: doubt }),
    since,
    changes: changes.slice(0, CHANGES_MAX),
    ...(omitted > 0 ? { omitted } : {}),
  };
}

const CHANGES_MAX = 500;
/** A shell that is all right answers within some milliseconds, on a busy machine within some hundred. */
const ANSWER_MS = 3_000;
const PROMPT_MS = 1_000;

const REFUSALS: Readonly<Record<Refusal, UntrustedReason>> = {
  starting: "starting",
  half_line: "half_line",
  busy: "busy",
  interactive_active: "busy",
  gone: "ended",
};

/** Why it can't be asked now. */
function whyNot({ over, blocks, shell, stick }: Terminal): UntrustedReason | undefined {
  if (over || shell.gone) return "ended";
  if (blocks.refusal !== undefined) return REFUSALS[blocks.refusal];
  if (stick.state.mode === "AGENT") return "agent_drives";
  if (!shell.isItself) return "replaced";
  if (shell.isTraced) return "traced";
  if (blocks.integration !== "marks") return "not_integrated";
  return shell.atPrompt && shell.hasReadAll ? undefined : "busy";
}

async function answered({ shell, path }: Terminal, family: ToldShell): Promise<string | undefined> {
  const inquiry = await inquiryOf(family, shell.directory);
  const aside = new Aside(inquiry.line, { needsStart: family !== "dash" });
  path.setAside(aside);
  try {
    shell.write(inquiry.typed);
    const came = await within(ANSWER_MS, aside.done, shell.exited);
    // Whatever it does instead, it is not to go on when somebody types.
    if (!came) shell.write(INTERRUPT);
    await backAtPrompt(shell);
    return came ? inquiry.answer() : void inquiry.answer();
  } finally {
    path.endAside();
  }
}

const INTERRUPT = Buffer.from([3]);

/** False when the time is over. */
async function within(limitMs: number, ...events: readonly Promise<unknown>[]): Promise<boolean> {
  const stop = new AbortController();
  const late = later(limitMs, false, { signal: stop.signal }).catch(() => false);
  const came = await Promise.race([late, ...events.map((it) => it.then(() => true))]);
  stop.abort();
  return came;
}

/** What is typed before a line editor reads is shown twice. */
async function backAtPrompt(shell: ShellProcess): Promise<void> {
  const until = performance.now() + PROMPT_MS;
  while (!shell.gone && !shell.atPrompt && performance.now() < until) await later(1);
}

/** Why what was told may not be all, or not be so. */
function doubtOf(family: ToldShell, before: ShellState, after: ShellState): UntrustedReason | undefined {
  if (!before.complete) return "start_unknown";
  if (!after.complete) return "incomplete";
  const has = (kind: string, name: string): boolean =>
    after.things.some((thing) => thing.kind === kind && thing.name === name);
  // It ran before each step of the report, and could have told another.
  const runsInside = family === "zsh" || has("option", "functrace") || has("option", "extdebug");
  if (has("trap", "DEBUG") && runsInside) return "debug_trap";
  if (family === "zsh" && (has("function", "trap") || has("option", "builtin trap"))) return "overridden";
  return family === "dash" ? "functions_unseen" : undefined;
}
