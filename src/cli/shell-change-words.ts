/** What changed in a shell, as lines for people. Rules GRD-28, GRD-29 in docs/spec/guard.md. */
import { type ShellChanges, UNTRUSTED_WORDS } from "../protocol/control.ts";

export function shellChangeLines({ trusted, reason, since, changes, omitted }: ShellChanges, name: string): string[] {
  const doubt = reason === undefined ? [] : [`not to be trusted: ${UNTRUSTED_WORDS[reason]}`];
  const more = omitted === undefined ? [] : [`and ${omitted} more`];
  const none = trusted && changes.length === 0 ? [`nothing changed since ${since}`] : [];
  const found = changes.length === 0 ? [] : [`changed since ${since}:`, ...changes.map(changeLine), ...more];
  const advice = trusted && changes.length === 0 ? [] : [`A shell without any of it: sidestick take ${name} --fresh`];
  return [...doubt, ...none, ...found, ...advice];
}

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
