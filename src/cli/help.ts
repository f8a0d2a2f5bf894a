/** Help texts, all from the command table. */
import type { Command } from "./command.ts";
import { COMMON_OPTIONS, type Options } from "./options.ts";

export function generalHelp(commands: readonly Command[]): string {
  return [
    "Usage: sidestick <command> [options]",
    "",
    "Live sessions that an AI agent and a person share.",
    "",
    ...summaries(commands),
    "",
    `Every command but ${ownHelp(commands)}: --json, --data-dir DIR, --url URL, --token-file FILE, --help`,
    "",
    "Exit codes: 0 done, 1 failed, 2 wrong command line, 3 hub not reachable, 4 refused (credential or role)",
  ].join("\n");
}

/** They have no way to a hub, or are one. */
function ownHelp(commands: readonly Command[]): string {
  return commands
    .filter((it) => it.isRaw === true)
    .map(({ name }) => name)
    .join(", ");
}

/** For a first word that several commands share. */
export function groupHelp(word: string, commands: readonly Command[]): string {
  return [`Usage: sidestick ${word} <command> [options]`, "", ...summaries(commands)].join("\n");
}

export function commandHelp(command: Command): string {
  const usage = ["sidestick", command.name, ...command.takes, "[options]"].join(" ");
  return [
    `Usage: ${usage}`,
    "",
    command.summary,
    "",
    ...optionLines({ ...command.options, ...COMMON_OPTIONS, ...command.options }),
    "",
    ...(command.notes ?? []).flatMap((note) => [note, ""]),
    "Examples:",
    ...command.examples.map((example) => `  ${example}`),
  ].join("\n");
}

function summaries(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
}

function optionLines(options: Options): string[] {
  return Object.entries(options).map(([name, { value, help }]) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return `  ${flag.padEnd(22)}  ${help}`;
  });
}
