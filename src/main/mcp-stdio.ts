/**
 * `sidestick mcp`: the same tools over stdio, for clients that start their servers. The operations run in the hub;
 * `call` reaches it through the SDK.
 */
import { Console } from "node:console";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { createLogger } from "../lib/logger.ts";
import { buildMcpServer, type McpServerOptions } from "../server/mcp/server.ts";

/** `role` is the credential's, as `hub.whoami` answers it. */
export type McpStdioOptions = Omit<McpServerOptions, "onFault">;

/** Resolves when the client has gone: stdin ended or stdout broke. */
export async function runMcpStdio(options: McpStdioOptions): Promise<void> {
  // Only protocol may reach stdout: one stray line of a dependency would break the client's parser.
  globalThis.console = new Console(process.stderr);
  const logger = createLogger("info", (line) => process.stderr.write(line));
  const wire = new Wire(process.stdin, process.stdout);
  serveStdio(
    () => buildMcpServer({ ...options, onFault: ({ id, error }) => logger.error("a tool failed", { id, error }) }),
    { transport: wire, onerror: (error) => logger.warn("mcp", { error }) },
  );
  await wire.gone.promise;
}

class Wire extends StdioServerTransport {
  readonly gone = Promise.withResolvers<void>();

  override async close(): Promise<void> {
    await super.close();
    this.gone.resolve();
  }
}
