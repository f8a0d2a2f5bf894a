/** The product as it is, without the command line: `node test/composition/terminal-hub.ts --port 0 --data-dir DIR`. */
import { runUp } from "../../src/main/up.ts";

process.exitCode = await runUp(process.argv.slice(2));
