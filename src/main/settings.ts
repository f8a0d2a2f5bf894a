/**
 * What can be set, from where: config file, then environment, then flags, the later winning. A wrong value stops the
 * start with the setting's name and what it should be. Rules HUB-2, HUB-3 in docs/spec/hub.md.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { argumentProblem } from "../cli/argument-problem.ts";
import { LOG_LEVELS } from "../lib/logger.ts";
import { parseStrictJson } from "../lib/strict-json.ts";

type Setting = {
  readonly flag: string;
  readonly env: string;
  readonly value: string;
  readonly help: string;
  readonly should: string;
  /** From text (flag, environment) or from a JSON value of the config file. */
  readonly schema: z.ZodType;
};

const wholeNumber = (min: number, max: number) =>
  z.preprocess((it) => (typeof it === "string" && /^\d+$/.test(it) ? Number(it) : it), z.int().min(min).max(max));

const positive = (help: string, flag: string, fallback: number): Setting => ({
  flag,
  env: `SIDESTICK_${flag.toUpperCase().replaceAll("-", "_")}`,
  value: "N",
  help,
  should: "a whole number from 1 to 1000000",
  schema: wholeNumber(1, 1_000_000).default(fallback),
});

const SETTINGS = {
  port: {
    flag: "port",
    env: "SIDESTICK_PORT",
    value: "PORT",
    help: "port on 127.0.0.1 (default 4180; 0 = any free one)",
    should: "a port number from 0 to 65535",
    schema: wholeNumber(0, 65_535).default(4180),
  },
  dataDir: {
    flag: "data-dir",
    env: "SIDESTICK_DATA_DIR",
    value: "DIR",
    help: "where everything is kept (default ~/.local/share/sidestick)",
    should: "a directory",
    schema: z
      .string()
      .min(1)
      .transform((it) => resolve(it))
      .optional(),
  },
  publicUrl: {
    flag: "public-url",
    env: "SIDESTICK_PUBLIC_URL",
    value: "URL",
    help: "the address people use, when it isn't http://127.0.0.1:PORT (ssh -L, proxy)",
    should: "an http or https address without a path, such as https://sidestick.example.com",
    schema: z
      .url({ protocol: /^https?$/ })
      .refine((it) => URL.canParse(it) && new URL(it).pathname === "/" && !/[?#@]/.test(it))
      .transform((it) => new URL(it).origin)
      .optional(),
  },
  auditHeads: {
    flag: "audit-heads",
    env: "SIDESTICK_AUDIT_HEADS",
    value: "DIR",
    help: "where the audit head is kept, outside the data (default ~/.local/state/sidestick/audit-heads)",
    should: "a directory",
    schema: z
      .string()
      .min(1)
      .transform((it) => resolve(it))
      .optional(),
  },
  policy: {
    flag: "policy",
    env: "SIDESTICK_POLICY",
    value: "FILE",
    help: "the policy file (default DIR/policy.yaml); guards hide its directory",
    should: "a file in a directory of its own",
    schema: z
      .string()
      .min(1)
      .transform((it) => resolve(it))
      .refine((it) => !isShared(dirname(it)))
      .optional(),
  },
  logLevel: {
    flag: "log-level",
    env: "SIDESTICK_LOG_LEVEL",
    value: "LEVEL",
    help: "debug, info, warn or error (default info), for DIR/hub.log",
    should: `one of ${LOG_LEVELS.join(", ")}`,
    schema: z.enum(LOG_LEVELS).default("info"),
  },
  commandSeconds: {
    flag: "interactive-cmd-timeout-seconds",
    env: "INTERACTIVE_CMD_TIMEOUT_SECONDS",
    value: "N",
    help: "how long an interactive command of a project may run (default 300)",
    should: "a whole number from 1 to 86400",
    schema: wholeNumber(1, 86_400).default(300),
  },
  keepActivityDays: positive("days that output events are kept (default 30)", "keep-activity-days", 30),
  keepActivityMb: positive("MB that output events may take (default 2048)", "keep-activity-mb", 2048),
  keepAuditDays: positive("days that decisions are kept (default 365)", "keep-audit-days", 365),
  keepAuditMb: positive("MB that decisions may take (default 1024)", "keep-audit-mb", 1024),
  keepOutputMb: positive("MB of output kept for each session (default 1024)", "keep-output-mb", 1024),
} as const satisfies Record<string, Setting>;

type SettingName = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as readonly SettingName[];

export type Settings = {
  readonly port: number;
  readonly dataDir: string;
  readonly publicUrl?: string | undefined;
  readonly auditHeads: string;
  /** Absent: the data directory's. */
  readonly policy?: string | undefined;
  /** Which may not be there. */
  readonly configFile: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly commandSeconds: number;
  readonly keepActivityDays: number;
  readonly keepActivityMb: number;
  readonly keepAuditDays: number;
  readonly keepAuditMb: number;
  readonly keepOutputMb: number;
};

export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(argv: readonly string[], env: Environment): Settings {
  const flags = parseFlags(argv);
  const file = readConfigFile(flags.config ?? env.SIDESTICK_CONFIG, env);
  const settings: Record<string, unknown> = {};
  for (const name of NAMES) {
    const setting: Setting = SETTINGS[name];
    const [from, raw] =
      flags[setting.flag] !== undefined
        ? [`--${setting.flag}`, flags[setting.flag]]
        : env[setting.env] !== undefined
          ? [setting.env, env[setting.env]]
          : [`${name} in ${file.path}`, file.values[name]];
    const parsed = setting.schema.safeParse(raw);
    if (!parsed.success) {
      throw new SettingsError(`${from} is ${JSON.stringify(raw)}, but should be ${setting.should}.`);
    }
    settings[name] = parsed.data;
  }
  const { dataDir = defaultDataDir(env), auditHeads = defaultAuditHeads(env) } = settings;
  return { ...settings, dataDir, auditHeads, configFile: resolve(file.path) } as Settings;
}

export function settingsHelp(): string {
  const lines = NAMES.map((name) => {
    const { flag, value, help }: Setting = SETTINGS[name];
    const option = `  --${`${flag} ${value}`.padEnd(24)}`;
    return `${option}${option.length > 28 ? `\n${" ".repeat(28)}` : ""}  ${help}`;
  });
  return [
    "Usage: npm start -- [options]        (or: sidestick up [options])",
    "",
    "Starts the hub in the foreground, prints its address and a one-time login link.",
    "",
    ...lines,
    `  --${"config FILE".padEnd(26)}JSON file with the same settings (default ~/.config/sidestick/config.json)`,
    `  --${"help".padEnd(26)}this text`,
    "",
    "Environment: SIDESTICK_PORT, SIDESTICK_DATA_DIR and so on. Flags win over the environment, which wins over the file.",
  ].join("\n");
}

export function defaultDataDir(env: Environment): string {
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "sidestick");
}

function defaultAuditHeads(env: Environment): string {
  return join(env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "sidestick", "audit-heads");
}

function configDirectory(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "sidestick");
}

