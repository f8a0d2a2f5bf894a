import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { Actor } from "../../src/domain/actor.ts";
import type { EventType, JsonObject } from "../../src/domain/event.ts";
import type { CommandForm } from "../../src/domain/session.ts";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import type { HostedSession, Reply, SessionRequest } from "../../src/host/hosted-session.ts";
import type { TerminalPatience } from "../../src/host/terminal/patience.ts";
import { Probe } from "../../src/host/terminal/probe/probe.ts";
import { Screens } from "../../src/host/terminal/screen/screens.ts";
import { openTerminal } from "../../src/host/terminal/terminal-session.ts";
import { DEADLINE_MS } from "./deadline.ts";
import { eventually } from "./eventually.ts";
import { spareFish } from "./empty-home.ts";
import { temporaryDirectory } from "./temporary.ts";

/**
 * What ignores a signal is sent the next one soon. However busy the machine is, a shell that heeds an interrupt lives, one
 * that is replaced is there with the receipt, and what is killed is gone.
 */
export const BRISK: Partial<TerminalPatience> = {
  terminateStepMs: 50,
  promptMs: DEADLINE_MS,
  dyingMs: DEADLINE_MS,
  respawnMs: DEADLINE_MS,
};

export const ANN = { kind: "person", id: "ann" } as const satisfies Actor;
export const BOT = { kind: "agent", id: "bot" } as const satisfies Actor;

type EventFrame = Extract<SessionFrame, { kind: "event" }>;
type ExitFrame = Extract<SessionFrame, { kind: "exit" }>;
type Distribute<T> = T extends unknown ? Omit<T, "id" | "session_id" | "number"> : never;
type Request = Distribute<SessionRequest>;

type OpenOptions = {
  readonly shell?: string;
  readonly redaction?: "on" | "off";
  readonly containment?: "guard";
  readonly command?: CommandForm;
  readonly patience?: Partial<TerminalPatience>;
};

let probe: Promise<Probe> | undefined;
let screens: Promise<Screens> | undefined;

/** One of each for a test file, as for a host. */
export async function closeServices(): Promise<void> {
  const open = [probe, screens];
  probe = undefined;
  screens = undefined;
  for (const service of open) await (await service)?.close();
}

export class OpenedTerminal {
  readonly frames: SessionFrame[] = [];
  readonly home: string;
  readonly #awaited = new Set<() => void>();
  #session: HostedSession | undefined;
  #number = 0;

  private constructor(home: string) {
    this.home = home;
  }

  /** A session with a home of its own, at its first prompt; one for a command as soon as it is there. */
  static async open(options: OpenOptions = {}): Promise<OpenedTerminal> {
    const opened = new OpenedTerminal(await temporaryDirectory());
    const { home } = opened;
    await spareFish(home);
    probe ??= Probe.open();
    screens ??= Screens.open();
    const { PATH = "/usr/bin:/bin" } = process.env;
    const open = openTerminal({
      ours: [],
      directory: await temporaryDirectory(),
      probe: () => probe!,
      screens: () => screens!,
      environment: async () => ({ PATH, HOME: home, LANG: "C.UTF-8", SHELL: "/bin/bash", USER: "tester" }),
      redaction: options.redaction ?? "on",
      patience: { ...BRISK, ...options.patience },
    });
    const start = {
      type: "START_INTERACTIVE_CMD",
      id: 0,
      session_id: randomUUID(),
      cols: 120,
      rows: 40,
      for_agent: true,
      ...(options.shell === undefined ? {} : { shell: options.shell }),
      ...(options.containment === undefined ? {} : { containment: options.containment }),
      ...(options.command === undefined ? {} : { command: options.command }),
    } as const;
    opened.#session = await open(start, (frame) => opened.#emitted(frame));
    onTestFinished(async () => {
      if (opened.exit === undefined) await opened.ask({ type: "TERMINATE_CMD" });
    });
    if (options.command === undefined) await opened.event("prompt");
    return opened;
  }

  get session(): HostedSession {
    return this.#session!;
  }

  get nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }

  /** As a hub knows it. */
  get epoch(): number {
    return (this.events("control_handoff").at(-1)?.payload["epoch"] as number | undefined) ?? 1;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.frames.flatMap((frame) => (frame.kind === "bytes" ? [frame.bytes] : [])));
  }

  get exit(): ExitFrame | undefined {
    return this.frames.find((frame) => frame.kind === "exit");
  }

  ask(request: Request, body: string | Uint8Array = "", number = this.nextNumber): Promise<Reply> {
    const usual = { id: 1, session_id: this.session.sessionId, number, epoch: this.epoch };
    const whole = { ...usual, ...request } as SessionRequest;
    return this.session.handle(whole, Buffer.from(body));
  }

  async run(command: string, more: { readonly run_id?: string; readonly cwd?: string } = {}): Promise<BegunBlock> {
    const block_id = randomUUID();
    const { fields } = await this.ask({ type: "RUN_BLOCK", by: BOT, block_id, ...more }, command);
    return { blockId: block_id, ...(fields as { seq: number; cursor: number; position: number; began_at: number }) };
  }

  send(
    data: string,
    more: { readonly by?: Actor; readonly if_prompt?: string; readonly secret?: boolean } = {},
  ): Promise<Reply> {
    return this.ask({ type: "SEND_INPUT", by: BOT, class: "drive", ...more }, data);
  }

  /** Runs it to its end. */
  async block(command: string, more: { readonly cwd?: string } = {}): Promise<FinishedBlock> {
    const begun = await this.run(command, more);
    return this.finished(begun);
  }

  async finished({ blockId, cursor }: BegunBlock): Promise<FinishedBlock> {
    const end = await this.event("agent_block_end", (payload) => payload["blockId"] === blockId);
    const output = this.bytes.subarray(cursor, end.payload["cursor"] as number).toString();
    return { end: end.payload, output, order: end.order };
  }

  events(type: EventType): EventFrame[] {
    return this.frames.flatMap((frame) => (frame.kind === "event" && frame.type === type ? [frame] : []));
  }

  /** The first such event after `order`; who awaits it goes on before any timer that was set when it was told. */
  event(type: EventType, which: (payload: JsonObject) => boolean = () => true, order = 0): Promise<EventFrame> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.events(type).find((frame) => frame.order > order && which(frame.payload));
        if (found === undefined) return;
        clearTimeout(late);
        this.#awaited.delete(look);
        resolve(found);
      };
      const late = setTimeout(() => {
        this.#awaited.delete(look);
        reject(new Error(`No such ${type} among ${JSON.stringify(this.frames.slice(-20))}`));
      }, DEADLINE_MS);
      this.#awaited.add(look);
      look();
    });
  }

  #emitted(frame: SessionFrame): void {
    this.frames.push(frame);
    if (frame.kind === "event") for (const look of this.#awaited) look();
  }

  /** Waits for the text in the output from `cursor` on; answers the offset after it. */
  text(needle: string, cursor = 0): Promise<number> {
    return eventually(() => {
      const at = this.bytes.indexOf(needle, cursor);
      if (at < 0)
        throw new Error(`No ${needle} in ${JSON.stringify(this.bytes.subarray(cursor).toString().slice(-2000))}`);
      return at + Buffer.byteLength(needle);
    });
  }
}

export type BegunBlock = {
  readonly blockId: string;
  readonly seq: number;
  readonly cursor: number;
  readonly position: number;
  readonly began_at: number;
};

export type FinishedBlock = { readonly end: JsonObject; readonly output: string; readonly order: number };
