/** The entry of `bin/main.mjs`. */
import { run } from "./run.ts";
import { handleClosedPipe, openStdin, Terminal } from "./terminal.ts";

const argv = process.argv.slice(2);
// A hub goes on when nobody reads what it prints any longer.
handleClosedPipe(argv[0] === "up" ? "go on" : "end");
// Not `process.exit`: it would cut off what a pipe has not taken yet.
process.exitCode = await run(argv, new Terminal(process.stdout, process.stderr, openStdin));
