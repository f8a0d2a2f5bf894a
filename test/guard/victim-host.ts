/**
 * The product's host with the shells of a person who lives in `$VICTIM_HOME`.
 *
 *   VICTIM_HOME=DIR node test/guard/victim-host.ts --data-dir DIR
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runHost } from "../../src/main/host.ts";
import { openTerminals } from "../../src/main/terminals.ts";

const { values } = parseArgs({ strict: false, options: { "data-dir": { type: "string" } } });
// The host gets no variable that isn't a login's: what the test says lies beside the data.
const login = JSON.parse(readFileSync(join(String(values["data-dir"]), "..", "login.json"), "utf8")) as Record<
  string,
  string
>;

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: (parts) => openTerminals({ ...parts, environment: async () => login }),
});
