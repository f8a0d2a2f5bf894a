import type { Workspace } from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { hostNames } from "../host-names.ts";
import { changedSettings } from "../settings-words.ts";

export const workspaces = defineCommand({
  name: "workspaces",
  summary: "List workspaces with their host, limits and the settings that aren't the default",
  examples: ["sidestick workspaces"],
  run: async ({ client, values, terminal }) => {
    const found = await client.workspace.list();
    if (values.json === true) terminal.printJson(found);
    else terminal.printTable(columns(await hostNames(client)), found);
    return EXIT.ok;
  },
});

const columns = (hostName: (hostId: string) => string) => [
  { title: "ID", value: (it: Workspace) => it.workspaceId, shrinks: true },
  { title: "HOST", value: (it: Workspace) => hostName(it.hostId), shrinks: true },
  { title: "SESSIONS", value: (it: Workspace) => `≤ ${it.limits.maxSessions}` },
  { title: "APPROVALS", value: (it: Workspace) => `≤ ${it.limits.maxPendingApprovals}` },
  { title: "SETTINGS", value: (it: Workspace) => changedSettings(it.settings).join(" ") || "-", shrinks: true },
];
