/** YAML with the places where things stand. What is wrong comes as problems with a line, never as an exception. */
import { type Document, isMap, isNode, isPair, isSeq, LineCounter, parseDocument } from "yaml";
import type { PolicyDocument, PolicyProblem } from "../../hub/ports.ts";

/** A list of one hundred things that each are a list of one hundred things is a bomb; a policy needs a few at most. */
const ALIASES_MAX = 50;
const PROBLEMS_MAX = 20;

export type Source = { readonly path: string; readonly workspaceId?: string | undefined; readonly text: string };

export function readYaml({ path, workspaceId, text }: Source): PolicyDocument {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, merge: false });
  const problems = [...document.errors, ...document.warnings]
    .slice(0, PROBLEMS_MAX)
    .map(({ message, pos }): PolicyProblem => ({
      file: path,
      ...at(pos[0]),
      message: message.replaceAll(/\s+/g, " "),
      remedy: "It isn't YAML: look at the quotes and the indentation there.",
    }));
  const locate = (way: readonly PropertyKey[]) => at(offsetOf(document, way));
  if (problems.length > 0) return { path, workspaceId, problems, locate };
  try {
    return { path, workspaceId, problems, locate, value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown };
  } catch (error) {
    const remedy = "Write things out instead of naming them by * so often.";
    const message = (error as Error).message.replaceAll(/\s+/g, " ");
    return { path, workspaceId, problems: [{ file: path, line: 1, column: 1, message, remedy }], locate };
  }
}

/** Of the deepest thing on the way that there is. */
function offsetOf(document: Document, way: readonly PropertyKey[]): number {
  let at: unknown = document.contents;
  let offset = isNode(at) ? (at.range?.[0] ?? 0) : 0;
  for (const name of way) {
    const found: unknown = isSeq(at) ? at.items[Number(name)] : isMap(at) ? pairOf(at.items, name) : undefined;
    if (found === undefined) return offset;
    const shown = isPair(found) ? found.key : found;
    at = isPair(found) ? found.value : found;
    if (isNode(shown)) offset = shown.range?.[0] ?? offset;
  }
  return offset;
}

function pairOf(items: readonly { readonly key: unknown }[], name: PropertyKey): unknown {
  return items.find(({ key }) => String(key) === String(name));
}
