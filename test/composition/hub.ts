/** The product's hub with the in-memory driver: `node test/composition/hub.ts --port 0 --data-dir DIR`. */
import { runUp } from "../../src/main/up.ts";
import { MemoryDriver } from "../support/memory-driver.ts";

process.exitCode = await runUp(process.argv.slice(2), {
  drivers: [new MemoryDriver("terminal"), new MemoryDriver("file")],
});
