/**
 * Reads the titles of the tests in a file: `test`, `it` and `describe`, with their forms (`.each`, `.skipIf(…)`,
 * options as second argument), and local names made by `test.extend(…)`.
 */
import { parseSync, Visitor } from "oxc-parser";
import type { Argument, Expression } from "oxc-parser";
import { constantText } from "./imports.ts";
import { lineAt } from "./source-files.ts";

export type TestTitle = {
  readonly line: number;
  readonly kind: "test" | "describe";
  /** The title up to its first hole; undefined when it can't be read from the source. */
  readonly title: string | undefined;
  /** `always`: it never runs. `sometimes`: that depends on a condition. */
  readonly skipped: "never" | "sometimes" | "always";
  readonly only: boolean;
};

const SUITES = new Set(["describe", "suite"]);
const ALWAYS = new Set(["skip", "todo"]);
const SOMETIMES = new Set(["skipIf", "runIf"]);
/** Forms that take the title in a second call: `test.each(cases)("title", …)`. */
const CURRIED = new Set(["each", "for", ...SOMETIMES]);
const FORMS = new Set([...CURRIED, ...ALWAYS, "only", "fails", "concurrent", "sequential", "shuffle"]);

export function readTestTitles(path: string, source: string): TestTitle[] {
  const { program, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new Error(`${path} can't be parsed: ${errors[0].message}`);
  const names = new Set(["test", "it", ...SUITES]);
  const titles: TestTitle[] = [];

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
        line: lineAt(source, node.start),
        kind: SUITES.has(chain.root) ? "describe" : "test",
        title: title === undefined || title.type === "SpreadElement" ? undefined : leadingText(title),
        skipped: skipping(forms),
        only: forms.includes("only"),
      });
    },
  }).visit(program);
  return titles.toSorted((a, b) => a.line - b.line);
}

type Chain = { readonly root: string; readonly forms: readonly string[]; readonly curried: boolean };

/** `test.skipIf(x).each(y)` → root `test`, forms `skipIf, each`; undefined when it does not start at a name. */
function chainOf(node: Expression): Chain | undefined {
  switch (node.type) {
    case "Identifier":
      return { root: node.name, forms: [], curried: false };
    case "MemberExpression": {
      const inner = chainOf(node.object);
      if (inner === undefined || node.property.type !== "Identifier") return undefined;
      return { ...inner, forms: [...inner.forms, node.property.name], curried: false };
    }
    case "CallExpression":
    case "TaggedTemplateExpression": {
      const inner = chainOf(node.type === "CallExpression" ? node.callee : node.tag);
      return inner && { ...inner, curried: true };
    }
    default:
      return undefined;
  }
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
    if (it.type !== "Property" || it.key.type !== "Identifier") return [];
    const constant = it.value.type === "Literal" ? it.value.value : undefined;
    if (constant === false) return [];
    return it.key.name === "skip" && constant !== true ? ["skipIf"] : [it.key.name];
  });
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
