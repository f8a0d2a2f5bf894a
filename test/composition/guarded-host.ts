/**
 * The product's host, but its shells have a home of their own, outside of the data directory, which a guard hides:
 *
 *   node test/composition/guarded-host.ts HOME --data-dir DIR
 */
import { userInfo } from "node:os";
import { program } from "../../bin/program.mjs";
import type * as Host from "../../src/main/host.ts";
import type * as Terminals from "../../src/main/terminals.ts";
import { environmentIn } from "../support/empty-home.ts";

const { runHost } = (await import(program("main/host"))) as typeof Host;
const { openTerminals } = (await import(program("main/terminals"))) as typeof Terminals;
const [home = "", ...argv] = process.argv.slice(2);
process.exitCode = await runHost(argv, {
  openSession: (parts) =>
    openTerminals({ ...parts, environment: async () => environmentIn(home, userInfo().username) }),
});
