/**
 * The product's host, but its shells start in an empty home: what the start-up files of whoever runs the tests do is
 * none of their business. SIGUSR2 lets minutes of silence go by in its terminals.
 *
 *   node test/composition/terminal-host.ts [--overdue-ms N] --data-dir DIR
 */
import { program } from "../../bin/program.mjs";
import type * as Host from "../../src/main/host.ts";
import type * as Terminals from "../../src/main/terminals.ts";
import { emptyHome } from "../support/empty-home.ts";
import { timeMovedBySignal } from "../support/movable-time.ts";

const { runHost } = (await import(program("main/host"))) as typeof Host;
const { openTerminals } = (await import(program("main/terminals"))) as typeof Terminals;
const time = timeMovedBySignal();
const [, , ...args] = process.argv;
const overdueMs = args[0] === "--overdue-ms" ? Number(args.splice(0, 2)[1]) : undefined;
process.exitCode = await runHost(args, {
  openSession: (parts) => openTerminals({ ...parts, time, overdueMs, environment: () => emptyHome(parts.directory) }),
});
