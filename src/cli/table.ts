/**
 * Rows for people. Wide columns give way first; where even that does not fit, each row becomes lines of its own, so
 * that nothing is cut in a way that misleads (CLI-5 in docs/spec/cli.md).
 */
import { printable } from "./printable.ts";
import { fit, pad, widthOf } from "./width.ts";

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** May be cut off when the terminal is narrow. */
  readonly shrinks?: boolean;
};

const GAP = "  ";
const SHRUNK_WIDTH = 12;

/** `width` is the terminal's; without one (a pipe, a file) nothing is cut. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width?: number): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const natural = columns.map((column, at) =>
    Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[at] ?? ""))),
  );
  const widths = width === undefined ? natural : shrink(columns, natural, width);
  if (widths === undefined) return renderRecords(columns, cells, width ?? 0);
  const titles = columns.map((column) => column.title);
  return [titles, ...cells].map((row) => renderRow(row, widths)).join("\n");
}

function renderRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, at) => pad(fit(cell, widths[at] ?? 0), widths[at] ?? 0))
    .join(GAP)
    .trimEnd();
}

/** Undefined when the columns do not fit even at their narrowest. */
function shrink(columns: readonly Column<never>[], natural: readonly number[], width: number): number[] | undefined {
  const room = width - GAP.length * (columns.length - 1);
  const cappedAt = (cap: number) => natural.map((it, at) => (columns[at]?.shrinks === true ? Math.min(it, cap) : it));
  for (let cap = Math.max(width, SHRUNK_WIDTH); cap >= SHRUNK_WIDTH; cap -= 1) {
    const widths = cappedAt(cap);
    if (widths.reduce((sum, it) => sum + it, 0) <= room) return widths;
  }
  return undefined;
}

function renderRecords(
  columns: readonly Column<never>[],
  cells: readonly (readonly string[])[],
  width: number,
): string {
  const label = Math.max(...columns.map((column) => widthOf(column.title)));
  const record = (row: readonly string[]): string =>
    columns.map(({ title }, at) => fit(`${pad(title, label)}${GAP}${row[at] ?? ""}`, width)).join("\n");
  return cells.map(record).join("\n\n");
}
