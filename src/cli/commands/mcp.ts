import { type CallName, HubUnreachable } from "../../client/sidestick.ts";
import { AppError } from "../../protocol/errors.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { HubAway } from "../failure.ts";
import { readVersion } from "../version.ts";

export const mcp = defineCommand({
  name: "mcp",
  summary: "Serve the hub's tools to an MCP client over stdio",
  examples: ["SIDESTICK_TOKEN=… sidestick mcp", "sidestick mcp --token-file claude.token"],
  run: async ({ terminal, values: _values, given: _given, ...hub }) => {
    const { role } = await hub.client.hub.whoami();
    if (role === "operator") {
      terminal.note(
        "sidestick: these tools act as the operator. Give an agent its own token: sidestick token create --role agent",
      );
    }
    const send = hub.client.call as (name: CallName, input: unknown, options: object) => Promise<unknown>;
    const { runMcpStdio } = await import("../../main/mcp-stdio.ts");
    await runMcpStdio({
      role,
      version: readVersion(),
      call: async (name, input, context) => {
        try {
          return await send(name, input, context);
        } catch (error) {
          if (!(error instanceof HubUnreachable)) throw error;
          // The agent can act on this; as a plain error it would see only an id.
          const away = new HubAway(hub, error);
          throw new AppError("unknown_outcome", { detail: `${away.message} ${away.remedy}` }, { cause: error });
        }
      },
    });
    return EXIT.ok;
  },
});
