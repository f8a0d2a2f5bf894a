/**
 * Reads the titles of the tests in a file: `test`, `it` and `describe` of vitest, with their forms (`.each`, `.skipIf(…)`,
 * options as second argument), and local names made by `test.extend(…)`. Under another name a test would be seen by
 * nobody: `test-names.ts` tells of those.
 */
import { parseSync, Visitor } from "oxc-parser";
import type {
  Argument,
  CallExpression,
  Expression,
  MemberExpression,
  ObjectProperty,
  TaggedTemplateExpression,
  TSAsExpression,
} from "oxc-parser";
import { constantText } from "./imports.ts";
import { lineAt } from "./source-files.ts";
import { vitestNames } from "./test-names.ts";

export type TestTitle = {
  readonly line: number;
  readonly kind: "test" | "describe";
  /** The title up to its first hole; undefined when it can't be read from the source. */
  readonly title: string | undefined;
  /** `always`: it never runs. `sometimes`: that depends on a condition. */
  readonly skipped: "never" | "sometimes" | "always";
  /** By itself or by a suite around it. */
  readonly neverRuns: boolean;
  readonly only: boolean;
  /** What else keeps it from being read, or from proving anything. */
  readonly faults: readonly string[];
};

const SUITES = new Set(["describe", "suite"]);
const ALWAYS = new Set(["skip", "todo"]);
const SOMETIMES = new Set(["skipIf", "runIf"]);
const TABLES = new Set(["each", "for"]);
/** Forms that take the title in a second call: `test.each(cases)("title", …)`. */
const CURRIED = new Set([...TABLES, ...SOMETIMES]);
/** Stands for `test[form]`. */
const COMPUTED = "[…]";
const FORMS = new Set([...CURRIED, ...ALWAYS, COMPUTED, "only", "fails", "concurrent", "sequential", "shuffle"]);
const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionExpression"]);

