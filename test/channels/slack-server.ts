/**
 * Slack on loopback, for its real client libraries: the Web API with tokens and limits, and Socket Mode with tickets, envelopes and
 * timed acknowledgements. A test speaks and presses for people and sees what is shown to them.
 *
 *   await using slack = await startSlackServer();
 *   slack.says("UANN", "DANN", "y");                       a direct message
 *   slack.says("UANN", "C1", "@sidestick /status");        a mention, told twice as Slack does
 *   slack.presses("UANN", slack.shown("DANN")[0].ts, "Yes");
 *   slack.fails(["chat.postMessage"], { status: 429, retryAfter: 3 });
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { type Answer, type Shown, SlackConversations } from "./slack-conversations.ts";

export const BOT_TOKEN = "xoxb-111111111111-222222222222-AbCdEfGhIjKlMnOpQrStUvWx";
export const APP_TOKEN = "xapp-1-A0123456789-3333333333333-0123456789abcdef0123456789abcdef0123456789abcdef";
export const BOT_USER = "U0BOT";
export const BOT_NAME = "sidestick";

export type SlackFault = {
  readonly status?: number;
  readonly error?: string;
  readonly retryAfter?: number | string;
  /** Sent as it is, instead of JSON. */
  readonly body?: string;
  /** Never answers. */
  readonly hangs?: boolean;
  readonly times?: number;
};

export type Acknowledged = { readonly envelopeId: string };
/** `at` by a clock that only grows. */
export type SlackCall = {
  readonly method: string;
  readonly form: Readonly<Record<string, string>>;
  readonly at: number;
};
export type Sent = { readonly eventId: string; readonly ts: string };
const NOTHING = { facts: [], notes: [], buttons: [], blocks: [] };

type Payload = Readonly<Record<string, unknown>>;
type Envelope = { readonly type: string; readonly payload: Payload; readonly retry?: number };

export type SlackServer = AsyncDisposable & {
  /** For `apiRoot`. */
  readonly url: string;
  readonly acks: readonly Acknowledged[];
  readonly calls: readonly SlackCall[];
  /** Open sockets that have got their hello. */
  readonly connections: number;
  /** Of all sockets there ever were. */
  readonly connected: number;
  /** Names of people, for `users.info`. */
  readonly people: Map<string, string>;
  /** Messages in a conversation as they are now, those for one person only too. */
  shown(channel: string): Shown[];
  says(user: string, channel: string, text: string, more?: { readonly under?: string; readonly event?: Payload }): Sent;
  presses(user: string, ts: string, label: string): void;
  /** The same event once more, in another envelope. */
  redelivers(eventId: string): void;
  /** From now on every event comes twice. */
  repeats(): void;
  /** Tells any event as it is. */
  tells(event: Payload): string;
  /** Holds back what people do until it is released, in the given order of their doing. */
  holds(): { release(order: readonly number[]): void };
  disconnects(reason: "warning" | "refresh_requested"): void;
  /** Breaks all sockets off, as a network does. */
  drops(): void;
  /** Takes no more bytes from any socket, as a dead peer. */
  freezes(): void;
  /** The next calls of any of these go wrong; `socket` is the socket's handshake. */
  fails(methods: readonly string[], fault: SlackFault): void;
  works(): void;
};

