/** The product over a host whose shells have `$HOME` outside of the data directory, so that they can be guarded. */
import { program } from "../../bin/program.mjs";
import type * as Up from "../../src/main/up.ts";
import { hostProgram } from "../support/host-programs.ts";

const { runUp } = (await import(program("main/up"))) as typeof Up;
const hostProgramInHome = [...hostProgram("guarded-host.ts"), process.env["HOME"] ?? "/"];
process.exitCode = await runUp(process.argv.slice(2), { hostProgram: hostProgramInHome });
