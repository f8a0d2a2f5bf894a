import { readFileSync, readlinkSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { closeServices, OpenedTerminal } from "../../../../test/support/terminal.ts";

afterAll(closeServices);

test.each([{ command: "interactive" }, { command: "plain" }, { command: "plain", containment: "guard" }] as const)(
  "[RMC-3] when the session is there, so is what waits in it, in its directory: %j (needs perl)",
  async (options) => {
    const { session, home } = await OpenedTerminal.open(options);

    const proc = `/proc/${session.processIds?.[0]}`;
    const [words, directory] = [readFileSync(`${proc}/cmdline`, "utf8"), readlinkSync(`${proc}/cwd`)];

    expect([words.split("\0").slice(0, 2), directory]).toEqual([["/bin/sh", "-c"], home]);
  },
);
