import { type Command, defineCommand, type Invocation } from "../command.ts";
import { CannotRun, EXIT, UsageError } from "../exit.ts";
import { wholeNumber } from "../options.ts";
import { printable } from "../printable.ts";

const OPTIONS = {
  system: { type: "boolean", help: "for this whole machine; there is no other way yet" },
  "dry-run": { type: "boolean", help: "only tell what would be done" },
  prefix: { type: "string", value: "DIR", help: "write below DIR and run nothing, for packages" },
  user: { type: "string", value: "NAME", help: "the hub's account (default: sidestick)" },
} as const;

const PORT = { type: "string", value: "N", help: "port on 127.0.0.1 (default 4180)" } as const;

type Values = Invocation<typeof OPTIONS & { port: typeof PORT }>["values"];

export const install = defineCommand({
  name: "install",
  summary: "Set up a hub under an account of its own: account, directory, systemd unit",
  options: { ...OPTIONS, port: PORT },
  examples: ["sudo sidestick install --system --dry-run", "sudo sidestick install --system --port 4180"],
  notes: [
    "People reach such a hub by its address and a token: sudo -H -u sidestick sidestick token create --role operator --name ann",
  ],
  run: async ({ values, terminal }) => {
    const { installSystem } = await import("../../main/install.ts");
    return tell(() => installSystem(optionsOf("install", values)), values, terminal);
  },
});

export const uninstall = defineCommand({
  name: "uninstall",
  summary: "Remove what `install --system` wrote; the data stays",
  options: OPTIONS,
  examples: ["sudo sidestick uninstall --system"],
  run: async ({ values, terminal }) => {
    const { uninstallSystem } = await import("../../main/install.ts");
    return tell(() => uninstallSystem(optionsOf("uninstall", values)), values, terminal);
  },
});

function optionsOf(verb: string, values: Values) {
  if (values.system !== true) throw new UsageError(`"${verb}" needs --system.`);
  const { user = "sidestick", port = "4180", prefix } = values;
  if (!/^[a-z_][a-z0-9_-]{0,30}$/.test(user))
    throw new UsageError(`--user is "${user}", but should be an account's name.`);
  const number = wholeNumber(port, "--port");
  if (number < 1 || number > 65_535) throw new UsageError(`--port is "${port}", but should be from 1 to 65535.`);
  return { user, port: number, prefix, isDry: values["dry-run"] === true };
}

type Told = { readonly state: string; readonly what: string };

function tell(act: () => readonly Told[], { json }: Values, terminal: Parameters<Command["run"]>[1]): number {
  const told = refusing(act);
  if (json === true) terminal.printJson(told);
  else for (const { state, what } of told) terminal.print(printable(`${state.padEnd(5)}  ${what}`));
  return EXIT.ok;
}

function refusing(act: () => readonly Told[]): readonly Told[] {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "InstallRefused") throw error;
    throw new CannotRun(error.message, (error as Error & { remedy: string }).remedy);
  }
}
