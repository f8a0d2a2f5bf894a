/**
 * One connection of a hub: messages in, messages out, and its end when nothing was heard for too long. What makes no
 * sense is answered with an ERROR and changes nothing.
 */
import type { Duplex } from "node:stream";
import { Silence } from "../../domain/silence.ts";
import { type LinkFault, MessageReader } from "../../protocol/link-reader.ts";
import {
  bodyParts,
  encodeHead,
  HEADER_MAX,
  type HostMessage,
  HubMessage,
  LINK_DEAD_AFTER_MS,
  LINK_UNREAD_MAX,
} from "../../protocol/link.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Reply } from "../hosted-session.ts";

export type HubConnectionListener = {
  readonly message: (message: HubMessage, body: Uint8Array) => void;
  readonly closed: () => void;
};

export class HubConnection {
  readonly #deadAfterMs: number;
  readonly #stream: Duplex;
  readonly #reader: MessageReader;
  readonly #listener: HubConnectionListener;
  readonly #watch: NodeJS.Timeout;
  readonly #silence: Silence;

  constructor(stream: Duplex, listener: HubConnectionListener, deadAfterMs = LINK_DEAD_AFTER_MS) {
    this.#deadAfterMs = deadAfterMs;
    this.#stream = stream;
    this.#listener = listener;
    this.#reader = new MessageReader({
      message: (header, body) => this.#receive(header, body),
      fault: (fault) => this.#complain(fault),
    });
    this.#silence = new Silence(deadAfterMs / 5, performance.now());
    this.#watch = setInterval(() => this.#checkAlive(), deadAfterMs / 5).unref();
    stream.on("data", (chunk: Uint8Array) => {
      this.#silence.end();
      this.#reader.push(chunk);
    });
    stream.on("error", () => stream.destroy());
    stream.once("end", () => this.close());
    stream.once("close", () => {
      this.close();
      listener.closed();
    });
  }

  /** Bytes that wait for the hub to read. */
  get backlog(): number {
    return this.#stream.writableLength;
  }

  onDrain(listener: () => void): void {
    this.#stream.on("drain", listener);
  }

  /** Encoded messages. They leave at the end of this turn, with whatever else is said in it: each write wakes the hub. */
  write(parts: readonly Uint8Array[]): void {
    if (!this.#stream.writable) return;
    if (this.#stream.writableCorked === 0) {
      this.#stream.cork();
      setImmediate(() => this.#stream.uncork());
    }
    for (const part of parts) this.#stream.write(part);
    if (this.backlog > LINK_UNREAD_MAX) this.close();
  }

  send(message: HostMessage, body?: Uint8Array): void {
    const head = encodeHead(message, body?.length ?? 0);
    this.write(body === undefined ? [head] : [head, body]);
  }

  reply(id: number, { fields, body }: Reply): void {
    const answer = { type: "REPLY", id, ok: true, fields } as const;
    if (JSON.stringify(fields).length * 3 > HEADER_MAX) {
      return this.refuse(id, new AppError("too_large", { detail: "The answer is too large for the link." }));
    }
    if (body === undefined) return this.send(answer);
    const parts = bodyParts(body);
    for (const [index, part] of parts.entries()) {
      this.send(index < parts.length - 1 ? { type: "REPLY", id, ok: true, more: true } : answer, part);
    }
  }

  refuse(id: number, { code, message, details }: AppError): void {
    this.send({ type: "REPLY", id, ok: false, code, detail: message, fields: details });
  }

  /** Says why, then ends: nothing that still arrives is looked at. */
  end(reason: Extract<HostMessage, { type: "ERROR" }>): void {
    this.#reader.end();
    this.send(reason);
    this.#stream.end();
    setTimeout(() => this.#stream.destroy(), 1000).unref();
  }

  close(): void {
    clearInterval(this.#watch);
    this.#reader.end();
    this.#stream.uncork(); // an answer may be the last thing that was said
    this.#stream.destroy();
  }

  #receive(header: unknown, body: Uint8Array): void {
    const parsed = HubMessage.safeParse(header);
    if (parsed.success) return this.#listener.message(parsed.data, body);
    const [issue] = parsed.error.issues;
    const detail = `${issue?.path.join(".") || "message"}: ${issue?.message ?? "unreadable"}`;
    const { id } = ((typeof header === "object" ? header : undefined) as { id?: unknown }) ?? {};
    if (Number.isSafeInteger(id) && Number(id) >= 0)
      this.refuse(Number(id), new AppError("invalid_request", { detail }));
    else this.send({ type: "ERROR", code: "malformed", detail });
  }

  #complain({ kind, detail }: LinkFault): void {
    if (kind === "framing") this.end({ type: "ERROR", code: kind, detail });
    else this.send({ type: "ERROR", code: kind, detail });
  }

  #checkAlive(): void {
    if (this.#silence.look(performance.now()) > this.#deadAfterMs) this.close();
  }
}
