import { type CallName, HubUnreachable } from "../../client/sidestick.ts";
import { AppError } from "../../protocol/errors.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { HubAway } from "../failure.ts";
import type { Hub } from "../hub.ts";
import { readVersion } from "../version.ts";

export const mcp = defineCommand({
  name: "mcp",
  summary: "Serve the hub's tools to an MCP client over stdio",
  options: { "as-operator": { type: "boolean", help: "without a token: the tools may do what you may" } },
  examples: ["SIDESTICK_TOKEN=… sidestick mcp", "sidestick mcp --token-file claude.token"],
  run: async ({ terminal, values, given: _given, ...hub }) => {
    refuseByAccident(hub, values["as-operator"] === true);
    const { role } = await hub.client.hub.whoami();
    if (role === "operator") {
      terminal.note(
        "sidestick: These tools act as the operator. Give an agent its own token: sidestick token create --role agent",
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

/** An agent with the operator's tools could decide its own approvals: somebody has to have said so. */
function refuseByAccident({ hasToken }: Hub, asOperator: boolean): void {
  if (hasToken && asOperator) throw new UsageError("A token is given, so --as-operator means nothing; leave one out.");
  if (hasToken || asOperator) return;
  throw new UsageError('"mcp" needs the token of the agent that it serves.', {
    remedy:
      "Make one: sidestick token create --role agent --name NAME, then: SIDESTICK_TOKEN=… sidestick mcp " +
      "(or say --as-operator, to let the agent do all that you may)",
  });
}
