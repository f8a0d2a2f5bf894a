/**
 * `sidestick host join`, but its shells start in an empty home and it doesn't wait long between attempts.
 *
 *   node test/composition/remote-host.ts URL --code CODE --data-dir DIR
 */
import { runHostJoin } from "../../src/main/host-join.ts";
import { openTerminals } from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";

process.exitCode = await runHostJoin(process.argv.slice(2), {
  openSession: (parts) =>
    openTerminals({
      ...parts,
      environment: () => emptyHome(parts.directory),
      redaction: process.env["SIDESTICK_TEST_REDACTION"] === "off" ? "off" : "on",
    }),
  backOff: { firstMs: 50, mostMs: 400 },
});
