/** The product over a host whose shells have `$HOME` outside of the data directory, so that they can be guarded. */
import { runUp } from "../../src/main/up.ts";
import { hostProgram } from "../support/host-programs.ts";

const program = [...hostProgram("guarded-host.ts"), process.env["HOME"] ?? "/"];
process.exitCode = await runUp(process.argv.slice(2), { hostProgram: program });
