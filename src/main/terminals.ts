/** Terminals of this host: one probe and one emulator thread for all of them, made when the first needs it. */
import { join } from "node:path";
import type { OpenSession } from "../host/hosted-session.ts";
import type { Probe } from "../host/terminal/probe/probe.ts";
import type { Screens } from "../host/terminal/screen/screens.ts";
import { openTerminal } from "../host/terminal/terminal-session.ts";
import type { Logger } from "../lib/logger.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export async function openTerminals(parts: {
  readonly directory: string;
  readonly logger: Logger;
  /** Off only where a test compares bytes. */
  readonly redaction?: "on" | "off";
}): Promise<OpenSession> {
  const directory = join(parts.directory, "sessions");
  await makePrivateDirectory(directory);
  let probe: Promise<Probe> | undefined;
  let screens: Promise<Screens> | undefined;
  return openTerminal({
    directory,
    probe: () => (probe ??= import("../host/terminal/probe/probe.ts").then((it) => it.Probe.open())),
    screens: () => (screens ??= import("../host/terminal/screen/screens.ts").then((it) => it.Screens.open())),
    redaction: parts.redaction ?? "on",
  });
}
