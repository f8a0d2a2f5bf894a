/** The product's hub with the in-memory driver: `node test/composition/hub.ts --port 0 --data-dir DIR`. */
import "./built.ts";

const { runUp } = await import("../../src/main/up.ts");
const { MemoryDriver } = await import("../support/memory-driver.ts");
process.exitCode = await runUp(process.argv.slice(2), {
  drivers: [new MemoryDriver("terminal"), new MemoryDriver("file")],
});
