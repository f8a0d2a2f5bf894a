/** The entry of `bin/sidestick`. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Half of a short command's time is compiling; the cache lies in our own install, where nobody else can plant code.
enableCompileCache(join(import.meta.dirname, "..", "..", "node_modules", ".cache", "sidestick"));

const { run } = await import("./run.ts");
const { handleClosedPipe, openStdin, Terminal } = await import("./terminal.ts");

const argv = process.argv.slice(2);
// A hub goes on when nobody reads what it prints any longer.
handleClosedPipe(argv[0] === "up" ? "go on" : "end");
// Not `process.exit`: it would cut off what a pipe has not taken yet.
process.exitCode = await run(argv, new Terminal(process.stdout, process.stderr, openStdin));
