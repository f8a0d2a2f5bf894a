/** The product, but its shells start in an empty home: `node test/composition/terminal-hub.ts --port 0 --data-dir DIR`. */
import { program } from "../../bin/program.mjs";
import type * as Up from "../../src/main/up.ts";
import { TERMINAL_HOST } from "../support/host-programs.ts";

const { runUp } = (await import(program("main/up"))) as typeof Up;
process.exitCode = await runUp(process.argv.slice(2), { hostProgram: TERMINAL_HOST });