/** What is Sidestick's own, and so not for those in a guard. */
export function placesOf(settings: Settings, env: Environment): readonly string[] {
  const { dataDir, auditHeads, configFile, policy } = settings;
  const config = [configDirectory(env), ...(existsSync(configFile) ? [configFile] : [])];
  // Not the file alone: editors put a new one in its place, which a guard that already runs would show.
  return [...new Set([dataDir, dirname(auditHeads), ...config, ...(policy === undefined ? [] : [dirname(policy)])])];
}

/** Hidden in guards it would be missed: the home, what is above it, what is directly below the root. */
function isShared(directory: string): boolean {
  return `${homedir()}/`.startsWith(`${directory}/`) || dirname(directory) === "/";
}

/** Where policy files are. */
export function policyPlaces({ dataDir, policy }: Pick<Settings, "dataDir" | "policy">) {
  const file = policy ?? join(dataDir, "policy.yaml");
  return { file, isNamed: policy !== undefined, directory: join(dataDir, "policies") };
}

function parseFlags(argv: readonly string[]): Record<string, string | undefined> {
  const names = [...NAMES.map((name) => SETTINGS[name].flag), "config"];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new SettingsError(`${argumentProblem(error)}. See --help.`, { cause: error });
  }
}

function readConfigFile(
  given: string | undefined,
  env: Environment,
): { path: string; values: Record<string, unknown> } {
  const path = given ?? join(configDirectory(env), "config.json");
  let values: unknown;
  try {
    values = parseStrictJson(readFileSync(path));
  } catch (error) {
    // Accounts without a home often have /dev/null for one.
    const isAbsent = ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (isAbsent && given === undefined) return { path, values: {} };
    throw new SettingsError(`The config file ${path} can't be read: ${(error as Error).message}.`, { cause: error });
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new SettingsError(`The config file ${path} should hold one JSON object.`);
  }
  const unknown = Object.keys(values).find((key) => !NAMES.includes(key as SettingName));
  if (unknown !== undefined) {
    throw new SettingsError(`${JSON.stringify(unknown)} in ${path} is no setting; there are: ${NAMES.join(", ")}.`);
  }
  return { path, values: values as Record<string, unknown> };
}