export function readTestTitles(path: string, source: string): TestTitle[] {
  const { program, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new Error(`${path} can't be parsed: ${errors[0].message}`);
  const names = vitestNames(program);
  const titles: Found[] = [];

  new Visitor({
    VariableDeclarator: (node) => {
      const chain = node.init?.type === "CallExpression" ? chainOf(node.init.callee) : undefined;
      if (chain === undefined || !names.has(chain.root) || !chain.forms.includes("extend")) return;
      if (node.id.type === "Identifier") names.add(node.id.name);
    },
    CallExpression: (node) => {
      const chain = chainOf(node.callee);
      if (chain === undefined || !names.has(chain.root) || !namesTest(chain)) return;
      const [title, ...rest] = node.arguments;
      const forms = [...chain.forms, ...rest.flatMap(optionNames)];
      titles.push({
        start: node.start,
        end: node.end,
        line: lineAt(source, node.start),
        kind: SUITES.has(chain.root) ? "describe" : "test",
        title: title === undefined || title.type === "SpreadElement" ? undefined : leadingText(title),
        skipped: skipping(forms),
        neverRuns: skipping(forms) === "always",
        only: forms.includes("only"),
        faults: faultsOf(chain, forms, rest),
      });
    },
  }).visit(program);
  return titles.map((it) => withSuites(it, titles)).toSorted((a, b) => a.line - b.line);
}

type Found = TestTitle & { readonly start: number; readonly end: number };

/** What is in a suite that never runs doesn't run either. */
function withSuites({ start, end, ...title }: Found, all: readonly Found[]): TestTitle {
  const around = all.filter((it) => it.kind === "describe" && it.start < start && it.end >= end);
  return { ...title, neverRuns: title.neverRuns || around.some((it) => it.neverRuns) };
}

function faultsOf({ isEmpty }: Chain, forms: readonly string[], rest: readonly Argument[]): string[] {
  const [options, body] = rest;
  const isReadable =
    options === undefined ||
    body === undefined ||
    body.type === "Literal" ||
    (options.type === "ObjectExpression"
      ? options.properties.every((it) => it.type === "Property" && keyOf(it) !== undefined)
      : FUNCTIONS.has(options.type));
  return [
    ...(isEmpty ? ["has a table without rows: it never runs"] : []),
    ...(forms.includes(COMPUTED) ? ["has a form that can't be read: write `test.each`, not `test[form]`"] : []),
    ...(forms.includes("retry") ? ["is tried again: a test that fails is a defect, so take `retry` out"] : []),
    ...(isReadable ? [] : ["has options that can't be read: write them out"]),
  ];
}

type Chain = {
  readonly root: string;
  readonly forms: readonly string[];
  readonly curried: boolean;
  /** It has a table, written out, without rows. */
  readonly isEmpty: boolean;
};

/** `test.skipIf(x).each(y)` → root `test`, forms `skipIf, each`; undefined when it does not start at a name. */
function chainOf(node: Expression): Chain | undefined {
  switch (node.type) {
    case "Identifier":
      return { root: node.name, forms: [], curried: false, isEmpty: false };
    case "MemberExpression": {
      const inner = chainOf(node.object);
      return inner && { ...inner, forms: [...inner.forms, formOf(node)], curried: false };
    }
    case "CallExpression":
    case "TaggedTemplateExpression": {
      const inner = chainOf(node.type === "CallExpression" ? node.callee : node.tag);
      return inner && { ...inner, curried: true, isEmpty: inner.isEmpty || hasEmptyTable(node, inner) };
    }
    default:
      return undefined;
  }
}

function formOf(node: MemberExpression): string {
  if (node.property.type === "PrivateIdentifier") return COMPUTED;
  if (!node.computed && node.property.type === "Identifier") return node.property.name;
  return constantText(node.property) ?? COMPUTED;
}

function hasEmptyTable(node: CallExpression | TaggedTemplateExpression, { forms, curried }: Chain): boolean {
  if (curried || !TABLES.has(forms.at(-1) ?? "")) return false;
  if (node.type === "TaggedTemplateExpression") return node.quasi.expressions.length === 0;
  const [table] = node.arguments;
  return table !== undefined && table.type !== "SpreadElement" && isEmptyArray(table);
}

function isEmptyArray(node: Expression): boolean {
  if (["TSAsExpression", "TSSatisfiesExpression", "ParenthesizedExpression"].includes(node.type))
    return isEmptyArray((node as TSAsExpression).expression);
  return node.type === "ArrayExpression" && node.elements.length === 0;
}

/**
 * Whether this call is the one that takes the title: not `test.each(cases)` on the way to it, and nothing of a
 * variable that only happens to be called `it`.
 */
function namesTest({ forms, curried }: Chain): boolean {
  return forms.every((form) => FORMS.has(form)) && (curried || !CURRIED.has(forms.at(-1) ?? ""));
}

function optionNames(node: Argument): string[] {
  if (node.type !== "ObjectExpression") return [];
  return node.properties.flatMap((it) => {
    const key = it.type === "Property" ? keyOf(it) : undefined;
    if (it.type !== "Property" || key === undefined) return [];
    const constant = it.value.type === "Literal" ? it.value.value : undefined;
    if (constant === false) return [];
    return key === "skip" && constant !== true ? ["skipIf"] : [key];
  });
}

/** Undefined for one that is computed. */
function keyOf({ key, computed }: ObjectProperty): string | undefined {
  if (key.type === "Identifier" && !computed) return key.name;
  return key.type === "PrivateIdentifier" ? undefined : constantText(key);
}

function skipping(forms: readonly string[]): TestTitle["skipped"] {
  if (forms.some((form) => ALWAYS.has(form))) return "always";
  return forms.some((form) => SOMETIMES.has(form)) ? "sometimes" : "never";
}

function leadingText(node: Expression): string | undefined {
  if (node.type !== "TemplateLiteral") return constantText(node);
  // Holes become `…`: what stands after them still counts for a reason in brackets.
  return node.quasis.map((quasi) => quasi.value.cooked ?? "").join("…");
}
