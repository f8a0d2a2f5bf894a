import type { ApprovalRequest, SidestickClient } from "../../client/sidestick.ts";
import { APPROVAL_STATUSES } from "../../domain/approval.ts";
import { commandOf, isAction, isExact, isTyped } from "../../domain/approval-words.ts";
import { HUB_STREAM } from "../../domain/event.ts";
import { ageOf, timeUntil } from "../age.ts";
import { approvalCard, editDiffText, outcomeLine } from "../approval-card.ts";
import { askYesNo } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { editedText } from "../edited-text.ts";
import { EXIT, UsageError } from "../exit.ts";
import { resolveId, shortener } from "../ids.ts";
import { oneOf } from "../options.ts";
import { printable, printableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
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
    if (isAction({ ...rest, payload })) {
      terminal.print(approvalCard({ ...rest, payload }));
      if (rest.status !== "pending") terminal.print(`\n${outcomeLine({ ...rest, payload })}`);
      return EXIT.ok;
    }
    const sessionId = rest.sessionId === HUB_STREAM ? "none" : rest.sessionId;
    const left = rest.status === "pending" ? ` (${timeUntil(rest.expiresAt)} left)` : "";
    terminal.printFields({ ...rest, sessionId, expiresAt: rest.expiresAt + left });
    terminal.print(`payload\n${printableJson(payload, 2)}`);
    return EXIT.ok;
  },
});

const YES = { yes: { type: "boolean", help: "do not show it first and ask" } } as const;
const REASON = { reason: { type: "string", value: "TEXT", help: "why; the asking side is told" } } as const;

export const approve = defineCommand({
  name: "approve",
  summary: "Let an action happen, as it was asked for; the first decision stands",
  takes: ["<id>"],
  options: { ...REASON, ...YES },
  examples: ['sidestick approve 3f2a9c01 --reason "as agreed"'],
  notes: [
    "At a terminal it is shown first, with all that is known of it, and you are asked; elsewhere it is approved at once.\nExit code 1: it was approved but could not be run, or you said no.",
  ],
  run: async ({ client, values, given: [id = ""], terminal }) => {
    const requestId = await approvalIdOf(client, id);
    if (values.yes !== true && values.json !== true && terminal.isTTY) {
      const asked = await client.approval.get({ requestId });
      if (isAction(asked) && !(await isWanted(asked, terminal))) return EXIT.failure;
    }
    const decided = await client.approval.resolve({ requestId, status: "approved", reason: values.reason });
    return told(decided, { terminal, json: values.json });
  },
});

export const deny = defineCommand({
  name: "deny",
  summary: "Refuse an action; the first decision stands",
  takes: ["<id>"],
  options: REASON,
  examples: ['sidestick deny 3f2a9c01 --reason "not on a Friday"'],
  run: async ({ client, values, given: [id = ""], terminal }) => {
    const requestId = await approvalIdOf(client, id);
    const decided = await client.approval.resolve({ requestId, status: "rejected", reason: values.reason });
    return told(decided, { terminal, json: values.json });
  },
});

export const edit = defineCommand({
  name: "edit",
  summary: "Approve another command in the place of the one that was asked for",
  takes: ["<id>"],
  options: {
    command: { type: "string", value: "TEXT", help: "what is to run (default: opens your editor)" },
    ...REASON,
    ...YES,
  },
  examples: ["sidestick edit 3f2a9c01 --command 'rm -r build'"],
  notes: [
    "It is judged by policy again, and the agent is told what really ran. Exit code 1: policy denies it, or it could not be\nrun, or nothing was decided.",
  ],
  run: async ({ client, values, given: [id = ""], terminal }) => {
    const requestId = await approvalIdOf(client, id);
    const asked = await client.approval.get({ requestId });
    if (!isAction(asked) || isTyped(asked)) throw new UsageError("There is no command in it that could be edited.");
    if (values.command === undefined && !isExact(asked)) {
      throw new UsageError("It is shown with masks or signs, which an editor would take for the command.", {
        remedy: "Say all that is to run: --command TEXT",
      });
    }
    const before = commandOf(asked);
    const command = values.command ?? (await editedText(before));
    if (command.trim() === "" || (command === before && values.command === undefined)) {
      terminal.note("Nothing was changed, and nothing decided.");
      return EXIT.failure;
    }
    if (values.yes !== true && values.json !== true) {
      terminal.note(editDiffText(before, command));
      if ((await askYesNo(terminal, "Approve it so?")) === false) return EXIT.failure;
    }
    const status = "approved";
    const decided = await client.approval.resolve({ requestId, status, reason: values.reason, edit: { command } });
    return told(decided, { terminal, json: values.json });
  },
});

async function isWanted(asked: ApprovalRequest, terminal: Terminal): Promise<boolean> {
  terminal.note(`${approvalCard(asked)}\n`);
  return (await askYesNo(terminal, "Approve?")) !== false;
}

function told(
  decided: ApprovalRequest,
  { terminal, json = false }: { terminal: Terminal; json?: boolean | undefined },
) {
  if (json) terminal.printJson(decided);
  else for (const line of decisionLines(decided)) terminal.note(printable(line));
  const { outcome } = decided.result ?? {};
  return outcome === "not_run" || outcome === "unknown" ? EXIT.failure : EXIT.ok;
}

function decisionLines(decided: ApprovalRequest): readonly string[] {
  if (isAction(decided)) return [outcomeLine(decided)];
  const { status, action, requestedBy, result } = decided;
  const asked = `${status}: ${action} ${payloadLine(decided)} (asked by ${requestedBy})`;
  // Where an approval brought a session (GRD-22).
  const id = result?.["sessionId"];
  return typeof id === "string"
    ? [asked, `It goes on in the new session ${id}: sidestick attach ${id.slice(0, 8)}`]
    : [asked];
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
    { title: "RISK", value: (it: ApprovalRequest) => it.riskLevel },
    { title: "ACTION", value: (it: ApprovalRequest) => it.action, shrinks: true },
    { title: "WHAT", value: whatLine, shrinks: true },
  ];
}

/** When it expires, or how it ended. */
function stateOf({ status, expiresAt, resolvedBy, resolvedAt, reason, edit, result }: ApprovalRequest): string {
  if (status === "pending") return `pending, ${timeUntil(expiresAt)} left`;
  if (status === "expired") return `expired ${ageOf(resolvedAt ?? expiresAt)} ago`;
  const edited = edit === undefined ? "" : ", edited";
  const notRun = result?.["outcome"] === "not_run" ? ", not run" : "";
  const violated = result?.["violated"] === undefined ? "" : ", violated";
  return `${status} by ${resolvedBy}${edited}${notRun}${violated}${reason === undefined ? "" : `: ${reason}`}`;
}

function whatLine(approval: ApprovalRequest): string {
  return isAction(approval) ? fit(printable(commandOf(approval)), PAYLOAD_WIDTH) : payloadLine(approval);
}

function payloadLine({ payload }: ApprovalRequest): string {
  return fit(printableJson(payload), PAYLOAD_WIDTH);
}
