/** The product's hub over a host that masks nothing: for comparing bytes. */
import { program } from "../../bin/program.mjs";
import type * as Up from "../../src/main/up.ts";
import { UNREDACTED_HOST } from "../support/host-programs.ts";

const { runUp } = (await import(program("main/up"))) as typeof Up;
process.exitCode = await runUp(process.argv.slice(2), { hostProgram: UNREDACTED_HOST });
