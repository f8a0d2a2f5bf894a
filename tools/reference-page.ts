/** How a page of docs/reference is put together. */
import { z } from "zod";
import { fieldsOf } from "./json-schema-text.ts";
import type { JsonSchema } from "./json-schema-text.ts";

export const MADE =
  "<!-- Made by tools/reference.ts from the code. To change it, change the code and run: npm run reference -->";

export function schemaOf(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  return z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonSchema;
}

export type FieldTable = {
  readonly needed: "required" | "always";
  readonly inPath?: readonly string[];
  /** Leaves out the fields of these fields: another page has them. */
  readonly closed?: readonly string[];
};

export function fieldTable(schema: JsonSchema, { needed, inPath = [], closed = [] }: FieldTable): string {
  const fields = fieldsOf(schema).filter(({ name }) => !closed.some((it) => name.startsWith(`${it}.`)));
  const rows = fields.map(({ name, type, required, note }) => [
    `\`${name}\``,
    type,
    required ? "yes" : "",
    [...(inPath.includes(name) ? ["In the path."] : []), ...(note === "" ? [] : [note])].join(" "),
  ]);
  return table(["field", "type", needed, "note"], rows);
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** As GitHub and most other readers make it from a heading. */
export function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\w-]/g, "");
}

export function page(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}
