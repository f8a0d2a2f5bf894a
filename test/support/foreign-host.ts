/**
 * A host written by docs/reference/host-link.md alone: it imports nothing of the project. It runs commands without a terminal,
 * keeps what it told until the hub has stored it, and refuses everything else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { WebSocket } from "ws";

type Fields = Record<string, unknown>;
type Message = Fields & { readonly type: string; readonly id: number; readonly session_id: string };
type Frame = { readonly order: number; readonly header: Fields; readonly body: Buffer };
type Session = { frames: Frame[]; order: number; cursor: number; stored: number; inputs: number; child?: ChildProcess };
type Channel = "data" | "control";

const FACTS = { os: "Linux", arch: process.arch, shells: ["/bin/sh"], version: "0.0.1" };

export class ForeignHost {
  /** The hub's time of the last change of control. */
  askedAt: unknown;
  readonly #url: string;
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Map<Channel, WebSocket>();
  #membership = { host_id: "", token: "", hub_id: "" };

  constructor(url: string) {
    this.#url = url;
  }

  async enrol(code: string, name: string): Promise<void> {
    const body = JSON.stringify({ code, name, ...FACTS });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${this.#url}/hosts/enroll`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(await answer.text());
    this.#membership = (await answer.json()) as { host_id: string; token: string; hub_id: string };
  }

  async connect(): Promise<void> {
    await Promise.all([this.#open("data"), this.#open("control")]);
  }

  /** As when a network fails. */
  disconnect(): void {
    for (const socket of this.#sockets.values()) socket.terminate();
  }

  async #open(channel: Channel): Promise<void> {
    const address = `${this.#url.replace(/^http/, "ws")}/hosts/link?channel=${channel}`;
    const headers = { authorization: `Bearer ${this.#membership.token}` };
    const socket = new WebSocket(address, ["sidestick-link.1"], { headers });
    socket.on("error", () => undefined);
    socket.on("upgrade", ({ headers: { "sidestick-hub": hub } }) => {
      if (hub !== this.#membership.hub_id) socket.terminate();
    });
    let bytes = Buffer.alloc(0);
    socket.on("message", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (; bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0);) {
        const message = bytes.subarray(4, 4 + bytes.readUInt32BE(0));
        bytes = bytes.subarray(4 + message.length);
        const end = 4 + message.readUInt32BE(0);
        const header = JSON.parse(message.subarray(4, end).toString()) as Message;
        this.#heard(header, message.subarray(end).toString(), (fields) => this.#send(socket, fields));
      }
    });
    this.#sockets.set(channel, socket);
    await once(socket, "open");
  }

  #send(socket: WebSocket | undefined, header: Fields, body: Buffer = Buffer.alloc(0)): void {
    if (socket?.readyState !== WebSocket.OPEN) return;
    const text = Buffer.from(JSON.stringify(header));
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(4 + text.length + body.length, 0);
    lengths.writeUInt32BE(text.length, 4);
    socket.send(Buffer.concat([lengths, text, body]));
  }

  #heard(message: Message, body: string, answer: (fields: Fields) => void): void {
    const { type, id, session_id } = message;
    const session = this.#sessions.get(session_id);
    const reply = (fields: Fields = {}): void => answer({ type: "REPLY", id, ok: true, fields });
    const refuse = (code: string): void => answer({ type: "REPLY", id, ok: false, code, detail: `no ${type} here` });
    if (type === "HELLO") {
      const about = { host_id: this.#membership.host_id, pid: process.pid, instance: "one", facts: FACTS };
      return answer({ type: "WELCOME", version: 1, ...about, sessions: [...this.#sessions.keys()] });
    }
    if (type === "PING") return answer({ type: "PONG", at: message["at"] });
    if (type === "START_INTERACTIVE_CMD") {
      if (message["command"] !== "plain") return refuse("kind_unavailable");
      this.#sessions.set(session_id, { frames: [], order: 0, cursor: 0, stored: 0, inputs: 0 });
      return reply();
    }
    if (session === undefined) return type === "ACK" ? undefined : refuse("not_found");
    if (type === "ACK") return this.#stored(session_id, session, message["order"] as number);
    if (type === "ADOPT") {
      const from = Math.max(message["order"] as number, session.stored);
      reply({ acknowledged: session.stored, order: session.order, inputs: session.inputs });
      for (const it of session.frames) if (it.order > from) this.#send(this.#sockets.get("data"), it.header, it.body);
      return;
    }
    if (type === "STATUS") return reply(statusOf(session));
    if (type === "CONTROL") {
      this.askedAt = message["at"];
      return reply({ ...NOBODY_DRIVES, position: session.order });
    }
    if (type === "RUN_COMMAND" && session.child === undefined)
      return reply(this.#run(session_id, session, message, body));
    if (type === "TERMINATE_CMD") {
      if (session.child === undefined) this.#ended(session_id, session, { reason: "terminated" });
      else process.kill(-session.child.pid!, "SIGKILL");
      return reply();
    }
    refuse("kind_unavailable");
  }

  #run(sessionId: string, session: Session, message: Message, command: string): Fields {
    session.inputs = message["number"] as number;
    const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"], detached: true });
    session.child = child;
    const at = Date.now();
    const { cursor } = session;
    const told = { blockId: message["block_id"], seq: 1, cmd: command, cursor, ts: at };
    this.#tell(sessionId, session, {
      type: "SESSION_EVENT",
      at,
      event: "agent_block_begin",
      payload: told,
      by: message["by"],
    });
    const position = session.order;
    child.stdout.on("data", (bytes: Buffer) => this.#output(sessionId, session, bytes));
    child.stderr.on("data", (bytes: Buffer) => {
      const from = session.cursor;
      this.#output(sessionId, session, bytes);
      const payload = { cursor: from, length: bytes.length };
      this.#tell(sessionId, session, { type: "SESSION_EVENT", at: Date.now(), event: "stderr", payload });
    });
    const late = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), message["lifetime_ms"] as number);
    child.once("close", (code, signal) => {
      clearTimeout(late);
      const how = code === null ? { signal } : { exitCode: code };
      const payload = { blockId: message["block_id"], seq: 1, cursor: session.cursor, ...how };
      this.#tell(sessionId, session, { type: "SESSION_EVENT", at: Date.now(), event: "agent_block_end", payload });
      this.#ended(sessionId, session, { reason: "exited", ...(code === null ? { signal } : { exit_code: code }) });
    });
    return { seq: 1, cursor, position, began_at: at };
  }

  #ended(sessionId: string, session: Session, how: Fields): void {
    this.#tell(sessionId, session, { type: "COMMAND_RESULT", at: Date.now(), ...how });
  }

  #output(sessionId: string, session: Session, bytes: Buffer): void {
    for (let from = 0; from < bytes.length; from += 65_536) {
      const body = bytes.subarray(from, from + 65_536);
      this.#tell(sessionId, session, { type: "INTERACTIVE_OUTPUT" }, body);
    }
  }

  #tell(sessionId: string, session: Session, fields: Fields, body: Buffer = Buffer.alloc(0)): void {
    session.order += 1;
    const header = { session_id: sessionId, order: session.order, cursor: session.cursor, ...fields };
    session.cursor += body.length;
    session.frames.push({ order: session.order, header, body });
    this.#send(this.#sockets.get("data"), header, body);
  }

  /** With its last frame a session is over. */
  #stored(sessionId: string, session: Session, order: number): void {
    session.stored = order;
    const isOver = session.frames.some((it) => it.order === order && it.header["type"] === "COMMAND_RESULT");
    session.frames = session.frames.filter((it) => it.order > order);
    if (isOver) this.#sessions.delete(sessionId);
  }
}

const NOBODY_DRIVES = {
  epoch: 1,
  control_mode: "USER",
  user_intent: "WAIT",
  agent_status: "IDLE",
  holder: null,
  attended: false,
  held: false,
};

function statusOf({ child, order, inputs }: Session): Fields {
  const mode = child === undefined ? "idle" : "block_running";
  const where = { shell: "/bin/sh", integration: "none", cwd: process.cwd(), home: homedir(), cols: 80, rows: 24 };
  return { mode, ...where, order, inputs };
}
