/** The MCP tools over stdio: a real process, met by the protocol's own client and by raw pipes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";
import { ERAS } from "./door-server.ts";
import { legacyCall } from "./messages.ts";

const PROGRAM = fileURLToPath(new URL("stdio-program.ts", import.meta.url));

test.each(ERAS)("[MCP-19, MCP-2] a client of $era uses the tools over stdio", async ({ era, mode }) => {
  const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM], stderr: "ignore" }));

  const { tools } = await client.listTools();
  const result = await client.callTool({ name: "hub_whoami" });
  const version = client.getNegotiatedProtocolVersion();
  await client.close();

  expect(version).toBe(era);
  expect(tools.map((tool) => tool.name)).toContain("session_create");
  expect(result.structuredContent).toEqual({ role: "agent", kind: "agent", id: "agent-1" });
});

test("[MCP-19] stdout carries only protocol messages, and the end of stdin ends calls and program", async () => {
  const program = spawn(process.execPath, [PROGRAM]);
  const exit = once(program, "exit");
  const stdout = text(program.stdout);
  const stderr = text(program.stderr);

  program.stdin.write(line(legacyCall(1, "hub_whoami")));
  program.stdin.write(line(legacyCall(2, "event_list")));
  await once(program.stdout, "data");
  program.stdin.end();

  expect(await exit).toEqual([0, null]);
  const messages = (await stdout)
    .trimEnd()
    .split("\n")
    .map((it) => JSON.parse(it) as { id: number });
  expect(messages).toEqual([expect.objectContaining({ jsonrpc: "2.0", id: 1 })]);
  expect((await stderr).trimEnd().split("\n")).toEqual([
    "a stray line",
    "a stray line",
    "waiting",
    "told of the end",
    "ended",
  ]);
});

function line(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}
