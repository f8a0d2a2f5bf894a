/**
 * The product's host, whose shells have the same environment as those of the peers: `$BENCH_SHELL_ENVIRONMENT`, JSON.
 *
 *   node bench/terminal/host.ts --data-dir DIR
 */
import { join } from "node:path";
import { openTerminal } from "../../src/host/terminal/terminal-session.ts";
import { Probe } from "../../src/host/terminal/probe/probe.ts";
import { Screens } from "../../src/host/terminal/screen/screens.ts";
import { runHost } from "../../src/main/host.ts";
import { makePrivateDirectory } from "../../src/main/private-directory.ts";

const environment = JSON.parse(process.env["BENCH_SHELL_ENVIRONMENT"] ?? "{}") as Record<string, string>;
delete process.env["BENCH_SHELL_ENVIRONMENT"];

process.exitCode = await runHost(process.argv.slice(2), {
  openSession: async (parts) => {
    const directory = join(parts.directory, "sessions");
    await makePrivateDirectory(directory);
    let probe: Promise<Probe> | undefined;
    let screens: Promise<Screens> | undefined;
    return openTerminal({
      directory,
      ours: parts.ours,
      probe: () => (probe ??= Probe.open()),
      screens: () => (screens ??= Screens.open()),
      environment: async () => environment,
    });
  },
});
