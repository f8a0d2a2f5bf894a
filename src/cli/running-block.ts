/**
 * One command on its way: its output as it comes, its questions, its end. Bytes are shown once an event says that they
 * are the command's: the next prompt of the shell follows at once and is not. Rules TCL-8..TCL-12 in
 * docs/spec/terminal-cli.md.
 */
import type { Output, SidestickClient, WorkspaceEvent } from "../client/sidestick.ts";
import { LiveSession } from "./live-session.ts";

export type Begun = Output<"pty.exec_block">;
export type Question = NonNullable<Begun["waiting"]>;
export type BlockEnd = Pick<Begun, "exit_code" | "signal" | "cwd" | "integration" | "end_cursor" | "duration_ms">;

export type BlockListener = {
  readonly onBytes: (bytes: Uint8Array) => Promise<void>;
  readonly onQuestion: (question: Question) => void;
  /** A person stopped the agent while it ran. */
  readonly onStop: (by: string) => void;
  readonly onAway: () => void;
  readonly onBack: () => void;
  readonly onGap: (bytes: number) => void;
  /** Something that was typed did not go in. */
  readonly onRefused?: () => void;
};

/** Of who types; absent: nobody does. */
export type Typing = { readonly cols: number; readonly rows: number };

const TYPES = ["agent_block_delta", "agent_block_end", "prompt", "status", "control_handoff"] as const;

export class RunningBlock {
  readonly #begun: Begun;
  readonly #listener: BlockListener;
  readonly #live: LiveSession;
  readonly #ended = Promise.withResolvers<BlockEnd | undefined>();
  /** Up to here the output is the command's. */
  #known: number;
  #isOver = false;
  /** Typed before there was a way to send it; absent: there is one. */
  #early: Buffer[] | undefined = [];
  #learned = Promise.withResolvers<void>();

  constructor(client: SidestickClient, begun: Begun, listener: BlockListener) {
    this.#begun = begun;
    this.#listener = listener;
    this.#known = begun.cursor;
    this.#live = new LiveSession(client, begun.workspace_session_id, {
      ...listener,
      onBytes: (bytes, cursor) => this.#show(bytes, cursor),
      onEvent: (event) => this.#event(event),
      onAttached: async () => this.#attached(),
      onRefusal: (error) => {
        if (this.#early === undefined && listener.onRefused !== undefined) listener.onRefused();
        else this.#ended.reject(error);
      },
    });
  }

  /** Resolves when all its output was shown; with nothing when the terminal ended without saying how. */
  async end(after: number, typing?: Typing): Promise<BlockEnd | undefined> {
    this.#live.closed.catch((error: unknown) => this.#ended.reject(error));
    this.#live.follow(TYPES, after);
    this.#live.attach({ from: this.#begun.cursor, typing });
    return this.#ended.promise;
  }

  /** For the command alone: once it is over the shell gets nothing of it. False: there is no connection now. */
  type(keys: Buffer): boolean {
    if (this.#isOver) return true;
    this.#early?.push(keys);
    return this.#early !== undefined || this.#live.type(keys, { notAtShell: true });
  }

  resize({ cols, rows }: Typing): void {
    this.#live.resize(cols, rows);
  }

  close(): void {
    this.#live.close();
  }

  #attached(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const keys of early) this.type(keys);
  }

  async #show(bytes: Uint8Array, cursor: number): Promise<void> {
    let shown = 0;
    while (shown < bytes.length) {
      const until = Math.min(bytes.length, this.#known - cursor);
      if (until > shown) {
        await this.#listener.onBytes(bytes.subarray(shown, until));
        shown = until;
      } else if (this.#isOver) return;
      else await this.#learned.promise;
    }
  }

  #event({ type, payload, source, position = 0, cursor: at = 0 }: WorkspaceEvent): void {
    const { blockId, cursor = 0, length = 0 } = payload as { blockId?: string; cursor?: number; length?: number };
    const isOurs = blockId === this.#begun.block_id;
    if (type === "agent_block_delta" && isOurs) this.#learn(cursor + length);
    else if (type === "agent_block_end" && isOurs) this.#over({ ...endOf(payload), end_cursor: cursor });
    else if (type === "status" && payload["status"] === "closed") this.#over(undefined);
    else if (type === "control_handoff" && payload["reason"] === "stop_now" && position > this.#begun.position) {
      if (payload["change"] === "holder") this.#listener.onStop(source.id);
    } else if (type === "prompt" && payload["kind"] !== "shell" && position > this.#begun.position && !this.#isOver) {
      this.#learn(at);
      const question = questionOf(payload);
      // Whoever ends with the question has seen its text.
      void this.#live.reached(at).then(() => this.#isOver || this.#listener.onQuestion(question));
    }
  }

  #over(end: BlockEnd | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#learn(end?.end_cursor ?? Infinity);
    void this.#live.reached(end?.end_cursor ?? 0).then(() => this.#ended.resolve(end));
  }

  #learn(known: number): void {
    this.#known = Math.max(this.#known, known);
    this.#learned.resolve();
    this.#learned = Promise.withResolvers();
  }
}

type Payload = WorkspaceEvent["payload"];

const NAMES = {
  exitCode: "exit_code",
  signal: "signal",
  cwd: "cwd",
  integration: "integration",
  durationMs: "duration_ms",
} as const;

function endOf(payload: Payload): BlockEnd {
  const told = Object.entries(NAMES).filter(([key]) => payload[key] !== undefined);
  return Object.fromEntries(told.map(([key, name]) => [name, payload[key]]));
}

function questionOf(payload: Payload): Question {
  const { kind = "line", program = "", promptId = "", confidence = "" } = payload as Record<string, string>;
  return { kind: kind as Question["kind"], program, prompt_id: promptId, confidence };
}