export async function startSlackServer(): Promise<SlackServer> {
  const state = new ServerState();
  const sockets = new WebSocketServer({ noServer: true });
  const http = createServer((request, response) => void state.call(request, response));
  http.on("upgrade", (request, socket, head) => {
    const ticket = new URL(request.url ?? "", "ws://localhost").searchParams.get("ticket") ?? "";
    if (!state.tickets.delete(ticket) || state.faultOf("socket") !== undefined) return socket.destroy();
    return sockets.handleUpgrade(request, socket, head, (it) => state.connect(it));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  state.port = (http.address() as AddressInfo).port;
  return Object.assign(state, {
    url: `http://127.0.0.1:${state.port}/api/`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

class ServerState {
  port = 0;
  connected = 0;
  readonly tickets = new Set<string>();
  readonly acks: Acknowledged[] = [];
  readonly calls: SlackCall[] = [];
  readonly people = new Map<string, string>();
  readonly #conversations = new SlackConversations(BOT_USER);
  readonly #faults = new Map<string, SlackFault & { left: number }>();
  readonly #sockets = new Set<WebSocket>();
  readonly #events = new Map<string, Envelope>();
  readonly #unacked = new Map<string, { readonly socket: WebSocket; readonly envelope: Envelope }>();
  #waiting: Envelope[] = [];
  #held: Envelope[] | undefined;
  #twice = false;
  #count = 0;

  get connections(): number {
    return this.#sockets.size;
  }

  shown(channel: string): Shown[] {
    return this.#conversations.shown(channel);
  }

  says(user: string, channel: string, text: string, more: { under?: string; event?: Payload } = {}): Sent {
    const ts = this.#conversations.nextTs();
    const entities = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const written = entities.replaceAll(/https?:\/\/[^\s&]+/gu, "<$&>").replaceAll(`@${BOT_NAME}`, `<@${BOT_USER}>`);
    const parent = more.under === undefined ? undefined : this.#conversations.find(more.under)?.message;
    const shared = {
      channel,
      user,
      text: written,
      ts,
      ...(more.under === undefined ? {} : { thread_ts: more.under, parent_user_id: parent?.by ?? "U0SOMEBODY" }),
    };
    this.#conversations.add(channel, {
      ...NOTHING,
      ts,
      by: user,
      text,
      threadTs: more.under,
      fallback: text,
    });
    const kind = channel.startsWith("D") ? "im" : "channel";
    const eventId = this.tells({ type: "message", channel_type: kind, ...shared, ...more.event });
    if (kind === "im" || !text.includes(`@${BOT_NAME}`)) return { eventId, ts };
    return { eventId: this.tells({ type: "app_mention", ...shared }), ts };
  }

  presses(user: string, ts: string, label: string): void {
    const kept = this.#conversations.find(ts);
    const elements = kept?.message.blocks.flatMap((it) => (it.type === "actions" ? it.elements : []));
    const button = elements?.find((it) => it.text.text === label);
    if (kept === undefined || button === undefined) throw new Error(`nobody sees a button ${label} there`);
    const { channel, message } = kept;
    const { threadTs: parent } = message;
    const payload = {
      type: "block_actions",
      user: { id: user, username: user.toLowerCase(), name: user.toLowerCase(), team_id: "T0" },
      container: { type: "message", message_ts: ts, channel_id: channel },
      channel: { id: channel, name: "general" },
      message: { type: "message", ts, ...(parent === undefined ? {} : { thread_ts: parent }) },
      actions: [{ ...button, type: "button", action_ts: this.#conversations.nextTs() }],
    };
    this.#deliver({ type: "interactive", payload });
  }

  tells(event: Payload): string {
    const eventId = `Ev${this.#next()}`;
    const payload = { type: "event_callback", team_id: "T0", event_id: eventId, event_time: 0, event };
    this.#deliver({ type: "events_api", payload });
    return eventId;
  }

  redelivers(eventId: string): void {
    const envelope = this.#events.get(eventId);
    if (envelope === undefined) throw new Error(`there is no event ${eventId}`);
    this.#send({ ...envelope, retry: 1 });
  }

  repeats(): void {
    this.#twice = true;
  }

  holds(): { release(order: readonly number[]): void } {
    const held: Envelope[] = [];
    this.#held = held;
    const release = (order: readonly number[]): void => {
      this.#held = undefined;
      for (const index of order) this.#send(held[index] ?? fault(`only ${held.length} were held`));
    };
    return { release };
  }

  disconnects(reason: "warning" | "refresh_requested"): void {
    for (const socket of this.#sockets) socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: {} }));
  }

  drops(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  freezes(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  fails(methods: readonly string[], it: SlackFault): void {
    const shared = { ...it, left: it.times ?? Number.POSITIVE_INFINITY };
    for (const method of methods) this.#faults.set(method, shared);
  }

  works(): void {
    this.#faults.clear();
  }

  faultOf(method: string): SlackFault | undefined {
    const found = this.#faults.get(method);
    if (found === undefined || found.left === 0) return undefined;
    found.left -= 1;
    return found;
  }

  connect(socket: WebSocket): void {
    socket.on("error", () => undefined);
    socket.on("close", () => this.#lose(socket));
    socket.on("message", (data: Buffer) => this.#acknowledge(JSON.parse(data.toString("utf8"))));
    socket.send(JSON.stringify({ type: "hello", num_connections: 1, connection_info: { app_id: "A0" } }));
    this.#sockets.add(socket);
    this.connected += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const envelope of waiting) this.#send(envelope);
  }

  async call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = (request.url ?? "").replace(/^\/api\//u, "");
    const form = new URLSearchParams(await bodyOf(request));
    this.calls.push({ method, form: Object.fromEntries(form), at: performance.now() });
    const found = this.faultOf(method);
    if (found?.hangs === true) return;
    const headers = found?.retryAfter === undefined ? {} : { "retry-after": String(found.retryAfter) };
    response.writeHead(found?.status ?? 200, { "content-type": "application/json", ...headers });
    response.end(found?.body ?? JSON.stringify(this.#answer(method, form, { found, request })));
  }

  #answer(
    method: string,
    form: URLSearchParams,
    { found, request }: { found: SlackFault | undefined; request: IncomingMessage },
  ): Answer {
    if (found !== undefined) return { ok: false, error: found.error ?? "internal_error" };
    const token = method === "apps.connections.open" ? APP_TOKEN : BOT_TOKEN;
    if (request.headers.authorization !== `Bearer ${token}`) return { ok: false, error: "invalid_auth" };
    const user = form.get("user") ?? undefined;
    const person = this.people.get(user ?? "");
    switch (method) {
      case "auth.test":
        return { ok: true, user: BOT_NAME, user_id: BOT_USER, bot_id: "B0BOT", team: "Team", team_id: "T0" };
      case "apps.connections.open":
        return { ok: true, url: this.#socketUrl() };
      case "chat.postMessage":
        return this.#conversations.post(form);
      case "chat.postEphemeral":
        return this.#conversations.post(form, user ?? fault("postEphemeral without a user"));
      case "chat.update":
        return this.#conversations.update(form);
      case "chat.delete":
        return this.#conversations.delete(form);
      case "conversations.open":
        return { ok: true, channel: { id: `D${(form.get("users") ?? "").slice(1)}` } };
      case "users.info":
        if (person === undefined) return { ok: false, error: "missing_scope", needed: "users:read" };
        return { ok: true, user: { id: user, name: user, profile: { display_name: person, real_name: "" } } };
      default:
        return { ok: false, error: "unknown_method" };
    }
  }

  #socketUrl(): string {
    const ticket = `secret-ticket-${this.#next()}`;
    this.tickets.add(ticket);
    return `ws://127.0.0.1:${this.port}/link/?ticket=${ticket}&app_id=A0`;
  }

  #deliver(envelope: Envelope): void {
    const eventId = envelope.payload["event_id"];
    if (typeof eventId === "string") this.#events.set(eventId, envelope);
    if (this.#held !== undefined) {
      this.#held.push(envelope);
      return;
    }
    this.#send(envelope);
    if (this.#twice) this.#send({ ...envelope, retry: 1 });
  }

  /** To one of the sockets; without any it waits for the next. */
  #send(envelope: Envelope): void {
    const socket = [...this.#sockets].findLast((it) => it.readyState === it.OPEN);
    if (socket === undefined) {
      this.#waiting.push(envelope);
      return;
    }
    const { type, payload, retry = 0 } = envelope;
    const envelopeId = `envelope-${this.#next()}`;
    this.#unacked.set(envelopeId, { socket, envelope });
    const more = { accepts_response_payload: false, retry_attempt: retry, retry_reason: retry > 0 ? "timeout" : "" };
    socket.send(JSON.stringify({ envelope_id: envelopeId, type, payload, ...more }));
  }

  #acknowledge({ envelope_id: envelopeId }: { envelope_id: string }): void {
    if (!this.#unacked.delete(envelopeId)) fault(`nobody asked to acknowledge ${envelopeId}`);
    this.acks.push({ envelopeId });
  }

  /** Events that nobody acknowledged there are told again elsewhere; presses are not. */
  #lose(socket: WebSocket): void {
    this.#sockets.delete(socket);
    for (const [envelopeId, sent] of this.#unacked) {
      if (sent.socket !== socket) continue;
      this.#unacked.delete(envelopeId);
      if (sent.envelope.type === "events_api") this.#send({ ...sent.envelope, retry: 1 });
    }
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function fault(message: string): never {
  throw new Error(message);
}
