/** A session as one file, written beside its place and moved there when whole. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { SidestickClient } from "../client/sidestick.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../protocol/history.ts";
import { UsageError } from "./exit.ts";
import type { Terminal } from "./terminal.ts";
import { sessionOf } from "./terminals.ts";

export type FileExport = {
  readonly format: string;
  /** Absent: stdout. */
  readonly output: string | undefined;
  readonly force: boolean;
};

export async function exportFile(
  client: SidestickClient,
  given: string,
  { format: named, output, force }: FileExport,
  terminal: Terminal,
): Promise<void> {
  const format = formatOf(named);
  const path = output === undefined ? undefined : resolve(output);
  if (path === undefined && terminal.isTTY) throw new UsageError("An export is for a file: say --output FILE.");
  if (path !== undefined && !force && existsSync(path)) {
    throw new UsageError(`${path} is there already.`, { remedy: "Say --force to write over it." });
  }
  const sessionId = await sessionOf(client, given);
  const pieces = await client.export({ sessionId, format });
  if (path === undefined) {
    for await (const piece of pieces) await terminal.write(piece);
    return;
  }
  await writeWhole(path, pieces);
  terminal.print(path);
}

function formatOf(named: string): ExportFormat {
  const format = EXPORT_FORMATS.find((it) => it === named);
  if (format === undefined)
    throw new UsageError(`--format is "${named}", but should be ${EXPORT_FORMATS.join(" or ")}.`);
  return format;
}

async function writeWhole(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const half = join(dirname(path), `.${randomUUID()}.part`);
  try {
    const file = await open(half, "wx", 0o600);
    try {
      for await (const piece of pieces) await file.appendFile(piece);
    } finally {
      await file.close();
    }
    await rename(half, path);
  } catch (error) {
    await rm(half, { force: true });
    throw error;
  }
}
