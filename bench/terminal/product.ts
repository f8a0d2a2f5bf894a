/** The product as people run it: a host process, a hub process, and clients that keep their connection. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { socketFetch } from "../../src/cli/socket-fetch.ts";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { operation, type CallName, type Input, type Output } from "../../src/protocol/operations.ts";
import { SUBPROTOCOL } from "../../src/protocol/stream.ts";
import type { Stage } from "./stage.ts";

const CLI = join(import.meta.dirname, "..", "..", "bin", "main.mjs");
const HOST = join(import.meta.dirname, "host.ts");
/** For instance `--cpu-prof --cpu-prof-dir=/tmp/prof`; both processes get them. */
const NODE_ARGUMENTS = (process.env["BENCH_NODE_ARGUMENTS"] ?? "").split(" ").filter(Boolean);

export class Product implements AsyncDisposable {
  readonly sdk: SidestickClient;
  readonly #stage: Stage;
  readonly #url: URL;
  readonly #token: string;
  readonly #host: ChildProcess;
  readonly #hub: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true });
  #terminals = 0;

  private constructor(stage: Stage, parts: { host: ChildProcess; hub: ChildProcess; url: string; token: string }) {
    this.#stage = stage;
    this.#host = parts.host;
    this.#hub = parts.hub;
    this.#url = new URL(parts.url);
    this.#token = parts.token;
    this.sdk = new SidestickClient({ url: parts.url, token: parts.token });
  }

  static async start(stage: Stage, name: string): Promise<Product> {
    const dataDir = stage.path(name);
    const place = ["--data-dir", dataDir];
    const node = ["--disable-warning=ExperimentalWarning", "--initial-old-space-size=96", ...NODE_ARGUMENTS];
    const shells = { BENCH_SHELL_ENVIRONMENT: JSON.stringify(stage.environment) };
    const host = stage.start(process.execPath, [...node, HOST, ...place], shells);
    await lineOf(host, /The host is ready/);
    const hub = stage.start(process.execPath, [...node, CLI, "up", "--port", "0", ...place]);
    const [, url = ""] = await lineOf(hub, /Address +(\S+)/);
    const owner = new SidestickClient({ url: "http://hub", fetch: socketFetch(join(dataDir, "hub.sock")) });
    const { token } = await owner.token.create({ role: "operator", name: "bench" });
    return new Product(stage, { host, hub, url, token });
  }

  conversation(): string {
    this.#terminals += 1;
    return `bench-${this.#terminals}`;
  }

  /** A new terminal at its prompt. */
  async terminal(): Promise<{ readonly conversation_id: string; readonly sessionId: string; readonly cursor: number }> {
    const conversation_id = this.conversation();
    const { workspace_session_id: sessionId } = await this.call("pty.exec_block", {
      conversation_id,
      command: "true",
      wait_ms: 20_000,
    });
    const { cursor } = await this.call("pty.status", { conversation_id });
    return { conversation_id, sessionId, cursor };
  }

  async close(sessionId: string): Promise<void> {
    await this.sdk.session.close({ sessionId });
  }

  /** One request over a connection that is kept. */
  call<N extends CallName>(name: N, input: Input<N>): Promise<Output<N>> {
    const body = JSON.stringify(input);
    const headers = {
      authorization: `Bearer ${this.#token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const { hostname, port } = this.#url;
    const { method, path } = operation(name);
    return new Promise((resolve, reject) => {
      const asked = request({ hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("end", () => {
          const text = Buffer.concat(parts).toString();
          if (answer.statusCode === 200) resolve(JSON.parse(text) as Output<N>);
          else reject(new Error(`${name} answered ${answer.statusCode}: ${text}`));
        });
      });
      asked.once("error", reject);
      asked.end(body);
    });
  }

  async socket(): Promise<WebSocket> {
    const address = `ws://${this.#url.host}/stream`;
    const socket = new WebSocket(address, SUBPROTOCOL, {
      headers: { authorization: `Bearer ${this.#token}` },
      perMessageDeflate: false,
    });
    await once(socket, "open");
    return socket;
  }

  /** Resident bytes of the process. */
  residentBytes(which: "host" | "hub"): number {
    const { pid } = which === "host" ? this.#host : this.#hub;
    const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.#stage.end(this.#hub);
    await this.#stage.end(this.#host);
  }
}

/** Keeps reading afterwards: nobody may block on a full pipe. */
function lineOf(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${child.spawnargs.join(" ")} ended with ${code}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const found = wanted.exec(line);
      if (found !== null) resolve(found);
    });
  });
}
