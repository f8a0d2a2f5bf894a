/**
 * Reads what a TypeScript file imports, from its syntax tree: comments and strings can't be mistaken for imports,
 * and type-only imports, which leave no trace at run time, are seen too.
 */
import { parseSync, Visitor } from "oxc-parser";
import type { Expression } from "oxc-parser";
import { lineAt } from "./source-files.ts";

export type Import = {
  readonly line: number;
  /** What is imported; for a computed one the source text of the expression. */
  readonly specifier: string;
  readonly how: "static" | "dynamic" | "computed";
};

export function readImports(path: string, source: string): Import[] {
  const { program, comments, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new Error(`${path} can't be parsed: ${errors[0].message}`);
  const found: (Omit<Import, "line"> & { readonly at: number })[] = [];
  const literal = (at: number, specifier: string) => found.push({ at, specifier, how: "static" });
  const dynamic = (argument: Expression, at: number) => {
    const specifier = constantText(argument);
    found.push(
      specifier === undefined
        ? { at, specifier: source.slice(argument.start, argument.end), how: "computed" }
        : { at, specifier, how: "dynamic" },
    );
  };

  new Visitor({
    ImportDeclaration: (node) => literal(node.start, node.source.value),
    ExportAllDeclaration: (node) => literal(node.start, node.source.value),
    ExportNamedDeclaration: (node) => node.source && literal(node.start, node.source.value),
    TSImportType: (node) => literal(node.start, node.source.value),
    TSExternalModuleReference: (node) => literal(node.start, node.expression.value),
    ImportExpression: (node) => dynamic(node.source, node.start),
    CallExpression: (node) => {
      const [first] = node.arguments;
      if (first === undefined || first.type === "SpreadElement") return;
      if (isLoader(source.slice(node.callee.start, node.callee.end))) dynamic(first, node.start);
    },
    // Workers and assets: `new URL("./worker.ts", import.meta.url)`. A computed one reads one of a folder's own assets.
    NewExpression: (node) => {
      const [first, base] = node.arguments;
      if (first === undefined || base === undefined || first.type === "SpreadElement") return;
      if (source.slice(base.start, base.end) !== "import.meta.url" || constantText(first) === undefined) return;
      dynamic(first, node.start);
    },
  }).visit(program);

  for (const comment of comments) {
    const reference = /^\/\s*<reference\s+(?:types|path)="([^"]+)"/.exec(comment.value)?.[1];
    if (reference !== undefined) literal(comment.start, reference);
  }
  return found
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, specifier, how }) => ({ line: lineAt(source, at), specifier, how }));
}

/** The text of a string or of a template without holes. */
export function constantText(node: Expression): string | undefined {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

function isLoader(callee: string): boolean {
  return /^(?:(?:require|createRequire\(.*\))(?:\.resolve)?|import\.meta\.resolve)$/s.test(callee);
}
