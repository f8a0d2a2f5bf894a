/** A host that speaks the protocol and runs nothing: for many of them, and for those that lie. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { encodeMessage, type HostMessage, HubMessage, LINK_SUBPROTOCOL } from "../../src/protocol/link.ts";
import { MessageReader } from "../../src/protocol/link-reader.ts";

export type Membership = { readonly url: string; readonly hostId: string; readonly token: string };

type Channel = "data" | "control";
type Handler = (message: HubMessage, body: Uint8Array, host: LightHost) => void;

const FACTS = { os: "Linux", arch: "x64", shells: ["/bin/sh"], version: "0.0.0" };

export async function enrolLight(
  url: string,
  person: SidestickClient,
  name: string,
  facts = FACTS,
): Promise<Membership> {
  const { code } = await person.host.invite({ name });
  const response = await fetch(`${url}/hosts/enroll`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, ...facts }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  const { host_id: hostId, token } = (await response.json()) as { host_id: string; token: string };
  return { url, hostId, token };
}

export class LightHost {
  readonly membership: Membership;
  readonly sessions = new Set<string>();
  readonly #sockets = new Map<Channel, WebSocket>();
  readonly #orders = new Map<string, number>();
  readonly #cursors = new Map<string, number>();
  readonly #instance = crypto.randomUUID();
  facts = FACTS;
  /** Instead of what it does by itself. */
  onMessage: Handler | undefined;

  constructor(membership: Membership) {
    this.membership = membership;
  }

  /** Resolves when both connections are open; the hub greets next. */
  async connect(): Promise<void> {
    await Promise.all((["data", "control"] as const).map((channel) => this.#open(channel)));
  }

  get isOpen(): boolean {
    return [...this.#sockets.values()].every((it) => it.readyState === WebSocket.OPEN);
  }

  /** Resolves when the hub has closed one of them. */
  async closed(): Promise<void> {
    await Promise.race([...this.#sockets.values()].map(async (it) => it.readyState === it.CLOSED || once(it, "close")));
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.terminate();
  }

  socket(channel: Channel): WebSocket | undefined {
    return this.#sockets.get(channel);
  }

  raw(bytes: Uint8Array, channel: Channel = "data"): void {
    this.#sockets.get(channel)?.send(bytes);
  }

  say(message: HostMessage | Record<string, unknown>, body?: Uint8Array, channel: Channel = "data"): void {
    this.raw(encodeMessage(message as HostMessage, body), channel);
  }

  output(session_id: string, text: string): void {
    const body = Buffer.from(text);
    const cursor = this.#cursors.get(session_id) ?? 0;
    this.say({ type: "INTERACTIVE_OUTPUT", session_id, order: this.order(session_id), cursor }, body);
    this.#cursors.set(session_id, cursor + body.length);
  }

  event(session_id: string, event: string, payload: object, by?: object): void {
    const place = { session_id, order: this.order(session_id), cursor: this.#cursors.get(session_id) ?? 0 };
    this.say({ type: "SESSION_EVENT", ...place, at: Date.now(), event, payload, ...(by && { by }) });
  }

  order(sessionId: string): number {
    const order = (this.#orders.get(sessionId) ?? 0) + 1;
    this.#orders.set(sessionId, order);
    return order;
  }

  reply(id: number, fields: object = {}): void {
    this.say({ type: "REPLY", id, ok: true, fields });
  }

  async #open(channel: Channel): Promise<void> {
    const { url, token } = this.membership;
    const socket = new WebSocket(`${url.replace("http", "ws")}/hosts/link?channel=${channel}`, [LINK_SUBPROTOCOL], {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    const reader = new MessageReader({
      message: (header, body) => this.#hear(HubMessage.parse(header), body, channel),
      fault: () => socket.terminate(),
    });
    socket.on("message", (data: Buffer) => reader.push(data));
    socket.on("error", () => undefined);
    this.#sockets.set(channel, socket);
    await once(socket, "open");
  }

  #hear(message: HubMessage, body: Uint8Array, channel: Channel): void {
    if (message.type === "HELLO") {
      const { hostId: host_id } = this.membership;
      const about = { host_id, pid: 1, instance: this.#instance, sessions: [...this.sessions], facts: this.facts };
      return this.say({ type: "WELCOME", version: 1, ...about }, undefined, channel);
    }
    if (message.type === "PING") return this.say({ type: "PONG", at: message.at }, undefined, channel);
    if (this.onMessage !== undefined) return this.onMessage(message, body, this);
    this.#answer(message, body);
  }

  #answer(message: HubMessage, body: Uint8Array): void {
    switch (message.type) {
      case "START_INTERACTIVE_CMD":
        this.sessions.add(message.session_id);
        return this.reply(message.id);
      case "SEND_INPUT": {
        const cursor = this.#cursors.get(message.session_id) ?? 0;
        this.output(message.session_id, Buffer.from(body).toString());
        return this.reply(message.id, {
          position: this.#orders.get(message.session_id) ?? 0,
          cursor,
          bytes: body.length,
        });
      }
      case "ADOPT": {
        const order = this.#orders.get(message.session_id) ?? 0;
        return this.reply(message.id, { acknowledged: order, order, inputs: 0 });
      }
      default:
        if ("id" in message) this.say({ type: "REPLY", id: message.id, ok: false, code: "not_found", detail: "no" });
    }
  }
}
