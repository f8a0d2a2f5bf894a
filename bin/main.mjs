/**
 * What `bin/sidestick` runs. Plain JavaScript: whatever of ours is loaded before the cache is on has its types stripped
 * anew at each start, by a compiler that has to be loaded for it.
 */
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { program } from "./program.mjs";

// In our own install, where nobody else can plant code.
enableCompileCache(join(import.meta.dirname, "..", "node_modules", ".cache", "sidestick"));

await import(program("cli/main"));
