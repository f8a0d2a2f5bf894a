/**
 * Keeps rules and tests together: every rule of docs/spec is cited by a test, or names the benchmark that judges it;
 * every test cites a rule, and every requirement of the seeds is traced. Rules HSE-8..HSE-12 in docs/spec/house.md.
 *
 *   node tools/spec.ts    prints what does not fit
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { filesIn, isMain, report, ROOT, strayTests } from "./source-files.ts";
import { unknownNeeds } from "./suite/needs.ts";
import { reasonOf } from "./suite/verdict.ts";
import { readNameOffences } from "./test-names.ts";
import { readTestTitles } from "./test-titles.ts";
import type { TestTitle } from "./test-titles.ts";

const ID = "[A-Z]{2,4}-[1-9]\\d*";
const RULE_LINE = new RegExp(`^- \\*\\*(${ID})\\*\\*`);
const LOOKS_LIKE_RULE = /^\s*[-*]\s*\*\*[A-Za-z]+-\d+\S*\*\*/;
const CITATION = new RegExp(`^\\[(${ID}(?:, ${ID})*)\\] [^\\s[]`);
const BENCHMARK = /`npm run bench -- ([\w-]+)`/;
const TRACE_PART = new RegExp(`^(?:${ID}(?:, ${ID})*|planned: (?<area>\\S+)|n/a — \\S.*)$`);
const TRACE = "docs/spec/trace.md";
const AREAS = new Set(
  "foundation terminals control guard approvals prompts remote web desktops browser files".split(" "),
);

type Rule = {
  /** `file:line` */
  readonly at: string;
  /** The benchmark that the rule names. */
  readonly benchmark: string | undefined;
};
type Rules = ReadonlyMap<string, Rule>;

/** Everything that does not fit, as `file:line what`. */
export function specOffences(root: string): string[] {
  const { rules, offences } = readRules(root);
  const cited = new Set<string>();
  for (const path of strayTests(root))
    offences.push(`${path} never runs: call it name.test.ts, in a folder of src, test or tools without a dot`);
  for (const path of filesIn(root, "{src,test,tools}/**/*.{test,contract}.{ts,tsx}")) {
    const source = readFileSync(join(root, path), "utf8");
    offences.push(...readNameOffences(path, source).map(({ line, what }) => `${path}:${line} ${what}`));
    for (const title of readTestTitles(path, source)) {
      const at = `${path}:${title.line}`;
      const ids = citedIds(title);
      offences.push(...titleOffences(title, ids, rules).map((what) => `${at} ${what}`));
      if (!title.neverRuns && title.faults.length === 0) for (const id of ids) cited.add(id);
    }
  }
  const benchmarks = new Set(filesIn(root, "bench/*.ts").map((path) => basename(path, ".ts")));
  for (const [id, { at, benchmark }] of rules) {
    if (cited.has(id) || (benchmark !== undefined && benchmarks.has(benchmark))) continue;
    offences.push(
      `${at} ${id} is cited by no test${benchmark === undefined ? "" : `, and there is no bench/${benchmark}.ts`}`,
    );
  }
  return [...offences, ...traceOffences(root, rules)];
}

function readRules(root: string): { rules: Rules; offences: string[] } {
  const rules = new Map<string, Rule>();
  const offences: string[] = [];
  for (const path of filesIn(root, "docs/spec/*.md")) {
    for (const [index, line] of linesOf(root, path).entries()) {
      const at = `${path}:${index + 1}`;
      const id = RULE_LINE.exec(line)?.[1];
      const first = id === undefined ? undefined : rules.get(id);
      if (first !== undefined) offences.push(`${at} ${id} is already defined at ${first.at}`);
      else if (id !== undefined) rules.set(id, { at, benchmark: BENCHMARK.exec(line)?.[1] });
      else if (LOOKS_LIKE_RULE.test(line)) offences.push(`${at} is not a rule: write - **ABC-12** at the line's start`);
    }
  }
  return { rules, offences };
}

function citedIds(title: TestTitle): string[] {
  return CITATION.exec(title.title ?? "")?.[1]?.split(", ") ?? [];
}

function titleOffences(title: TestTitle, ids: readonly string[], rules: Rules): string[] {
  const offences: string[] = [];
  const named = JSON.stringify(title.title);
  if (title.kind === "test" && title.title === undefined) offences.push("has a title that can't be read: write it out");
  else if (ids.length === 0 && (title.kind === "test" || title.title?.startsWith("["))) {
    offences.push(`${named} does not begin with a rule id: [ABC-12] or [ABC-12, ABC-13]`);
  }
  for (const id of ids) if (!rules.has(id)) offences.push(`${named} cites ${id}, which no page of docs/spec defines`);
  if (title.skipped !== "never" && reasonOf(title.title ?? "") === undefined) {
    offences.push(`${named} may be skipped: say why in its title, as (needs …), (only …) or (skipped: …)`);
  }
  offences.push(...title.faults.map((what) => `${named ?? "a test"} ${what}`));
  // A hole is filled from a table's rows: the runner looks at those.
  const unknown = unknownNeeds(title.title ?? "").filter((it) => !/[$%…]/.test(it));
  if (unknown.length > 0) offences.push(`${named} needs what tools/suite/needs.ts doesn't know: ${unknown.join(", ")}`);
  if (title.only) offences.push(`${named} is marked only: the others would not run`);
  return offences;
}

/** Rows are `| id | requirement | rule |`; several parts of the last cell are set apart by `;`. */
function traceOffences(root: string, rules: Rules): string[] {
  const seen = new Set<string>();
  return filesIn(root, TRACE).flatMap((path) =>
    linesOf(root, path).flatMap((line, index) => {
      const cells = /^\|(.*)\|\s*$/
        .exec(line)?.[1]
        ?.split(/(?<!\\)\|/)
        .map((cell) => cell.trim());
      if (cells === undefined || cells[0] === "id" || /^[-: ]*$/.test(cells[0] ?? "")) return [];
      const [id = "", requirement = "", rule = ""] = cells;
      const offences = cells.length === 3 && requirement !== "" ? [] : [`${id} is not a row of three cells`];
      if (seen.has(id)) offences.push(`${id} stands twice`);
      seen.add(id);
      offences.push(...rule.split("; ").flatMap((part) => tracePartOffences(id, part, rules)));
      return offences.map((what) => `${path}:${index + 1} ${what}`);
    }),
  );
}

function tracePartOffences(id: string, part: string, rules: Rules): string[] {
  const match = TRACE_PART.exec(part);
  if (match === null) return [`${id} names neither rules, nor \`planned: <area>\`, nor \`n/a — <reason>\`: ${part}`];
  const area = match.groups?.area;
  if (area !== undefined) return AREAS.has(area) ? [] : [`${id} is planned for an unknown area: ${area}`];
  if (part.startsWith("n/a")) return [];
  return part.split(", ").flatMap((rule) => (rules.has(rule) ? [] : [`${id} names ${rule}, which is not defined`]));
}

function linesOf(root: string, path: string): string[] {
  return readFileSync(join(root, path), "utf8").split("\n");
}

if (isMain(import.meta.url)) report("spec", specOffences(ROOT));
