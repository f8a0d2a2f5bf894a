import { createInterface } from "node:readline/promises";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";

export const reset = defineCommand({
  name: "reset",
  summary: "Close every session and end every pending approval; the log stays",
  options: { yes: { type: "boolean", help: "do not ask" } },
  examples: ["sidestick reset", "sidestick reset --yes"],
  run: async ({ client, values, terminal }) => {
    if (values.yes !== true && !(await confirm())) {
      terminal.note("Nothing was done.");
      return EXIT.failure;
    }
    const done = await client.hub.reset();
    if (values.json === true) terminal.printJson(done);
    else terminal.note(`Closed ${done.closedSessions} sessions, ended ${done.endedApprovals} approvals.`);
    return EXIT.ok;
  },
});

async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError("Nobody is here to confirm; say --yes if it is meant.");
  const question = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl+C and Ctrl+D end the question without an answer.
  const closed = new Promise<string>((resolve) => question.once("close", () => resolve("")));
  try {
    const answer = await Promise.race([
      question.question("Close every session and end every pending approval? [y/N] "),
      closed,
    ]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    question.close();
  }
}
