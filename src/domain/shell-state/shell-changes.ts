/** What is different in a shell since it started. Rules GRD-28, GRD-29 in docs/spec/guard.md. */
import { redactText } from "../redaction/redact-text.ts";
import { CHANGE_KINDS, type ChangeKind, type ShellState, type ShellThing } from "./shell-state.ts";

export type ShellChange = {
  readonly kind: ChangeKind;
  readonly name: string;
  /** Absent: it wasn't there. */
  readonly before?: string;
  /** Absent: it is gone. */
  readonly after?: string;
};

export function shellChanges(before: ShellState, after: ShellState): readonly ShellChange[] {
  const was = byKey(before.things);
  const is = byKey(after.things);
  // Of what wasn't told nobody knows that it is gone.
  const known = after.complete ? [...was.keys(), ...is.keys()] : is.keys();
  const changes = [...new Set(known)]
    .filter((key) => was.get(key)?.value !== is.get(key)?.value)
    .map((key) => changeOf(was.get(key), is.get(key)));
  return [...changes, ...hashedElsewhere(after)].map(shown).toSorted(byKind);
}

/** A shell remembers where it found a program; one that it didn't find in PATH was put there by hand. */
function hashedElsewhere({ hashed, path }: ShellState): readonly ShellChange[] {
  const folders = path.split(":").map((folder) => folder.replace(/\/+$/, ""));
  return hashed
    .filter(({ name, path: program }) => !folders.some((folder) => program === `${folder}/${name}`))
    .map(({ name, path: program }) => ({ kind: "hash", name, after: program }));
}

function byKey(things: readonly ShellThing[]): ReadonlyMap<string, ShellThing> {
  return new Map(things.map((thing) => [`${thing.kind} ${thing.name}`, thing]));
}

function changeOf(was: ShellThing | undefined, is: ShellThing | undefined): ShellChange {
  const { kind, name } = (is ?? was)!;
  return {
    kind,
    name,
    ...(was === undefined ? {} : { before: was.value }),
    ...(is === undefined ? {} : { after: is.value }),
  };
}

const VALUE_MAX = 1_000;
const NAME_MAX = 200;

/** Values by their names: `TOKEN=…` is a secret, `…` alone may look like none. */
function shown({ kind, name, before, after }: ShellChange): ShellChange {
  const value = (text: string): string => {
    if (kind !== "environment") return cut(redactText(text), VALUE_MAX);
    const whole = redactText(`${name}=${text}`);
    return cut(whole.slice(whole.indexOf("=") + 1), VALUE_MAX);
  };
  return {
    kind,
    name: cut(redactText(name), NAME_MAX),
    ...(before === undefined ? {} : { before: value(before) }),
    ...(after === undefined ? {} : { after: value(after) }),
  };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

function byKind(left: ShellChange, right: ShellChange): number {
  const order = CHANGE_KINDS.indexOf(left.kind) - CHANGE_KINDS.indexOf(right.kind);
  return order === 0 ? Number(left.name > right.name) - Number(left.name < right.name) : order;
}
