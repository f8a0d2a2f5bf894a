/** Messages as they stand on the wire, for what the client would not send. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
export const MODERN_VERSION = { "mcp-protocol-version": "2026-07-28" };

export function modernHeaders(tool: string): Record<string, string> {
  return { ...MODERN_VERSION, "mcp-method": "tools/call", "mcp-name": tool };
}

export function modernCall(tool: string) {
  return { ...legacyCall(1, tool), params: { name: tool, arguments: {}, _meta: ENVELOPE } };
}

export function legacyCall(id: number, tool: string) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: {} } };
}
