/** Hosts that the programs of test/composition start. Apart, because those run without vitest. */
import { fileURLToPath } from "node:url";
import { withCompileCache } from "./compile-cache.ts";

export const hostProgram = (name: string): readonly string[] => [
  "--disable-warning=ExperimentalWarning",
  ...withCompileCache(),
  fileURLToPath(new URL(`../composition/${name}`, import.meta.url)),
];
export const TERMINAL_HOST = hostProgram("terminal-host.ts");
export const UNREDACTED_HOST = hostProgram("unredacted-host.ts");
