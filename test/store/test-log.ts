/** A log under test, and events to put in. */
import { onTestFinished } from "vitest";
import type { NewEvent } from "../../src/domain/event.ts";
import type { EventLog } from "../../src/hub/ports.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Opens the log that lies in `directory`; `close` ends all of it, as a hub that is shut down. */
export type OpenLog = (directory: string, now: () => number) => Promise<{ log: EventLog; close: () => Promise<void> }>;

export const ANN = "11111111-1111-4111-8111-111111111111";
export const BOB = "22222222-2222-4222-8222-222222222222";

export function output(text: string): NewEvent {
  return { type: "stdout", payload: { text }, source: { kind: "host", id: "local" } };
}

export function status(text: string): NewEvent {
  return { type: "status", payload: { status: text }, source: { kind: "system", id: "hub" } };
}

export function request(text: string): NewEvent {
  return { type: "approval_request", payload: { text }, source: { kind: "agent", id: "bot" } };
}

export const TOKEN: NewEvent = { type: "token", payload: { name: "ci" }, source: { kind: "person", id: "ann" } };

export class TestLog {
  log!: EventLog;
  now = Date.UTC(2030, 0, 1);
  readonly directory: string;
  readonly #open: OpenLog;
  #close!: () => Promise<void>;

  private constructor(directory: string, open: OpenLog) {
    this.directory = directory;
    this.#open = open;
  }

  static async open(open: OpenLog): Promise<TestLog> {
    const it = new TestLog(await temporaryDirectory(), open);
    await it.#start();
    onTestFinished(() => it.#close());
    return it;
  }

  async reopen(): Promise<void> {
    await this.#close();
    await this.#start();
  }

  /** Appends one event per text and answers their sequences. */
  async write(stream: string, ...texts: string[]): Promise<number[]> {
    const appended = await this.log.append(stream, "any", texts.map(output), "process");
    return appended.ok ? appended.events.map((event) => event.sequence) : [];
  }

  async #start(): Promise<void> {
    const { log, close } = await this.#open(this.directory, () => this.now);
    this.log = log;
    this.#close = close;
  }
}
