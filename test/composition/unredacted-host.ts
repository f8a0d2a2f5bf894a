/** The product's host, but nothing is masked: `node test/composition/unredacted-host.ts --data-dir DIR`. */
import { program } from "../../bin/program.mjs";
import type * as Host from "../../src/main/host.ts";
import type * as Terminals from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";

const { runHost } = (await import(program("main/host"))) as typeof Host;
const { openTerminals } = (await import(program("main/terminals"))) as typeof Terminals;
process.exitCode = await runHost(process.argv.slice(2), {
  openSession: (parts) => openTerminals({ ...parts, redaction: "off", environment: () => emptyHome(parts.directory) }),
});
