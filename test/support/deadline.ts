/**
 * How long a test waits for anything that has to happen. No wait has a limit of its own: one that
 * fits a quiet machine fails a busy one. A wait that succeeds ends at once, so a long deadline costs nothing but in a
 * test that fails anyway. `npm run test:mutants`, where tests are meant to fail, sets a shorter one. Rule HSE-22 in docs/spec/house.md.
 */
import { patience } from "../../tools/suite/patience.ts";
import { IS_SOAK } from "./soak.ts";

/** What a test waits for in a soak may be a hundred times as much. */
const USUAL_MS = IS_SOAK ? 600_000 : 45_000;

export const DEADLINE_MS = Number(process.env["SIDESTICK_DEADLINE_MS"] ?? USUAL_MS) * patience();
