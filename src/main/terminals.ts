/** Terminals of this host: one probe and one emulator thread for all of them, made when the first needs it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { OpenSession } from "../host/hosted-session.ts";
import type { TerminalPatience } from "../host/terminal/patience.ts";
import { closeOnExec } from "../host/terminal/probe/tty.ts";
import type { QuietTime } from "../host/terminal/quiet-clock.ts";
import { removeDirectory } from "../host/terminal/shared-files.ts";
import { openTerminal } from "../host/terminal/terminal-session.ts";
import type { Logger } from "../lib/logger.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export async function openTerminals(parts: {
  readonly directory: string;
  readonly logger: Logger;
  /** What of Sidestick a guard hides. */
  readonly ours: readonly string[];
  /** Off only where a test compares bytes. */
  readonly redaction?: "on" | "off";
  /** How long an interrupt may meet no safe point; shorter only in tests. */
  readonly overdueMs?: number | undefined;
  /** Of terminals' silence; absent: the machine's. */
  readonly time?: QuietTime | undefined;
  /** Absent: as after a fresh login. */
  readonly environment?: () => Promise<Readonly<Record<string, string>>>;
  readonly patience?: Partial<TerminalPatience> | undefined;
}): Promise<OpenSession> {
  const directory = join(parts.directory, "sessions");
  await makePrivateDirectory(directory);
  const probe = kept(async () => (await import("../host/terminal/probe/probe.ts")).Probe.open());
  const screens = kept(async () => (await import("../host/terminal/screen/screens.ts")).Screens.open());
  // A program that asks its terminal something can't wait for a thread to start: it would look as if it asked a person.
  screens().catch((error: unknown) => parts.logger.warn("no emulator yet", { error }));
  inheritNothing();
  const open = openTerminal({
    directory,
    ours: parts.ours,
    probe,
    screens,
    redaction: parts.redaction ?? "on",
    patience: parts.patience,
    overdueMs: parts.overdueMs,
    time: parts.time,
    ...(parts.environment === undefined ? {} : { environment: parts.environment }),
  });
  // What a host that was killed left there. Not before the first session: then this one is the only one.
  const cleared = kept(() => removeDirectory(directory).then(() => makePrivateDirectory(directory)));
  return async (start, emit) => {
    await cleared();
    return open(start, emit);
  };
}

/** Descriptors of whoever started the host are none of a shell's business. */
function inheritNothing(): void {
  for (const fd of readdirSync("/proc/self/fd").map(Number)) if (fd > 2) closeOnExec(fd);
}

/** Made once; after a failure again, by whoever asks next. */
function kept<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    made.catch(() => (made = undefined));
    return made;
  };
}
