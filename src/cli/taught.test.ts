/** What people and agents are taught has to work as it stands. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS, DEFAULTS } from "./commands.ts";
import { COMMON_OPTIONS } from "./options.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PAGES = ["SKILL.md", "README.md", "docs/guide/terminals.md", "docs/guide/control.md"];

type Line = { readonly words: readonly string[]; readonly text: string };

function linesOf(page: string): Line[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/(?<![\w./-])sidestick ((?:[a-z-]+)(?:[ =].*)?)/g)].map(([, found = ""]) => {
    const [command = ""] = found.split(/[`#|)]| {2,}/);
    const own = command.split(" -- ")[0]?.replaceAll(/'[^']*'/g, "TEXT") ?? "";
    return { words: own.trim().split(/\s+/), text: command };
  });
}

/** What is wrong with a command line that somebody is told to use. */
function offence({ words, text }: Line): string[] {
  const [first = "", second = ""] = words;
  const name = COMMANDS.some((it) => it.name === `${first} ${second}`)
    ? `${first} ${second}`
    : (DEFAULTS[first] ?? first);
  const command = COMMANDS.find((it) => it.name === name);
  if (command === undefined) return [`no such command: ${text}`];
  const known = Object.keys({ ...command.options, ...COMMON_OPTIONS });
  return words
    .filter((it) => it.startsWith("--") && !known.includes(it.slice(2)))
    .map((it) => `no option ${it}: ${text}`);
}

test.each(PAGES)("[TCL-24] %s names only commands and options that there are", (page) => {
  const lines = linesOf(page);

  expect(lines.length).toBeGreaterThan(15);
  expect(lines.flatMap(offence)).toEqual([]);
});
