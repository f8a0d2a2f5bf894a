/** The product's host, but nothing is masked: `node test/composition/unredacted-host.ts --data-dir DIR`. */
import { runHost } from "../../src/main/host.ts";
import { openTerminals } from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: (parts) => openTerminals({ ...parts, redaction: "off", environment: () => emptyHome(parts.directory) }),
});
