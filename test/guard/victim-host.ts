/**
 * The product's host with the shells of a person who lives in `$VICTIM_HOME`.
 *
 *   VICTIM_HOME=DIR node test/guard/victim-host.ts --data-dir DIR
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { program } from "../../bin/program.mjs";
import type * as Host from "../../src/main/host.ts";
import type * as Terminals from "../../src/main/terminals.ts";

const { values } = parseArgs({ strict: false, options: { "data-dir": { type: "string" } } });
// The host gets no variable that isn't a login's: what the test says lies beside the data.
const login = JSON.parse(readFileSync(join(String(values["data-dir"]), "..", "login.json"), "utf8")) as Record<
  string,
  string
>;

const { runHost } = (await import(program("main/host"))) as typeof Host;
const { openTerminals } = (await import(program("main/terminals"))) as typeof Terminals;
process.exitCode = await runHost(process.argv.slice(2), {
  openSession: (parts) => openTerminals({ ...parts, environment: async () => login }),
});
