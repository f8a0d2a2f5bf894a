/** The product's hub over a host that masks nothing: for comparing bytes. */
import { runUp } from "../../src/main/up.ts";
import { UNREDACTED_HOST } from "../support/host-programs.ts";

process.exitCode = await runUp(process.argv.slice(2), { hostProgram: UNREDACTED_HOST });
