/** The product's hub with `victim-host.ts` as its host. */
import { fileURLToPath } from "node:url";
import { program } from "../../bin/program.mjs";
import type * as Up from "../../src/main/up.ts";
import { withCompileCache } from "../support/compile-cache.ts";

const { runUp } = (await import(program("main/up"))) as typeof Up;
const hostProgram = [...withCompileCache(), fileURLToPath(new URL("victim-host.ts", import.meta.url))];
process.exitCode = await runUp(process.argv.slice(2), { hostProgram });
