/** The deliberate faults of `npm run test:mutants`. */
import { CHAT_MUTANTS } from "./chats.ts";
import { CONTROL_MUTANTS } from "./control.ts";
import { GUARD_MUTANTS } from "./guard.ts";
import type { Mutant } from "./mutant.ts";
import { PAGE_AND_LINK_MUTANTS } from "./page-and-links.ts";

export const MUTANTS: readonly Mutant[] = [
  ...CONTROL_MUTANTS,
  ...GUARD_MUTANTS,
  ...CHAT_MUTANTS,
  ...PAGE_AND_LINK_MUTANTS,
];
