import type { ApprovalRequest } from "../../client/sidestick.ts";
import { APPROVAL_STATUSES } from "../../domain/approval.ts";
import { ageOf } from "../age.ts";
import { type Command, defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { resolveId, shortener } from "../ids.ts";
import { oneOf } from "../options.ts";
import { printable } from "../printable.ts";

export const approvals = defineCommand({
  name: "approvals",
  summary: "List what waits, or waited, for a person's decision",
  options: { status: { type: "string", value: "STATUS", help: `only these: ${APPROVAL_STATUSES.join(", ")}` } },
  examples: ["sidestick approvals --status pending"],
  run: async ({ client, values, terminal }) => {
    const status = values.status === undefined ? undefined : oneOf(values.status, APPROVAL_STATUSES, "--status");
    const found = await client.approval.list({ status });
    if (values.json === true) terminal.printJson(found);
    else if (found.length === 0) terminal.note("No approvals.");
    else terminal.printTable(columns(shortener(found.map((it) => it.requestId))), found);
    return EXIT.ok;
  },
});

export const approve = decision("approve", "approved", "Let an action happen; the first decision stands");
export const deny = decision("deny", "rejected", "Refuse an action; the first decision stands");

function decision(name: string, status: "approved" | "rejected", summary: string): Command {
  return defineCommand({
    name,
    summary,
    takes: ["<id>"],
    options: { reason: { type: "string", value: "TEXT", help: "why; the asking side is told" } },
    examples: [`sidestick ${name} 3f2a9c01 --reason "as agreed"`],
    run: async ({ client, values, given: [id = ""], terminal }) => {
      const list = async () => (await client.approval.list()).map((it) => it.requestId);
      const requestId = await resolveId(id, "approval", list);
      const decided = await client.approval.resolve({ requestId, status, reason: values.reason });
      if (values.json === true) terminal.printJson(decided);
      else terminal.note(printable(`${decided.status}: ${decided.action}`));
      return EXIT.ok;
    },
  });
}

function columns(short: (id: string) => string) {
  return [
    { title: "ID", value: (it: ApprovalRequest) => short(it.requestId) },
    { title: "STATUS", value: (it: ApprovalRequest) => it.status },
    { title: "RISK", value: (it: ApprovalRequest) => it.riskLevel },
    { title: "AGE", value: (it: ApprovalRequest) => ageOf(it.requestedAt) },
    { title: "BY", value: (it: ApprovalRequest) => it.requestedBy, shrinks: true },
    { title: "ACTION", value: (it: ApprovalRequest) => it.action, shrinks: true },
  ];
}
