/** The product, over a host whose shells start in an empty home: `node test/composition/terminal-hub.ts --port 0 --data-dir DIR`. */
import { runUp } from "../../src/main/up.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { TERMINAL_HOST } from "../support/terminal-hub.ts";

process.exitCode = await runUp(process.argv.slice(2), async (parts) => {
  const { driver, close } = await connectLocalHost({ ...parts, program: TERMINAL_HOST });
  return { drivers: [driver], close };
});
