import type { ApprovalRequest, SidestickClient } from "../../client/sidestick.ts";
import { APPROVAL_STATUSES } from "../../domain/approval.ts";
import { HUB_STREAM } from "../../domain/event.ts";
import { ageOf, timeUntil } from "../age.ts";
import { type Command, defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { resolveId, shortener } from "../ids.ts";
import { oneOf } from "../options.ts";
import { printable, printableJson } from "../printable.ts";
import { fit } from "../width.ts";

/** Columns of a payload where it is one of many things in a line; `approvals get` has all of it. */
const PAYLOAD_WIDTH = 200;

export const approvalsList = defineCommand({
  name: "approvals list",
  summary: "List what waits, or waited, for a person's decision (also: sidestick approvals)",
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

export const approvalsGet = defineCommand({
  name: "approvals get",
  summary: "Show one approval with all that would be done",
  takes: ["<id>"],
  examples: ["sidestick approvals get 3f2a9c01"],
  run: async ({ client, values, given: [id = ""], terminal }) => {
    const { payload, ...rest } = await client.approval.get({ requestId: await approvalIdOf(client, id) });
    if (values.json === true) {
      terminal.printJson({ ...rest, payload });
      return EXIT.ok;
    }
    const sessionId = rest.sessionId === HUB_STREAM ? "none" : rest.sessionId;
    const left = rest.status === "pending" ? ` (${timeUntil(rest.expiresAt)} left)` : "";
    terminal.printFields({ ...rest, sessionId, expiresAt: rest.expiresAt + left });
    terminal.print(`payload\n${printableJson(payload, 2)}`);
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
      const requestId = await approvalIdOf(client, id);
      const decided = await client.approval.resolve({ requestId, status, reason: values.reason });
      const asked = `${decided.action} ${payloadLine(decided)} (asked by ${decided.requestedBy})`;
      if (values.json === true) terminal.printJson(decided);
      else terminal.note(printable(`${decided.status}: ${asked}`));
      return EXIT.ok;
    },
  });
}

/** `id` may be any unique begin of one. */
function approvalIdOf(client: SidestickClient, id: string): Promise<string> {
  return resolveId(id, "approval", async () => (await client.approval.list()).map((it) => it.requestId));
}

function columns(short: (id: string) => string) {
  return [
    { title: "ID", value: (it: ApprovalRequest) => short(it.requestId) },
    { title: "STATE", value: stateOf, shrinks: true },
    { title: "BY", value: (it: ApprovalRequest) => it.requestedBy, shrinks: true },
    { title: "AGE", value: (it: ApprovalRequest) => ageOf(it.requestedAt) },
    { title: "ACTION", value: (it: ApprovalRequest) => it.action, shrinks: true },
    { title: "PAYLOAD", value: payloadLine, shrinks: true },
  ];
}

/** When it expires, or how it ended. */
function stateOf({ status, expiresAt, resolvedBy, resolvedAt, reason }: ApprovalRequest): string {
  if (status === "pending") return `pending, ${timeUntil(expiresAt)} left`;
  if (status === "expired") return `expired ${ageOf(resolvedAt ?? expiresAt)} ago`;
  return `${status} by ${resolvedBy}${reason === undefined ? "" : `: ${reason}`}`;
}

function payloadLine({ payload }: ApprovalRequest): string {
  return fit(printableJson(payload), PAYLOAD_WIDTH);
}
