/** What a model is told about commands, and that it can use them as told. */
import { expect, test } from "vitest";
import { ADVICE } from "../../src/server/mcp/advice.ts";
import { instructionsFor } from "../../src/server/mcp/instructions.ts";
import { toolsFor } from "../../src/server/mcp/tools.ts";

const NAMES = [
  "execute_command",
  "start_interactive_command",
  "send_command_input",
  "wait_for_command",
  "terminate_command",
];

test("[RMC-17, RMC-1] an agent has the five tools, whose descriptions and instructions say which is for what", () => {
  const tools = toolsFor("agent");
  const instructions = instructionsFor(tools);

  expect(NAMES.map((name) => tools.has(name))).toEqual(NAMES.map(() => true));
  for (const name of NAMES) expect(instructions).toContain(name);
  expect(tools.get("execute_command")?.definition.description).toContain("use start_interactive_command");
  expect(tools.get("start_interactive_command")?.definition.description).toContain("asks for input");
  expect(instructions).toContain("use pty_exec_block");
  expect(ADVICE.interactive_active).toContain("session_id");
});

test("[RMC-17, RMC-12] without a project it is the default one, and a call stays below a client's patience", () => {
  const { inputSchema } = toolsFor("agent").get("execute_command")!.definition;

  expect(inputSchema.required).toEqual(["command"]);
  expect(inputSchema.properties).toMatchObject({
    project_id: { default: "default" },
    timeout_ms: { default: 45_000, maximum: 120_000 },
  });
});
