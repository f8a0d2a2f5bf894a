/**
 * The audit file. Appended to and nothing else, but for a torn end, which is cut off when the file is opened. A file
 * that was moved away is left alone and a new one begun. Rules AUD-6..AUD-8.
 */
import { constants, type FileHandle, open, stat } from "node:fs/promises";
import { parseObject, splitLine } from "../../domain/audit-chain.ts";
import type { AuditFile, AuditHead } from "../../hub/ports.ts";

/** Looked through for whole lines at a start; the last is nearly always one. */
const TAIL_BYTES = 1 << 20;

export class JsonLinesFile implements AuditFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async newest(): Promise<readonly AuditHead[]> {
    const handle = await this.#open();
    for (let bytes = TAIL_BYTES; ; bytes *= 4) {
      const heads = linesIn(await readEnd(handle, this.#size, bytes)).flatMap((line) => headOf(line) ?? []);
      if (heads.length > 0 || bytes >= this.#size) return heads.toReversed();
    }
  }

  async append(lines: readonly string[]): Promise<void> {
    const handle = await this.#open();
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    try {
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
      await handle.datasync();
      this.#size += bytes.length;
    } catch (error) {
      // Opening it again would cut off a torn line only; whole ones would come twice.
      await handle.truncate(this.#size).catch(() => undefined);
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle !== undefined && (await this.#isThere(this.#handle))) return this.#handle;
    await this.close();
    const { O_APPEND, O_CREAT, O_RDWR } = constants;
    const handle = await open(this.#path, O_RDWR | O_APPEND | O_CREAT, 0o600);
    this.#handle = handle;
    const { size } = await handle.stat();
    this.#size = await wholeSize(handle, size);
    if (this.#size < size) await handle.truncate(this.#size);
    return handle;
  }

  /** Else it was moved away, or emptied in place. */
  async #isThere(handle: FileHandle): Promise<boolean> {
    const [ours, there] = await Promise.all([handle.stat(), stat(this.#path).catch(() => undefined)]);
    return there?.ino === ours.ino && there.dev === ours.dev && ours.size === this.#size;
  }
}

/** Up to and with the last line end. */
async function wholeSize(handle: FileHandle, size: number): Promise<number> {
  for (let bytes = 1 << 16; ; bytes *= 4) {
    const end = await readEnd(handle, size, bytes);
    const at = end.lastIndexOf("\n");
    if (at !== -1) return size - end.length + at + 1;
    if (bytes >= size) return 0;
  }
}

async function readEnd(handle: FileHandle, size: number, bytes: number): Promise<Buffer> {
  const length = Math.min(size, bytes);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.subarray(0, bytesRead);
}

/** The first of them may be cut. */
function linesIn(bytes: Buffer): readonly string[] {
  return bytes.toString().split("\n");
}

function headOf(line: string): AuditHead | undefined {
  const split = splitLine(line);
  if (split === undefined) return undefined;
  const { sequence, type, checkpoint } = parseObject(split.body);
  if (typeof sequence !== "number") return undefined;
  return type === "checkpoint"
    ? { sequence, checkpoint: Number(checkpoint), chain: split.chain }
    : { sequence, chain: split.chain };
}
