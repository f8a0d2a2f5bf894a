/** `sidestick up`: the hub in the foreground, until somebody ends it. */
import type { Check } from "../protocol/hub.ts";
import { PolicyBroken } from "../hub/policy-desk.ts";
import { StoreUnusable } from "../store/sqlite/store-unusable.ts";
import { type Drivers, type RunningHub, startHub } from "./hub.ts";
import { connectLocalHost, type LocalHost } from "./local-host.ts";
import { placesOf, readSettings, SettingsError, settingsHelp, type Settings } from "./settings.ts";
import { VERSION } from "./version.ts";

/** For compositions other than the product's. */
export type Composition = {
  readonly drivers?: Drivers;
  /** Of the local host: Node's arguments. */
  readonly hostProgram?: readonly string[];
};

/** Resolves with the exit code when the hub has ended. */
export async function runUp(argv: readonly string[], { drivers, hostProgram }: Composition = {}): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(settingsHelp());
    return 0;
  }
  // Whatever we make is for its owner alone.
  process.umask(0o077);
  let settings: Settings;
  try {
    settings = readSettings(argv, process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(`sidestick: ${error.message}`);
    return 2;
  }
  let hub: RunningHub;
  let host: LocalHost | undefined;
  const ownHost: Drivers = async (parts) => {
    host = await connectLocalHost({ ...parts, program: hostProgram, hidden: placesOf(settings, process.env) });
    const { driver, close } = host;
    return { drivers: [driver], close };
  };
  try {
    hub = await startHub(settings, drivers ?? ownHost);
  } catch (error) {
    console.error(`sidestick: ${whyNot(error, settings)}`);
    return 1;
  }
  const asked = nextSignal();
  await greet(hub, settings);
  const signal = await asked;
  console.log(signal === "SIGINT" ? "\nThe hub goes down …" : "The hub goes down …");
  insistable();
  // The host goes too, unless something runs in it.
  const left = (await host?.shutdown("idle").catch(() => undefined)) ?? 0;
  // Ctrl+C is a person's who may not think of them; `sidestick down`, which says SIGTERM, ends them next.
  if (signal !== "SIGTERM" && left > 0) {
    console.log(`${left} ${left === 1 ? "session goes" : "sessions go"} on; \`sidestick down\` ends them.`);
  }
  await hub.close();
  return 0;
}

async function greet(hub: RunningHub, settings: Settings): Promise<void> {
  console.log(`Sidestick ${VERSION}`);
  console.log(`  Address   ${hub.url}`);
  console.log(`  Log in    ${hub.loginLink()}   (once, within 10 minutes)`);
  console.log(`  Data      ${settings.dataDir}`);
  for (const check of await hub.checks()) console.log(`  ${lineOf(check)}`);
  console.log("Ready. Ctrl+C ends the hub.");
}

function lineOf({ name, state, needed, detail, remedy }: Check): string {
  const mark = { ready: "✓", degraded: "!", missing: needed ? "✗" : "-" }[state];
  return [`${mark} ${name}:`, detail, ...(state === "degraded" && remedy !== undefined ? [remedy] : [])].join(" ");
}

/**
 * Whoever presses Ctrl+C again means it. Not within the first second: npm passes on the signal that the terminal has
 * already sent to us, so one key press arrives twice.
 */
function insistable(): void {
  const askedAt = performance.now();
  process.on("SIGINT", () => {
    if (performance.now() - askedAt > 1000) process.exit(130);
  });
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  });
}

function whyNot(error: unknown, settings: Settings): string {
  if (error instanceof StoreUnusable) return [error.message, error.remedy].filter(Boolean).join(" ");
  if (error instanceof PolicyBroken) return error.message;
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  switch (code) {
    case "EADDRINUSE":
      return `Port ${settings.port} on 127.0.0.1 is taken. End what uses it, or choose another: --port PORT`;
    case "EINVAL":
      if (syscall !== "listen") return message;
      return `The path of ${settings.dataDir} is too long for a socket (hub.sock in it may have 107 bytes). Choose a shorter one: --data-dir DIR`;
    case "EACCES":
      if (syscall === "listen")
        return `You may not listen on port ${settings.port}. Choose one above 1023: --port PORT`;
      return unwritable(code, settings);
    case "ENOENT":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
    case "EEXIST":
    case "ENOSPC":
      return unwritable(code, settings);
    default:
      return message;
  }
}

function unwritable(code: string, settings: Settings): string {
  return `The hub can't write in ${settings.dataDir} (${code}). Choose a directory that you may write: --data-dir DIR`;
}
