import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";

export const down = defineCommand({
  name: "down",
  summary: "End the hub of this data directory, its host and every session in it",
  examples: ["sidestick down", "sidestick down --data-dir /srv/sidestick"],
  run: async ({ dataDir, values, terminal }) => {
    if (dataDir === undefined) throw new UsageError("A hub elsewhere is ended there; leave out --url.");
    const { takeDown } = await import("../../main/down.ts");
    const ended = await takeDown(dataDir);
    if (values.json === true) terminal.printJson(ended);
    else terminal.note(wordsOf(ended));
    return ended.hub === "refused" || ended.host === "refused" ? EXIT.failure : EXIT.ok;
  },
});

type Ended = Record<"hub" | "host", "ended" | "absent" | "refused">;

const WORDS = { ended: "ended", absent: "did not run", refused: "does not end; see its log" } as const;

function wordsOf({ hub, host }: Ended): string {
  return `The hub ${WORDS[hub]}; the host ${WORDS[host]}.`;
}
