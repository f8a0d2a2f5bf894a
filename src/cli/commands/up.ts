import type { Command } from "../command.ts";

/** Has no way to a hub: it is the hub. `main/up.ts` reads its options and writes its help. */
export const up: Command = {
  name: "up",
  summary: "Run the hub in the foreground",
  takes: [],
  options: {},
  examples: ["sidestick up --port 4180"],
  isRaw: true,
  run: async (argv) => {
    const { runUp } = await import("../../main/up.ts");
    return runUp(argv);
  },
};
