/** What changed in a shell, as lines for people. Rules GRD-28, GRD-29 in docs/spec/guard.md. */
import type { Output } from "../client/sidestick.ts";

type ShellChanges = Output<"control.changes">;

export function shellChangeLines({ trusted, reason, since, changes, omitted }: ShellChanges, name: string): string[] {
  const doubt = reason === undefined ? [] : [`not to be trusted: ${REASONS[reason]}`];
  const more = omitted === undefined ? [] : [`and ${omitted} more`];
  const none = trusted && changes.length === 0 ? [`nothing changed since ${since}`] : [];
  const found = changes.length === 0 ? [] : [`changed since ${since}:`, ...changes.map(changeLine), ...more];
  const advice = trusted && changes.length === 0 ? [] : [`A shell without any of it: sidestick take ${name} --fresh`];
  return [...doubt, ...none, ...found, ...advice];
}

const REASONS: Readonly<Record<NonNullable<ShellChanges["reason"]>, string>> = {
  starting: "the shell has not shown its prompt yet",
  half_line: "something is typed at its prompt and not entered",
  busy: "it is busy",
  ended: "it has ended",
  agent_drives: "an agent drives; take control first",
  replaced: "another program is in its place",
  traced: "a debugger holds it",
  not_integrated: "it doesn't tell where its prompts are",
  start_unknown: "how it started is not known",
  no_report: "it didn't report",
  incomplete: "its report breaks off, for something stands in the way",
  debug_trap: "a DEBUG trap runs with each step of the report",
  overridden: "what the report is made by was replaced",
  functions_unseen: "this kind of shell can't list its functions",
};

function changeLine({ kind, name, before, after }: ShellChanges["changes"][number]): string {
  const what = `  ${kind} ${name}`;
  if (after === undefined) return `${what}: gone${before === undefined ? "" : `, was ${short(before)}`}`;
  return before === undefined ? `${what}: ${short(after)}` : `${what}: ${short(after)}, was ${short(before)}`;
}

const SHORT_MAX = 120;

function short(value: string): string {
  const line = value.trim().replaceAll(/\s+/g, " ");
  return line.length <= SHORT_MAX ? line : `${line.slice(0, SHORT_MAX)}…`;
}
