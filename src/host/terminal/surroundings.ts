/** What a command would meet in this terminal's shell now, for `bind`. Rule APR-11 in docs/spec/approvals.md. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import {
  readShellState,
  type ShellState,
  type ShellThing,
  type ToldShell,
} from "../../domain/shell-state/shell-state.ts";
import type { UntrustedReason } from "../../protocol/control.ts";
import { hashed, type Surroundings, type Unbound } from "../bound/binding.ts";
import { walk } from "../bound/walk.ts";
import { askShell, doubtOf, whyNotAsked } from "./asked-shell.ts";
import { isToldShell } from "./shells/inquiry.ts";
import type { Terminal } from "./terminal.ts";

/** In a turn of the gate, at an idle prompt. */
export async function surroundingsOf(terminal: Terminal, cwd: string | undefined): Promise<Surroundings> {
  const { shell } = terminal;
  const { family } = shell;
  const { state, reason } = await stateOf(terminal);
  const { env } = shell;
  const place = await directoryOf(terminal, cwd);
  return {
    root: `/proc/${shell.pid}/root`,
    shell: { family, state, path: env["PATH"] ?? "", home: homeIn(state) ?? env["HOME"] ?? "/" },
    directory: place.directory,
    told: { ...(state === undefined ? {} : partsOf(state)), ...place.told },
    untold: [...(reason === undefined ? [] : untold(state, reason)), ...place.untold],
  };
}

type Told = { readonly state: ShellState | undefined; readonly reason?: string | undefined };

async function stateOf(terminal: Terminal): Promise<Told> {
  const { family } = terminal.shell;
  if (!isToldShell(family)) return { state: undefined, reason: "not_integrated" };
  const reason = await whenSettled(terminal);
  if (reason !== undefined) return { state: undefined, reason };
  const text = await askShell(terminal, family);
  if (text === undefined) return { state: undefined, reason: "no_report" };
  const state = readShellState(family, text);
  return { state, reason: standInOf(terminal, family, state) ?? doubtOf(family, state) };
}

/** A shell whose prompt stands may have a moment's work left. */
async function whenSettled(terminal: Terminal): Promise<UntrustedReason | undefined> {
  const until = performance.now() + SETTLE_MS;
  let reason = whyNotAsked(terminal);
  while (reason === "busy" && terminal.blocks.refusal === undefined && performance.now() < until) {
    await later(2);
    reason = whyNotAsked(terminal);
  }
  return reason;
}

const SETTLE_MS = 500;

/** What runs before a command of ours, or in the place of what gives it to the shell. */
function standInOf({ shell }: Terminal, family: ToldShell, { things }: ShellState): string | undefined {
  if (things.some((it) => it.kind === "trap" && it.name === "DEBUG")) return "debug_trap";
  const began = readShellState(family, shell.beginning ?? "");
  const ours = (all: readonly ShellThing[]): string =>
    JSON.stringify(all.filter((it) => it.name.startsWith("__sidestick")).toSorted(byName));
  const isOther = began.complete && ours(began.things) !== ours(things);
  const hasStandIn = family !== "fish" && things.some((it) => it.kind === "function" && STAND_INS.has(it.name));
  return isOther || hasStandIn ? "overridden" : undefined;
}

const STAND_INS: ReadonlySet<string> = new Set(". builtin cd eval export history local printf return set".split(" "));

function byName(one: ShellThing, other: ShellThing): number {
  return `${one.kind} ${one.name}` < `${other.kind} ${other.name}` ? -1 : 1;
}

function untold(state: ShellState | undefined, reason: string): readonly Unbound[] {
  if (state === undefined) return ["environment", "shell_state"].map((what) => ({ what, reason }));
  return [{ what: reason === "functions_unseen" ? "functions" : "shell_state", reason }];
}

function homeIn(state: ShellState | undefined): string | undefined {
  return state?.things.find((it) => it.kind === "environment" && it.name === "HOME")?.value;
}

/** By the names that people know them by. */
const PARTS = {
  function: "functions",
  alias: "aliases",
  trap: "traps",
  path: "path",
  prompt: "hooks",
  option: "options",
  binding: "keys",
  environment: "environment",
  hash: undefined,
} as const satisfies Record<ShellThing["kind"], string | undefined>;

function partsOf({ things }: ShellState): Readonly<Record<string, string>> {
  const texts = new Map<string, string[]>();
  for (const name of Object.values(PARTS)) if (name !== undefined) texts.set(name, []);
  for (const { kind, name, value } of things.filter(isSteady)) texts.get(PARTS[kind] ?? "")?.push(`${name}\0${value}`);
  return Object.fromEntries([...texts].map(([name, values]) => [name, hashed(values.toSorted())]));
}

/** What changes by itself, and what is drawn anew at each prompt and changes no command. */
function isSteady({ kind, name }: ShellThing): boolean {
  if (kind === "prompt") return !DRAWN.test(name);
  return kind !== "environment" || !VOLATILE.test(name);
}

const DRAWN = /^(?:PS[123]|RPS[12]|fish_(?:right_|mode_)?prompt|fish_title|fish_greeting)$/;
const VOLATILE = /^(?:_|SHLVL|OLDPWD|PWD|RANDOM|SRANDOM|SECONDS|EPOCH\w*|COLUMNS|LINES|BASH_COMMAND|__ss.*)$/;

type Place = Pick<Surroundings, "directory" | "told" | "untold">;

/**
 * Where the shell is by the kernel; a relative path is taken from where the shell says that it is, if that is the same,
 * as its `cd` does.
 */
async function directoryOf({ shell, blocks }: Terminal, cwd: string | undefined): Promise<Place> {
  const root = `/proc/${shell.pid}/root`;
  const told = blocks.cwd;
  const here = shell.cwd ?? told ?? "/";
  const [kernel, logical] = await Promise.all([
    stat(`/proc/${shell.pid}/cwd`, { bigint: true }).catch(() => undefined),
    told === undefined ? undefined : walk(root, told),
  ]);
  const isSame = logical !== undefined && kernel !== undefined && logical.status.ino === kernel.ino;
  const base = isSame && logical.status.dev === kernel.dev ? (told ?? here) : here;
  if (cwd === undefined) {
    const shellIs = hashed([base, kernel === undefined ? "" : `${kernel.dev}:${kernel.ino}`]);
    return { directory: base, told: { shell_cwd: shellIs }, untold: [] };
  }
  const directory = resolve(base, cwd);
  const asWritten = cwd.startsWith("/") ? cwd : `${base}/${cwd}`;
  const [entered, followed] = await Promise.all([walk(root, directory), walk(root, asWritten)]);
  const isPlain = entered?.path === followed?.path;
  return { directory, told: {}, untold: isPlain ? [] : [{ what: "cwd", reason: "ambiguous" }] };
}
