import type { Host } from "../../client/sidestick.ts";
import { ageOf } from "../age.ts";
import { type Command, defineCommand } from "../command.ts";
import { CannotRun, EXIT } from "../exit.ts";
import { shellWord } from "../hub.ts";
import { printable, printableText } from "../printable.ts";

export const hosts = defineCommand({
  name: "hosts",
  summary: "List the machines on which sessions run",
  examples: ["sidestick hosts", "sidestick hosts --json"],
  run: async ({ client, values, terminal }) => {
    const found = await client.host.list();
    if (values.json === true) terminal.printJson(found);
    else terminal.printTable(COLUMNS, found);
    return EXIT.ok;
  },
});

export const hostInvite = defineCommand({
  name: "host invite",
  summary: "Make a code with which one machine joins as a host",
  options: {
    name: { type: "string", value: "NAME", help: "what it will be called (default: it says so itself)" },
    workspace: { type: "string", value: "ID", help: "the workspace whose new sessions run there" },
  },
  examples: ["sidestick host invite", "sidestick host invite --name build1 --workspace builds"],
  run: async ({ client, values, terminal }) => {
    const { name, workspace: workspaceId } = values;
    const invite = await client.host.invite({ name, workspaceId });
    if (values.json === true) terminal.printJson(invite);
    else {
      terminal.note("Run this on the other machine, once, within ten minutes:");
      terminal.print(printable(invite.command));
      if (invite.url.startsWith("http:")) terminal.note(NEARBY);
    }
    return EXIT.ok;
  },
});

const NEARBY =
  "This address is only for this machine and for ssh tunnels to it. For others put TLS before the hub and start it with --public-url https://…";

export const hostRemove = defineCommand({
  name: "host remove",
  summary: "Forget a host: its token is revoked, its sessions are closed",
  takes: ["<host>"],
  examples: ["sidestick host remove build1"],
  run: async ({ client, values, given: [hostId = ""], terminal }) => {
    const removed = await client.host.remove({ hostId });
    if (values.json === true) terminal.printJson(removed);
    else terminal.note(printable(`Removed ${removed.name}.`));
    const left = (await client.workspace.list()).filter((it) => it.hostId === removed.hostId);
    for (const { workspaceId } of left) {
      const put = shellWord(JSON.stringify({ workspaceId, hostId: "local" }));
      terminal.note(
        printable(`The workspace ${workspaceId} still names it. To name another: sidestick call workspace.put ${put}`),
      );
    }
    return EXIT.ok;
  },
});

/** Has its own options: those of a hub mean nothing there. */
export const hostJoin: Command = {
  name: "host join",
  summary: "Run sessions on this machine for a hub elsewhere",
  takes: [],
  options: {},
  examples: ["sidestick host join https://sidestick.example.com --code CODE", "sidestick host join"],
  isRaw: true,
  run: async (argv) => {
    const { runHostJoin } = await import("../../main/host-join.ts");
    return runHostJoin(argv);
  },
};

const HOST_DIR = {
  type: "string",
  value: "DIR",
  help: "that of `host join` (default ~/.local/share/sidestick-host)",
} as const;

export const hostStatus = defineCommand({
  name: "host status",
  summary: "Tell whether this machine runs sessions for a hub, and whether it reaches it",
  options: { "data-dir": HOST_DIR },
  examples: ["sidestick host status"],
  run: async ({ values, terminal }) => {
    const { hostStatusOf } = await import("../../main/host-service.ts");
    const status = await hostStatusOf(values["data-dir"]);
    if (values.json === true) terminal.printJson(status);
    else terminal.printFields(status);
    return status.online ? EXIT.ok : EXIT.failure;
  },
});

export const hostInstall = defineCommand({
  name: "host install",
  summary: "Write a systemd unit that runs this machine's host",
  options: {
    "data-dir": HOST_DIR,
    system: { type: "boolean", help: "for the whole machine, in /etc/systemd/system (needs root)" },
    user: { type: "string", value: "NAME", help: "with --system: the account in which it runs" },
    "dry-run": { type: "boolean", help: "only print it" },
  },
  examples: ["sidestick host install", "sudo sidestick host install --system --user builder"],
  notes: ["Join first."],
  run: async ({ values, terminal }) => {
    const { installHost, ServiceRefused } = await import("../../main/host-service.ts");
    const { system = false, user, "dry-run": dryRun = false, "data-dir": dataDir } = values;
    try {
      const { path, text, next } = await installHost({ system, user, dryRun, dataDir });
      terminal.print(dryRun ? printableText(text.trimEnd()) : printable(path));
      for (const line of next) terminal.note(printable(line));
      return EXIT.ok;
    } catch (error) {
      throw error instanceof ServiceRefused ? new CannotRun(error.message, error.remedy) : error;
    }
  },
});

const COLUMNS = [
  { title: "NAME", value: (it: Host) => it.name, shrinks: true },
  { title: "STATE", value: (it: Host) => (it.online ? "online" : "offline") },
  { title: "SINCE", value: (it: Host) => (it.since === undefined ? "-" : ageOf(it.since)) },
  { title: "SESSIONS", value: (it: Host) => String(it.sessions) },
  { title: "GUARD", value: guardOf },
  { title: "SYSTEM", value: (it: Host) => [it.os, it.arch].filter(Boolean).join(" ") || "-", shrinks: true },
  { title: "VERSION", value: (it: Host) => it.version ?? "-" },
  { title: "SHELLS", value: shellsOf, shrinks: true },
  { title: "ID", value: (it: Host) => it.hostId, shrinks: true },
];

function guardOf({ guard }: Host): string {
  if (guard === undefined) return "-";
  if (!guard.available) return "no";
  return guard.missing.length === 0 ? "yes" : "in part";
}

function shellsOf({ shells = [] }: Host): string {
  return [...new Set(shells.map((it) => it.slice(it.lastIndexOf("/") + 1)))].join(" ") || "-";
}
