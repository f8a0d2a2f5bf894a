/**
 * The names under which a file knows vitest's tests. Only `test`, `it`, `describe` and `suite` are read, so no file may
 * give them another name: nobody would look at the titles, skips and rules below it. Rule HSE-10 in docs/spec/house.md.
 */
import { parseSync, Visitor } from "oxc-parser";
import type { Expression, ImportDeclaration, ModuleExportName, Program } from "oxc-parser";
import { constantText } from "./imports.ts";
import { lineAt } from "./source-files.ts";

export type NameOffence = { readonly line: number; readonly what: string };

const TEST_NAMES: ReadonlySet<string> = new Set(["test", "it", "describe", "suite"]);
const VITEST = "vitest";
const AS_A_WHOLE = 'takes vitest as a whole: write `import { test } from "vitest"`';

/** What is imported from vitest. In a file that imports nothing of it they are globals. */
export function vitestNames({ body }: Program): Set<string> {
  const imports = body.filter((it) => it.type === "ImportDeclaration" && it.source.value === VITEST);
  if (imports.length === 0) return new Set(TEST_NAMES);
  const locals = imports.flatMap((it) => (it as ImportDeclaration).specifiers.map(({ local }) => local.name));
  return new Set(locals.filter((name) => TEST_NAMES.has(name)));
}

/** Wherever a test gets another name, or comes from somewhere else than vitest. */
export function readNameOffences(path: string, source: string): NameOffence[] {
  const { program } = parseSync(path, source);
  const names = vitestNames(program);
  const found: NameOffence[] = [];
  const add = (start: number, what: string): void => void found.push({ line: lineAt(source, start), what });
  new Visitor({
    ImportDeclaration: (node) => importOffences(node).forEach((what) => add(node.start, what)),
    ExportAllDeclaration: (node) => node.source.value === VITEST && add(node.start, AS_A_WHOLE),
    ExportNamedDeclaration: ({ start, source: from, specifiers }) => {
      const passed = specifiers.map((it) => nameOf(it.local)).filter((name) => TEST_NAMES.has(name));
      if (from?.value === VITEST) for (const name of passed) add(start, `exports \`${name}\`: import it from vitest`);
    },
    ImportExpression: (node) => constantText(node.source) === VITEST && add(node.start, AS_A_WHOLE),
    VariableDeclarator: ({ start, init }) => {
      const root = init === null ? undefined : rootOf(init);
      if (root !== undefined && names.has(root)) add(start, `gives \`${root}\` another name: call it where it stands`);
    },
  }).visit(program);
  return found;
}

function importOffences({ source, specifiers }: ImportDeclaration): string[] {
  return specifiers.flatMap((it) => {
    const isVitest = source.value === VITEST;
    if (it.type !== "ImportSpecifier") return isVitest ? [AS_A_WHOLE] : [];
    const name = nameOf(it.imported);
    const { name: local } = it.local;
    if (isVitest && TEST_NAMES.has(name) && name !== local) return [`calls \`${name}\` \`${local}\`: keep its name`];
    const isStrange = TEST_NAMES.has(local) && (isVitest ? name !== local : it.importKind === "value");
    return isStrange ? [`imports \`${local}\`, which is not vitest's: import it from vitest`] : [];
  });
}

function nameOf(node: ModuleExportName): string {
  return node.type === "Literal" ? node.value : node.name;
}

/** `test` of `test`, `test.only` and `test.skipIf(x)`; undefined for `test.extend({})`, whose new name is read. */
function rootOf(node: Expression): string | undefined {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression") return rootOf(node.object);
  if (node.type !== "CallExpression") return undefined;
  const { callee } = node;
  const isExtending =
    callee.type === "MemberExpression" && callee.property.type === "Identifier" && callee.property.name === "extend";
  return isExtending ? undefined : rootOf(callee);
}
