/**
 * A shell asked for its own state at its idle prompt: as nobody's input and no block, in a turn of the gate. What it
 * answers is a stranger's word. Rules GRD-28, GRD-29 in docs/spec/guard.md, APR-11 in docs/spec/approvals.md.
 */
import { setTimeout as later } from "node:timers/promises";
import type { Refusal } from "../../domain/blocks.ts";
import type { ShellState, ToldShell } from "../../domain/shell-state/shell-state.ts";
import type { UntrustedReason } from "../../protocol/control.ts";
import { Aside } from "./aside.ts";
import type { ShellProcess } from "./shell-process.ts";
import { inquiryOf } from "./shells/inquiry.ts";
import type { Terminal } from "./terminal.ts";

const PROMPT_MS = 1_000;

const REFUSALS: Readonly<Record<Refusal, UntrustedReason>> = {
  starting: "starting",
  half_line: "half_line",
  busy: "busy",
  interactive_active: "busy",
  gone: "ended",
};

/** Why it can't be asked now. */
export function whyNotAsked({ over, blocks, shell }: Terminal): UntrustedReason | undefined {
  if (over || shell.gone) return "ended";
  if (blocks.refusal !== undefined) return REFUSALS[blocks.refusal];
  if (!shell.isItself) return "replaced";
  if (shell.isTraced) return "traced";
  if (blocks.integration !== "marks") return "not_integrated";
  return shell.atPrompt && shell.hasReadAll ? undefined : "busy";
}

/** Undefined: no answer came, or none that can be read. */
export async function askShell({ shell, path, patience }: Terminal, family: ToldShell): Promise<string | undefined> {
  const inquiry = await inquiryOf(family, shell.directory);
  const aside = new Aside(inquiry.line, { needsStart: family !== "dash" });
  path.setAside(aside);
  try {
    shell.write(inquiry.typed);
    const came = await within(patience.answerMs, aside.done, shell.exited);
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
export function doubtOf(family: ToldShell, told: ShellState): UntrustedReason | undefined {
  if (!told.complete) return "incomplete";
  const has = (kind: string, name: string): boolean =>
    told.things.some((thing) => thing.kind === kind && thing.name === name);
  // It ran before each step of the report, and could have told another.
  const runsInside = family === "zsh" || has("option", "functrace") || has("option", "extdebug");
  if (has("trap", "DEBUG") && runsInside) return "debug_trap";
  if (family === "zsh" && (has("function", "trap") || has("option", "builtin trap"))) return "overridden";
  return family === "dash" ? "functions_unseen" : undefined;
}
