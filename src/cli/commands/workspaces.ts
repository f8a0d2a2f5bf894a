import type { Workspace } from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";

export const workspaces = defineCommand({
  name: "workspaces",
  summary: "List workspaces with their host and limits",
  examples: ["sidestick workspaces"],
  run: async ({ client, values, terminal }) => {
    const found = await client.workspace.list();
    if (values.json === true) terminal.printJson(found);
    else terminal.printTable(COLUMNS, found);
    return EXIT.ok;
  },
});

const COLUMNS = [
  { title: "ID", value: (it: Workspace) => it.workspaceId, shrinks: true },
  { title: "HOST", value: (it: Workspace) => it.hostId, shrinks: true },
  { title: "SESSIONS", value: (it: Workspace) => `≤ ${it.limits.maxSessions}` },
  { title: "APPROVALS", value: (it: Workspace) => `≤ ${it.limits.maxPendingApprovals}` },
];
