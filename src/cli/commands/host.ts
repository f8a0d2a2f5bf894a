import type { Command } from "../command.ts";

/** Has no way to a hub: the hub comes to it. `main/host.ts` reads its options and writes its help. */
export const host: Command = {
  name: "host",
  summary: "Run sessions for the hub (started by `up` itself)",
  takes: [],
  options: {},
  examples: ["sidestick host --data-dir ~/.local/share/sidestick"],
  isRaw: true,
  run: async (argv) => {
    const { runHost } = await import("../../main/host.ts");
    return runHost(argv);
  },
};
