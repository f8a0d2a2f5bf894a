/** How long the hub waits for programs before it goes on. These are the product's times; tests pass shorter ones. */
import { BATCH_MS } from "../domain/prompts/output-batch.ts";
import type { ExecutionPlan } from "../domain/prompts/plan-table.ts";

export type Pace = {
  /** A program that has printed nothing for so long has settled, also if no host tells so. */
  readonly settledMs: number;
  /** What a program prints is collected for so long before it goes to a chat. */
  readonly batchMs: number;
  /** A plan that nothing was added to for so long is whole: agents print word by word. */
  readonly planMs: number;
  /** What differs from the table of plans (PMT-40). */
  readonly answer: Partial<Pick<ExecutionPlan, "advanceTimeoutMs" | "retryDelayMs">>;
};

export const PACE: Pace = { settledMs: 5_000, batchMs: BATCH_MS, planMs: 1_000, answer: {} };
