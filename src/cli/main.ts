/** The entry of `bin/sidestick`. */
import { run } from "./run.ts";
import { handleClosedPipe, Terminal } from "./terminal.ts";

const argv = process.argv.slice(2);
// A hub lives on without its terminal.
handleClosedPipe(argv[0] === "up" ? "go on" : "end");
// Not `process.exit`: it would cut off what a pipe has not taken yet.
process.exitCode = await run(argv, new Terminal(process.stdout, process.stderr));
