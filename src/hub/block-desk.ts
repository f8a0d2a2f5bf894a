/**
 * What each terminal is doing, as its host told it: the active and the last block, the question that a program waits
 * with, and who typed last. A fold of events; nothing here is inferred. Rules in docs/spec/pty.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { JsonObject, StoredEvent } from "../domain/event.ts";
import type { Integration } from "./terminal-driver.ts";
import { follow, type Journal } from "./journal.ts";
import { woken } from "./woken.ts";

export type BlockEnd = {
  readonly cursor: number;
  readonly position: number;
  readonly at: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly cwd?: string;
  readonly integration?: Integration;
  readonly durationMs?: number;
  readonly canceled?: boolean;
};

export type BlockRecord = {
  readonly blockId: string;
  readonly seq: number;
  readonly command: string;
  readonly cwd?: string;
  readonly runId?: string;
  readonly by: Actor;
  readonly cursor: number;
  readonly position: number;
  readonly at: number;
  readonly end?: BlockEnd;
};

export type Question = {
  readonly promptId: string;
  readonly kind: string;
  readonly program: string;
  readonly confidence: string;
  readonly position: number;
  /** Of the event that told it. */
  readonly sequence: number;
  /** Its reader. */
  readonly pid: number;
  readonly echo?: boolean | undefined;
  readonly canonical?: boolean | undefined;
};

type Terminal = {
  block?: BlockRecord;
  question?: Question;
  readonly inputs: Map<string, number>;
  readonly waiting: Set<() => void>;
  isOver: boolean;
};

const FOLDED = ["agent_block_begin", "agent_block_end", "prompt", "prompt_decision", "input", "status"] as const;
const PAGE = 1000;
const LAST_WORDS_KEPT = 1000;

export class BlockDesk {
  readonly #journal: Journal;
  readonly #terminals = new Map<string, Terminal>();
  /** Who typed last where a terminal is over: what they wait for came after it, or never. */
  readonly #lastWords = new Map<string, Terminal["inputs"]>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async start(): Promise<void> {
    await follow(this.#journal.log, FOLDED, (event) => this.#fold(event));
  }

  /** The active block, else the last. */
  last(sessionId: string): BlockRecord | undefined {
    return this.#terminals.get(sessionId)?.block;
  }

  /** What a program waits with, as far as the log goes: only the gate knows whether it still does. */
  question(sessionId: string): Question | undefined {
    return this.#terminals.get(sessionId)?.question;
  }

  /** The events that a restarted hub needs to know what stands. */
  standingSequences(): number[] {
    return [...this.#terminals.values()].flatMap(({ question }) => question?.sequence ?? []);
  }

  /** The position of an actor's last accepted input, 0 before the first. */
  lastInput(sessionId: string, actorId: string): number {
    const inputs = this.#terminals.get(sessionId)?.inputs ?? this.#lastWords.get(sessionId);
    return inputs?.get(actorId) ?? 0;
  }

  noteInput(sessionId: string, actorId: string, position: number): void {
    const { inputs } = this.#terminal(sessionId);
    inputs.set(actorId, Math.max(position, inputs.get(actorId) ?? 0));
  }

  /** Resolves when the block has ended, or its program waits for input, or the signal is aborted. */
  async settled(sessionId: string, block: { blockId: string; position: number }, signal: AbortSignal): Promise<void> {
    const terminal = this.#terminal(sessionId);
    while (!signal.aborted) {
      // The host's answer may be here before its events are.
      const { blockId, position = -1, end } = terminal.block ?? {};
      if (position > block.position || (blockId === block.blockId && end !== undefined)) return;
      if ((terminal.question?.position ?? 0) > block.position || terminal.isOver) return;
      await woken(terminal.waiting, signal);
    }
  }

  /** Resolves when the block has ended, or the signal is aborted: then with the block. */
  async ended(
    sessionId: string,
    block: BlockRecord | undefined,
    signal: AbortSignal,
  ): Promise<BlockRecord | undefined> {
    const terminal = this.#terminals.get(sessionId);
    if (block === undefined || terminal === undefined) return undefined;
    const isOpen = (): boolean => terminal.block?.blockId === block.blockId && terminal.block.end === undefined;
    while (isOpen() && !terminal.isOver && !signal.aborted) await woken(terminal.waiting, signal);
    return isOpen() && !terminal.isOver ? block : undefined;
  }

  /** Resolves when the block that began at a position is known, or the signal is aborted. */
  async begun(sessionId: string, position: number, signal: AbortSignal): Promise<void> {
    const terminal = this.#terminal(sessionId);
    while (!signal.aborted && !terminal.isOver && (terminal.block?.position ?? -1) < position) {
      await woken(terminal.waiting, signal);
    }
  }

  /** Resolves when the session is closed, or the signal is aborted. */
  async over(sessionId: string, signal: AbortSignal): Promise<void> {
    const terminal = this.#terminal(sessionId);
    while (!terminal.isOver && !signal.aborted) await woken(terminal.waiting, signal);
  }

  /** Kept blocks, oldest first. */
  async list(sessionId: string): Promise<readonly BlockRecord[]> {
    const blocks = new Map<string, BlockRecord>();
    let after: number | undefined;
    for (;;) {
      const types = ["agent_block_begin", "agent_block_end"] as const;
      const page = await this.#journal.log.read({ sessionId, types, after, limit: PAGE });
      for (const event of page) foldBlock(blocks, event);
      if (page.length === 0) return [...blocks.values()];
      after = page.at(-1)!.sequence;
    }
  }

  #fold(event: StoredEvent): void {
    const { sessionId, type, payload, position = 0, source } = event;
    if (type === "status") {
      if (payload["status"] === "closed") this.#close(sessionId);
      return;
    }
    const terminal = this.#terminal(sessionId);
    if (type === "input") {
      if (position > 0) this.noteInput(sessionId, source.id, position);
      delete terminal.question;
    } else if (type === "prompt_decision") {
      const isOver = payload["status"] === "gone" && terminal.question?.promptId === payload["promptId"];
      if (!isOver) return;
      delete terminal.question;
    } else if (type === "prompt") {
      if (payload["kind"] === "shell") delete terminal.question;
      else terminal.question = questionOf(event);
    } else {
      if (type === "agent_block_begin" && source.kind !== "host") this.noteInput(sessionId, source.id, position);
      const blocks = new Map(terminal.block === undefined ? [] : [[terminal.block.blockId, terminal.block]]);
      foldBlock(blocks, event);
      const last = [...blocks.values()].at(-1);
      if (last !== undefined) terminal.block = last;
      delete terminal.question;
    }
    for (const wake of terminal.waiting) wake();
  }

