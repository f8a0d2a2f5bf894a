/**
 * `sidestick host join`, but its shells start in an empty home and it doesn't wait long between attempts.
 *
 *   node test/composition/remote-host.ts URL --code CODE --data-dir DIR
 */
import { program } from "../../bin/program.mjs";
import type * as HostJoin from "../../src/main/host-join.ts";
import type * as Terminals from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";

const { runHostJoin } = (await import(program("main/host-join"))) as typeof HostJoin;
const { openTerminals } = (await import(program("main/terminals"))) as typeof Terminals;
const deadAfter = process.env["SIDESTICK_TEST_DEAD_AFTER_MS"];
process.exitCode = await runHostJoin(process.argv.slice(2), {
  openSession: (parts) =>
    openTerminals({
      ...parts,
      environment: () => emptyHome(parts.directory),
      redaction: process.env["SIDESTICK_TEST_REDACTION"] === "off" ? "off" : "on",
    }),
  backOff: { firstMs: 50, mostMs: 400 },
  deadAfterMs: deadAfter === undefined ? undefined : Number(deadAfter),
});
