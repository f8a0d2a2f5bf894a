/**
 * From the bytes of a question to what people are asked, over a real hub and host: what a person at another place waits for. And what of an
 * hour of output that asks nothing is taken for a question.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../src/lib/logger.ts";
import { openDesks } from "../src/main/desks.ts";
import { connectLocalHost } from "../src/main/local-host.ts";
import { falsePrompts } from "./busy/replay.ts";
import { ANN, runIn } from "./busy/run-in.ts";
import { type Measure, median, percentile } from "./measure.ts";

const KEPT = { activityMaxAgeMs: 1e12, activityMaxBytes: 1e12, auditMaxAgeMs: 1e12, auditMaxBytes: 1e12 };
/** Its shells have an empty home: what somebody's start-up files do is not measured, nor cut off at the end. */
const PLAIN_HOST = [
  "--disable-warning=ExperimentalWarning",
  join(import.meta.dirname, "../test/composition/terminal-host.ts"),
];
const QUESTIONS = 100;
/** Each question says when it was asked. */
const PROGRAM = `
import time
for n in range(${QUESTIONS}):
    input(f"{time.time() * 1000:.1f} Continue? [Y/n] ")
`;

export async function* run(): AsyncIterable<Measure> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-bench-"));
  const logger = createLogger("error", () => undefined);
  const host = await connectLocalHost({ dataDir, logger, program: PLAIN_HOST });
  const clock = { now: () => Date.now() };
  const limits = { ...KEPT, outputMaxBytes: 1e12 };
  const desks = await openDesks({ dataDir, openDrivers: async () => [host.driver], logger, clock, limits });
  const tookMs: number[] = [];
  const done = Promise.withResolvers<void>();
  const watch = desks.log.observe((events) => {
    const now = performance.timeOrigin + performance.now();
    for (const { type, payload } of events) {
      if (type !== "prompt_request") continue;
      const { question, promptId, nonce } = payload as { question: string; promptId: string; nonce: string };
      tookMs.push(now - Number.parseFloat(question));
      const reply = { by: "text", text: "yes" } as const;
      // After the fold of this very event.
      setImmediate(() => void desks.replies.reply({ promptId, nonce, reply }, ANN).catch(done.reject));
      if (tookMs.length === QUESTIONS) done.resolve();
    }
  });
  try {
    await runIn(desks, "bench", `python3 -c '${PROGRAM}'`);
    await done.promise;
    yield { name: "question asked to question offered, median", value: median(tookMs), unit: "ms" };
    yield { name: "question asked to question offered, p95", value: percentile(tookMs, 0.95), unit: "ms", atMost: 100 };
    watch[Symbol.dispose]();
    yield* falsePrompts(desks, dataDir);
  } finally {
    await host.shutdown("now").catch(() => undefined);
    await host.close();
    await desks.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