  #close(sessionId: string): void {
    const terminal = this.#terminals.get(sessionId);
    this.#terminals.delete(sessionId);
    if (terminal === undefined) return;
    terminal.isOver = true;
    this.#lastWords.set(sessionId, terminal.inputs);
    const [oldest = ""] = this.#lastWords.keys();
    if (this.#lastWords.size > LAST_WORDS_KEPT) this.#lastWords.delete(oldest);
    for (const wake of terminal.waiting) wake();
  }

  #terminal(sessionId: string): Terminal {
    let terminal = this.#terminals.get(sessionId);
    if (terminal === undefined) {
      terminal = { inputs: new Map(), waiting: new Set(), isOver: false };
      this.#terminals.set(sessionId, terminal);
    }
    return terminal;
  }
}

/** An interpreter or an agent at its own prompt waits for text; a line that is read is a question. */
export function takesAnyText(kind: string | undefined): boolean {
  return kind === "line_editor" || kind === "tui" || kind === "opaque";
}

function foldBlock(blocks: Map<string, BlockRecord>, event: StoredEvent): void {
  const { type, payload, position = 0 } = event;
  const at = Date.parse(event.timestamp);
  // The event may come a prompt later than what it tells of.
  const { cursor = event.cursor ?? 0 } = payload as { cursor?: number };
  const { blockId } = payload as { blockId: string };
  if (type === "agent_block_begin") {
    const { seq = 0, cmd = "", ts = at } = payload as { seq?: number; cmd?: string; ts?: number };
    const begun = {
      blockId,
      seq,
      command: cmd,
      cursor,
      position,
      at: ts,
      by: event.source,
      ...picked(payload, ["cwd", "runId"]),
    };
    blocks.set(blockId, begun);
    return;
  }
  const block = blocks.get(blockId);
  if (block === undefined) return;
  blocks.set(blockId, { ...block, end: { cursor, position, at, ...picked(payload, END_FIELDS) } });
}

const END_FIELDS = ["exitCode", "signal", "cwd", "integration", "durationMs", "canceled"] as const;

function picked(payload: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (payload[key] === undefined ? [] : [[key, payload[key]]])));
}

function questionOf({ payload, position = 0, sequence }: StoredEvent): Question {
  const { promptId = "", kind = "line", program = "", confidence = "low" } = payload as Record<string, string>;
  const { pid = 0, evidence = {} } = payload as {
    pid?: number;
    evidence?: { readonly echo?: boolean; readonly canonical?: boolean };
  };
  const { echo, canonical } = evidence;
  return { promptId, kind, program, confidence, position, sequence, pid, echo, canonical };
}
