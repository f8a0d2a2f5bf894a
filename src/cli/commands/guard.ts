import { basename, resolve } from "node:path";
import { defineCommand, type Invocation } from "../command.ts";
import { CannotRun, EndsWith, EXIT, UsageError } from "../exit.ts";
import { printable } from "../printable.ts";

const path = (help: string) => ({ type: "string", value: "PATH", multiple: true, help }) as const;

const OPTIONS = {
  name: { type: "string", value: "NAME", help: "who it is to the hub (default: the command's own name)" },
  "no-network": { type: "boolean", help: "no network but a loopback of its own; then no hub either, and no token" },
  "read-only": path("can be read, not changed"),
  writable: path("can be changed; where you are root, system directories can't be otherwise"),
  show: path("of what is hidden by default: ~/.ssh, ~/.aws, browsers …"),
  hide: path("is empty inside"),
} as const;

export const guard = defineCommand({
  name: "guard",
  summary: "Start an agent's program in a guard, where it can't reach Sidestick but by a token of its own",
  takes: ["<command...>"],
  failureCode: EXIT.notRun,
  options: OPTIONS,
  examples: [
    "sidestick guard -- claude",
    "sidestick guard --name builder --hide ~/letters -- codex",
    "sidestick guard --no-network -- ./untrusted.sh",
  ],
  notes: [
    "Inside are the program, your files and the network as you know them. Sidestick's data, config and sockets, other\nprocesses, and your tmux, ssh-agent, docker, D-Bus and X don't exist there; your shells' start-up files, directories of\nPATH below your home and our programs are read-only.",
    "It is told the hub's address in $SIDESTICK_URL and an agent's token in $SIDESTICK_TOKEN: `sidestick mcp` and all other\ncommands work there as that agent. The token is revoked when the program ends. If this command is killed, the program\ndies with it, and the token is of no use after ten minutes.",
    "When the program ends, all that it started is ended. Its exit code is this command's, and so is its signal; 125 it\ncould not be started, 127 there is no such program.",
  ],
  run: async (invocation) => {
    const { values, given, client, dataDir, terminal } = invocation;
    if (dataDir === undefined) {
      throw new UsageError('"guard" hides a hub of this machine, so it takes --data-dir, not --url.');
    }
    const terms = termsOf(values);
    const main = await import("../../main/guard.ts");
    const ability = main.guardHere();
    if (!ability.available) throw noGuard(ability.missing[0]);
    for (const { layer, reason } of ability.missing) terminal.note(printable(`sidestick: No ${layer}: ${reason}.`));
    const [command = "", ...args] = given;
    const file = main.findProgram(command);
    if (file === undefined) {
      const remedy = "Give its path, or see that $PATH has its directory.";
      throw new EndsWith(EXIT.notFound, new CannotRun(`There is no program "${command}".`, remedy));
    }
    const refused = await main.shownOfOurs(client, dataDir, terms);
    if (refused !== undefined) throw new UsageError(`--show ${refused} would show Sidestick's own data.`);
    const run = { file, args, name: values.name ?? basename(command), terms, client, dataDir };
    return main.runGuarded(run, (text) => terminal.note(printable(`sidestick: ${text}`)));
  },
});

function termsOf(values: Invocation<typeof OPTIONS>["values"]) {
  const absolute = (paths: readonly string[] = []) => paths.map((it) => (it.startsWith("~/") ? it : resolve(it)));
  return {
    hidden: absolute(values.hide),
    shown: absolute(values.show),
    read_only: absolute(values["read-only"]),
    writable: absolute(values.writable),
    network: values["no-network"] !== true,
  };
}

function noGuard(missing: { readonly reason: string; readonly remedy?: string | undefined } | undefined): CannotRun {
  const reason = missing?.reason ?? "it doesn't know how";
  return new CannotRun(
    `This machine can't guard (${reason}). Nothing was started.`,
    `${missing?.remedy ?? "See: sidestick doctor"}. Or run the agent as another user than the hub's.`,
  );
}
