/**
 * The product's host, but its shells start in an empty home: what the start-up files of whoever runs the tests do is
 * none of their business.
 *
 *   node test/composition/terminal-host.ts --data-dir DIR
 */
import { runHost } from "../../src/main/host.ts";
import { openTerminals } from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: (parts) => openTerminals({ ...parts, environment: () => emptyHome(parts.directory) }),
});
