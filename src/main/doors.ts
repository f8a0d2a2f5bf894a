/** The doors over a set of desks: HTTP with its pages and probes, WebSocket, MCP. */
import { join } from "node:path";
import type { LoginPass, Passes } from "../hub/passes.ts";
import type { Logger } from "../lib/logger.ts";
import type { Check } from "../protocol/hub.ts";
import { Authenticator } from "../server/authenticate.ts";
import { Dispatcher } from "../server/dispatcher.ts";
import { createEnrolDoor } from "../server/hosts/enrol-door.ts";
import { isForLink, LinkDoor } from "../server/hosts/link-door.ts";
import { HttpDoor } from "../server/http-door.ts";
import { type Doors, LOOPBACK } from "../server/listener.ts";
import { cookieShape, createLoginDoor } from "../server/login-door.ts";
import type { McpHttpDoor, McpHttpDoorOptions } from "../server/mcp/http-door.ts";
import { Metrics } from "../server/metrics.ts";
import { createHandlers, type Desks } from "../server/operations/handlers.ts";
import { OriginGuard } from "../server/origin.ts";
import { createPagesDoor } from "../server/pages-door.ts";
import { createProbesDoor } from "../server/probes-door.ts";
import { createSecretDoor } from "../server/secret-door.ts";
import { StreamDoor } from "../server/stream-door.ts";
import { StreamLimit } from "../server/stream-limit.ts";
import { createWebDoor } from "../server/web-door.ts";
import type { ViewerParts } from "../server/viewer.ts";
import { digest, newId, type OpenDesks } from "./desks.ts";
import { VERSION } from "./version.ts";

/** Where `npm run build` puts the page. */
const WEB_BUILD = join(import.meta.dirname, "..", "..", "dist", "web");

export type DoorOptions = {
  readonly desks: OpenDesks;
  readonly loginCodes: Passes<LoginPass>;
  readonly tickets: Desks["tickets"];
  readonly port: number;
  readonly publicUrl: string | undefined;
  /** Where people reach the hub. */
  readonly url: string;
  /** What of ours a guard hides. */
  readonly hidden: readonly string[];
  readonly checks: () => Promise<Check[]>;
  readonly secretDigest: (text: string) => string;
  readonly logger: Logger;
  readonly hubEnds: AbortSignal;
  readonly heartbeat?: ViewerParts["heartbeat"];
  readonly mcpProgressMs?: number | undefined;
};

export async function createDoors(options: DoorOptions): Promise<Doors> {
  const { desks, loginCodes, tickets, port, publicUrl, url, checks, secretDigest, logger, hubEnds, heartbeat } =
    options;
  const places = { url: `http://${LOOPBACK}:${port}`, hidden: options.hidden };
  const { answers, control, credentials, log, output, sessions } = desks;
  const cookie = cookieShape(port, publicUrl);
  const pageKeyOf = (tokenId: string): string => secretDigest(`page ${tokenId}`);
  const origins = new OriginGuard(port, publicUrl);
  const logins = { credentials, cookieName: cookie.name, pageKeyOf };
  const authenticator = new Authenticator({ ...logins, tickets, origins, hubEnds });
  const metrics: Metrics = new Metrics(log, sessions, () => sockets.viewers);
  const handlers = createHandlers(
    { ...desks, loginCodes, tickets, newId },
    { version: VERSION, checks, publicUrl: () => url, places },
  );
  const onCall = (name: string, code: string, seconds: number): void => metrics.call(name, code, seconds);
  const dispatcher = new Dispatcher({ handlers, answers, logger, newId, digest, secretDigest, hubEnds, onCall });
  const streams = new StreamLimit();
  const viewing = { log, output, sessions, control, streams, heartbeat };
  const sockets = new StreamDoor({ authenticator, dispatcher, ...viewing, hubEnds });
  const mcp = mcpDoorWhenAsked({
    version: VERSION,
    call: (name, input, context) => dispatcher.call(name, input, context),
    onFault: ({ id, error }) => logger.error("an MCP call failed by a fault of ours", { id, error }),
    progressMs: options.mcpProgressMs,
  });
  // Fixed words: whoever asks here has shown no credential, and the problem itself names files.
  const readiness = () => {
    const reasons = [
      ...(desks.store.problem() === undefined ? [] : ["the store needs a restart"]),
      ...(desks.journal.failing ? ["the last write failed"] : []),
    ];
    return { ready: reasons.length === 0, reasons };
  };
  const links = new LinkDoor({ authenticator, dispatcher, publicUrl, hubEnds, ...desks });
  const publicDoors = [
    createEnrolDoor({ hosts: desks.hosts, publicUrl }),
    createProbesDoor(VERSION, readiness, metrics),
    createLoginDoor({ credentials, loginCodes, authenticator, pageKeyOf, cookie }),
    createSecretDoor(desks.secretLinks, () => Date.now()),
    await createPagesDoor(VERSION),
    createWebDoor(WEB_BUILD),
  ];
  const http = new HttpDoor({
    authenticator,
    dispatcher,
    log,
    recordings: desks.recordings,
    mcp,
    publicDoors,
    streams,
    hubEnds,
  });
  const upgrade: Doors["upgrade"] = (request, socket, head, connection) => {
    const door = isForLink(request) ? links : sockets;
    door.upgrade(request, socket, head, connection);
  };
  return { request: http.serve.bind(http), upgrade };
}

/** Loaded at its first request: its packages and the schemas of its tools are a tenth of the hub's start. */
function mcpDoorWhenAsked(options: McpHttpDoorOptions): McpHttpDoor {
  let door: Promise<McpHttpDoor> | undefined;
  return async (...exchange) => {
    door ??= import("../server/mcp/http-door.ts").then(({ mcpHttpDoor }) => mcpHttpDoor(options));
    await (
      await door
    )(...exchange);
  };
}
