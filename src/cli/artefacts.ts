/**
 * A conversation's terminals as files (seed 001): `events.jsonl`, `blocks.jsonl` and the output of each block. Written
 * beside their place and moved there when whole: what is there is never half. Rules TCL-19..TCL-22 in
 * docs/spec/terminal-cli.md.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SidestickClient, WorkspaceEvent } from "../client/sidestick.ts";
import { LiveSession } from "./live-session.ts";

export type Exported = { readonly events: number; readonly blocks: number; readonly bytes: number };

type BlockLine = {
  readonly block_id: string;
  readonly seq: number;
  readonly ts_begin: number;
  readonly cursor: number;
  readonly end_cursor?: number;
} & Readonly<Record<string, unknown>>;

const PAGE = 5000;

export class Artefacts {
  readonly #client: SidestickClient;
  readonly #directory: string;
  readonly #onProgress: (sofar: Exported) => void;
  #done = { events: 0, blocks: 0, bytes: 0 };

  constructor(client: SidestickClient, directory: string, onProgress: (sofar: Exported) => void) {
    this.#client = client;
    this.#directory = directory;
    this.#onProgress = onProgress;
  }

  async write(sessionIds: readonly string[]): Promise<Exported> {
    await mkdir(join(this.#directory, "blocks"), { recursive: true, mode: 0o700 });
    const all: { readonly sessionId: string; readonly blocks: readonly BlockLine[] }[] = [];
    await this.#file("events.jsonl", async (file) => {
      for (const sessionId of sessionIds) all.push({ sessionId, blocks: await this.#events(sessionId, file) });
    });
    for (const { sessionId, blocks } of all) await this.#outputs(sessionId, blocks);
    const lines = all.flatMap(({ blocks }) => blocks.map((block) => `${JSON.stringify(block)}\n`));
    await this.#file("blocks.jsonl", (file) => file.writeFile(lines.join("")));
    return this.#done;
  }

  async #events(sessionId: string, file: FileHandle): Promise<readonly BlockLine[]> {
    const blocks = new Map<string, BlockLine>();
    let after: number | undefined;
    for (;;) {
      const page = await this.#client.event.list({ sessionId, after, limit: PAGE });
      for (const event of page) foldBlock(blocks, event);
      await file.appendFile(page.map((event) => `${JSON.stringify(event)}\n`).join(""));
      this.#count({ events: page.length });
      // A page may be cut short by its size; only an empty one is the last.
      if (page.length === 0) return [...blocks.values()];
      after = page.at(-1)?.sequence;
    }
  }

  /** One pass over the session's bytes: blocks follow one another. */
  async #outputs(sessionId: string, blocks: readonly BlockLine[]): Promise<void> {
    for (const block of blocks) {
      const name = join("blocks", `${block.seq}_${block.ts_begin}.out`);
      await this.#file(name, (file) => this.#output(sessionId, block, file));
      this.#count({ blocks: 1 });
    }
  }

  async #output(sessionId: string, { cursor, end_cursor }: BlockLine, file: FileHandle): Promise<void> {
    // One that still runs has no end yet.
    if (end_cursor === undefined || end_cursor === cursor) return;
    let left = end_cursor - cursor;
    const live = new LiveSession(this.#client, sessionId, {
      onBytes: async (bytes) => {
        const wanted = bytes.subarray(0, left);
        left -= wanted.length;
        await file.appendFile(wanted);
        this.#count({ bytes: wanted.length });
      },
      onGap: (bytes) => (left -= bytes),
    });
    try {
      live.attach({ from: cursor });
      await Promise.race([live.reached(end_cursor), live.closed]);
    } finally {
      live.close();
    }
  }

  #count(more: Partial<Exported>): void {
    const { events, blocks, bytes } = this.#done;
    this.#done = {
      events: events + (more.events ?? 0),
      blocks: blocks + (more.blocks ?? 0),
      bytes: bytes + (more.bytes ?? 0),
    };
    this.#onProgress(this.#done);
  }

  /** Made anew under another name: a link that somebody put there is not followed. */
  async #file(name: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    const path = join(this.#directory, name);
    const making = `${path}.${randomUUID().slice(0, 8)}`;
    try {
      const file = await open(making, "wx", 0o600);
      try {
        await fill(file);
      } finally {
        await file.close();
      }
      await rename(making, path);
    } catch (error) {
      await rm(making, { force: true });
      throw error;
    }
  }
}

/** As `pty.blocks` names them. */
function foldBlock(blocks: Map<string, BlockLine>, { type, payload, timestamp, sessionId }: WorkspaceEvent): void {
  const { blockId: block_id = "", cursor = 0 } = payload as { readonly blockId?: string; readonly cursor?: number };
  const at = Date.parse(timestamp);
  if (type === "agent_block_begin") {
    const {
      seq = 0,
      cmd = "",
      cwd,
      runId,
      ts = at,
    } = payload as {
      readonly seq?: number;
      readonly cmd?: string;
      readonly cwd?: string;
      readonly runId?: string;
      readonly ts?: number;
    };
    const interactive = runId !== undefined;
    const begun = { block_id, seq, command: cmd, cwd, interactive, session_id: runId, cursor, ts_begin: ts };
    blocks.set(block_id, { ...begun, workspace_session_id: sessionId });
  }
  const block = blocks.get(block_id);
  if (type !== "agent_block_end" || block === undefined) return;
  const { exitCode, signal, durationMs, integration, canceled } = payload;
  const end = { exit_code: exitCode, signal, duration_ms: durationMs, integration, canceled };
  blocks.set(block_id, { ...block, end_cursor: cursor, ts_end: at, ...end });
}
