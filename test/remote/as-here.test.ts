/** Suites of terminals, control, approvals and commands once more, on a host that has joined: one of them each time, all in a soak. */
import { describe } from "vitest";
import { SEED } from "../crash/seeded.ts";
import { IS_SOAK } from "../support/soak.ts";

process.env["SIDESTICK_TEST_HOST"] = "elsewhere";

const SUITES = [
  "terminal/api",
  "control/losing",
  "commands/commands",
  "commands/asked",
  "control/grants",
  "approvals/actions",
];
const CHOSEN = IS_SOAK ? SUITES : [SUITES[SEED % SUITES.length]];

for (const suite of CHOSEN) {
  describe(`[RML-9] ${suite} on a host elsewhere (seed ${SEED})`, async () => {
    await import(`../${suite}.test.ts`);
  });
}
