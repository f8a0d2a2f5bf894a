/** The product's hub over a host that masks nothing: for comparing bytes. */
import { runUp } from "../../src/main/up.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { UNREDACTED_HOST } from "../support/terminal-hub.ts";

process.exitCode = await runUp(process.argv.slice(2), async (parts) => {
  const { driver, close } = await connectLocalHost({ ...parts, program: UNREDACTED_HOST });
  return { drivers: [driver], close };
});
