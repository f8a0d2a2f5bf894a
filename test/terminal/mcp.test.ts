/** A terminal as an MCP client drives it, in both eras, against a real hub, host and shell. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ERAS, type Era } from "../mcp/door-server.ts";
import { tokenOf } from "../support/hub.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let token: string;
beforeAll(async () => {
  const opened = await openTerminalHub({ mcpProgressMs: 20 });
  hub = opened;
  token = await tokenOf(hub.dataDir, "agent", "model");
  return opened.stop;
});

async function connect({ mode }: Era): Promise<Client> {
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", hub.url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

describe.each(ERAS)("a client of $era", (era) => {
  const conversation_id = `mcp-${era.era}`;

  test("[TRM-4] pty_exec_block waits for the end unless told otherwise", async () => {
    const client = await connect(era);

    const { structuredContent } = await client.callTool({
      name: "pty_exec_block",
      arguments: { conversation_id, command: "sleep 0.2; echo done; exit_code() { return 7; }; exit_code" },
    });

    expect(structuredContent).toMatchObject({ exit_code: 7, output: "done\n" });
  });

  test("[MCP-21] a call that waits tells its progress, and can be cancelled", async () => {
    const client = await connect(era);
    const told: number[] = [];
    const cancel = new AbortController();

    const waiting = client.callTool(
      { name: "pty_wait_for", arguments: { conversation_id, match: "never there", timeout_ms: 60_000 } },
      { onprogress: ({ progress }) => void told.push(progress), signal: cancel.signal },
    );
    await expect.poll(() => told.length, { timeout: DEADLINE_MS }).toBeGreaterThanOrEqual(2);
    cancel.abort();

    await expect(waiting).rejects.toThrow();
    expect(told[1]!).toBeGreaterThan(told[0]!);
    const { structuredContent } = await client.callTool({ name: "pty_status", arguments: { conversation_id } });
    expect(structuredContent).toMatchObject({ mode: "idle" });
  });
});
