/** Faults in the page, in links between hub and hosts, and in credentials. */
import type { Mutant } from "./mutant.ts";

export const PAGE_AND_LINK_MUTANTS: readonly Mutant[] = [
  {
    name: "a page whose overview fails doesn't ask again",
    file: "src/web/model/hub.ts",
    text: "if (overview !== undefined) return this.#begin(overview);",
    becomes: "return overview && this.#begin(overview);",
    tests: ["test/web/hub.test.ts"],
  },
  {
    name: "an approval that ran out of time says that it was denied",
    file: "src/web/inbox/approval-words.ts",
    text: 'return "Expired: nobody decided in time, and nothing was run";',
    becomes: "return `Denied by ${resolvedBy}${because}`;",
    tests: ["test/web/approval-words.test.ts"],
  },
  {
    name: "a host that falls silent is believed in",
    file: "src/server/hosts/host-connection.ts",
    text: "this.#silence.look(performance.now()) > LINK_DEAD_AFTER_MS",
    becomes: "this.#silence.look(performance.now()) > LINK_DEAD_AFTER_MS * 2",
    tests: ["test/host/link.test.ts"],
  },
  {
    name: "a hub that falls silent is believed in",
    file: "src/host/link/hub-connection.ts",
    text: "if (this.#silence.look(performance.now()) > this.#deadAfterMs) this.close();",
    becomes: "",
    tests: ["src/host/link/hub-connection.test.ts"],
  },
  {
    name: "whoever closes a session of a silent host waits for ever",
    file: "src/hub/session-runner.ts",
    text: "return withinMs(driver.stop(sessionId), STOP_MS, ",
    becomes: "return withinMs(driver.stop(sessionId), STOP_MS * 9, ",
    tests: ["test/remote/hostile-host.test.ts"],
  },
  {
    name: "a renewed token ends as before",
    file: "src/hub/credential-desk.ts",
    text: "this.#prolong(tokenId, lifetimeMs);",
    becomes: "",
    tests: ["test/hub/renewal.test.ts"],
  },
];
