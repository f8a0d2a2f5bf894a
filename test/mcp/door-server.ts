/** The MCP door behind a real HTTP server, with operations that a test provides. Stands in for the hub's own server. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { actorFor, type Role, ROLES } from "../../src/domain/actor.ts";
import type { Caller } from "../../src/server/caller.ts";
import { mcpHttpDoor, type McpHttpDoorOptions } from "../../src/server/mcp/http-door.ts";

export type Call = McpHttpDoorOptions["call"];

export const ERAS = [
  { era: "2026-07-28", mode: { pin: "2026-07-28" } },
  { era: "2025-11-25", mode: "legacy" },
] as const satisfies readonly { era: string; mode: VersionNegotiationMode }[];

export type Era = (typeof ERAS)[number];

export class DoorServer implements AsyncDisposable {
  readonly faults: { readonly id: string; readonly error: unknown }[] = [];
  readonly #revocations = new Map<string, AbortController>(ROLES.map((role) => [role, new AbortController()]));
  readonly #clients: Client[] = [];
  readonly #http;

  constructor(call: Call) {
    const door = mcpHttpDoor({ version: "1.2.3", call, onFault: (fault) => this.faults.push(fault) });
    this.#http = createServer((req, res) => {
      void bodyOf(req).then((body) => door(req, res, this.#callerOf(req), body));
    });
  }

  static async start(call: Call): Promise<DoorServer> {
    const server = new DoorServer(call);
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  async connect({ mode }: Era, role: Role): Promise<Client> {
    const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
    this.#clients.push(client);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(this.url), { requestInit: { headers: asRole(role) } }),
    );
    return client;
  }

  async post(role: Role, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const accept = "application/json, text/event-stream";
    return fetch(this.url, {
      method: "POST",
      headers: { ...asRole(role), accept, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  revoke(role: Role): void {
    this.#revocations.get(role)?.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #callerOf(req: IncomingMessage): Caller {
    const role = ROLES.find((it) => req.headers.authorization === `Bearer ${it}`) ?? "viewer";
    const revoked = this.#revocations.get(role) ?? new AbortController();
    return { actor: actorFor(role, `${role}-1`), role, tokenId: `token-of-${role}`, revoked: revoked.signal };
  }
}

function asRole(role: Role): Record<string, string> {
  return { authorization: `Bearer ${role}` };
}

async function bodyOf(req: IncomingMessage): Promise<unknown> {
  return req.method === "POST" ? json(req) : undefined;
}
