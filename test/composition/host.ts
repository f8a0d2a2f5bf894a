/**
 * The product's host program with plain sessions: each runs `$PLAIN_COMMAND`. `$PLAIN_SPOOL` is `memory,file` in bytes.
 * With `$HOST_IMPATIENT` it gives another host a moment to answer.
 *
 *   node test/composition/host.ts --data-dir DIR
 */
import "./built.ts";

const { runHost } = await import("../../src/main/host.ts");
const { plainSessions } = await import("../support/plain-session.ts");
const { PLAIN_COMMAND = "cat", PLAIN_SPOOL, HOST_IMPATIENT } = process.env;
const [memoryBytes = 0, fileBytes = 0] = (PLAIN_SPOOL ?? "").split(",").map(Number);

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: async () => plainSessions(PLAIN_COMMAND),
  spoolLimits: PLAIN_SPOOL === undefined ? undefined : { memoryBytes, fileBytes },
  aliveWithinMs: HOST_IMPATIENT === undefined ? undefined : 200,
});
