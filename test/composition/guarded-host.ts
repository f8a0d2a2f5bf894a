/**
 * The product's host, but its shells have a home of their own, outside of the data directory, which a guard hides:
 *
 *   node test/composition/guarded-host.ts HOME --data-dir DIR
 */
import { userInfo } from "node:os";
import { runHost } from "../../src/main/host.ts";
import { openTerminals } from "../../src/main/terminals.ts";
import { environmentIn } from "../support/empty-home.ts";

const [home = "", ...argv] = process.argv.slice(2);
process.exitCode = await runHost(argv, {
  openSession: (parts) =>
    openTerminals({ ...parts, environment: async () => environmentIn(home, userInfo().username) }),
});
