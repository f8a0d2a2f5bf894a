/**
 * What changed in a terminal's shell since it started, asked of the shell itself: at its idle prompt, in a turn of the gate, as
 * nobody's input and no block. What can't be had, or not be trusted, is told with its reason. Rules GRD-28, GRD-29 in
 * docs/spec/guard.md.
 */
import { SYSTEM } from "../../domain/actor.ts";
import { type ShellChange, shellChanges } from "../../domain/shell-state/shell-changes.ts";
import { readShellState } from "../../domain/shell-state/shell-state.ts";
import type { UntrustedReason } from "../../protocol/control.ts";
import { askShell, doubtOf, whyNotAsked } from "./asked-shell.ts";
import { isToldShell } from "./shells/inquiry.ts";
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
  const text = await askShell(terminal, family);
  if (text === undefined) return untrusted(shell.gone ? "ended" : "no_report");
  const [before, after] = [readShellState(family, beginning), readShellState(family, text)];
  const changes = shellChanges(before, after);
  const doubt = before.complete ? doubtOf(family, after) : "start_unknown";
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

function whyNot(terminal: Terminal): UntrustedReason | undefined {
  const { over, blocks, stick } = terminal;
  const isFree = !over && blocks.refusal === undefined;
  return isFree && stick.state.mode === "AGENT" ? "agent_drives" : whyNotAsked(terminal);
}
