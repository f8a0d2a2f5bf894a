/**
 * The product's host with shells in an empty home. It notes when each stop's frame came and when the gate was shut, by
 * the clock that all processes share: two numbers a line in `$BENCH_GATE_TIMES`.
 *
 *   node bench/control/host.ts --data-dir DIR
 */
import { appendFileSync } from "node:fs";
import type { OpenSession } from "../../src/host/hosted-session.ts";
import { runHost } from "../../src/main/host.ts";
import { openTerminals } from "../../src/main/terminals.ts";
import { sharedNow } from "./shared-clock.ts";

const times = process.env["BENCH_GATE_TIMES"] ?? "/dev/null";
const { PATH = "/usr/bin:/bin", HOME = "/" } = process.env;
const environment = async () => ({ PATH, HOME, LANG: "C.UTF-8", SHELL: "/bin/bash" });

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: async (parts) => timed(await openTerminals({ ...parts, environment })),
});

/** The gate is shut when it tells who lost control. */
function timed(open: OpenSession): OpenSession {
  return async (start, emit) => {
    let arrivedAt = Number.NaN;
    const session = await open(start, (frame) => {
      const isShut = frame.kind === "event" && frame.payload["reason"] === "stop_now";
      if (isShut && frame.type === "control_handoff") appendFileSync(times, `${arrivedAt} ${sharedNow()}\n`);
      emit(frame);
    });
    const handle = session.handle.bind(session);
    session.handle = (request, body) => {
      arrivedAt = sharedNow();
      return handle(request, body);
    };
    return session;
  };
}
