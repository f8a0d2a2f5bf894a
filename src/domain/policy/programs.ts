/** Every program that is known, by its name. */
import { INTERPRETERS } from "./interpreters.ts";
import type { Program } from "./program.ts";
import { DEVELOPMENT_PROGRAMS } from "./programs-develop.ts";
import { FILE_PROGRAMS } from "./programs-files.ts";
import { SYSTEM_PROGRAMS } from "./programs-system.ts";

const NAMED = [FILE_PROGRAMS, DEVELOPMENT_PROGRAMS, SYSTEM_PROGRAMS, INTERPRETERS].flatMap((table) =>
  Object.entries(table).flatMap(([names, program]) =>
    names.split("|").map((name): [string, Program] => [name, program]),
  ),
);
const PROGRAMS: ReadonlyMap<string, Program> = new Map(NAMED);

/** Of two entries for one name the later one would hold, and it may be the milder. */
export const DOUBLE_NAMES: readonly string[] = NAMED.filter(([name, program]) => PROGRAMS.get(name) !== program).map(
  ([name]) => name,
);

/** `python3.12` is python's. */
export function programNamed(name: string): Program | undefined {
  return (
    PROGRAMS.get(name) ?? (/^python[\d.]+$/.test(name) ? PROGRAMS.get("python") : undefined) ?? filesystemMaker(name)
  );
}

function filesystemMaker(name: string): Program | undefined {
  return name.startsWith("mkfs.") ? PROGRAMS.get("mkfs") : undefined;
}
