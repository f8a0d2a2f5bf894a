import type { WorkspaceSession } from "../../client/sidestick.ts";
import { CONTAINMENTS } from "../../domain/containment.ts";
import { SESSION_KINDS, SESSION_STATUSES, type SessionStatus } from "../../domain/session.ts";
import { ageOf } from "../age.ts";
import { type Command, defineCommand } from "../command.ts";
import { levelWords, missingWords } from "../containment-words.ts";
import { EXIT, UsageError } from "../exit.ts";
import { hostNames } from "../host-names.ts";
import { shortener } from "../ids.ts";
import { oneOf } from "../options.ts";
import { printable } from "../printable.ts";
import { sessionOf } from "../terminals.ts";

export const sessionsList = defineCommand({
  name: "sessions list",
  summary: "List living sessions, oldest first (also: sidestick sessions)",
  options: {
    all: { type: "boolean", help: "closed ones too" },
    status: { type: "string", value: "STATUS", help: `only these: ${SESSION_STATUSES.join(", ")}` },
    workspace: { type: "string", value: "ID", help: "only those of this workspace" },
    conversation: { type: "string", value: "ID", help: "only those of this conversation" },
  },
  examples: ["sidestick sessions", "sidestick sessions --all", "sidestick sessions --status active --json"],
  run: async ({ client, values, terminal }) => {
    const status = values.status === undefined ? undefined : oneOf(values.status, SESSION_STATUSES, "--status");
    if (status !== undefined && values.all === true) {
      throw new UsageError("--all means every status: leave out --status, or --all.");
    }
    const { workspace: workspaceId, conversation: conversationId } = values;
    const list = (wanted: SessionStatus | undefined) =>
      client.session.list({ status: wanted, workspaceId, conversationId });
    const isEvery = status !== undefined || values.all === true;
    const sessions = isEvery ? await list(status) : await living(list);
    if (values.json === true) terminal.printJson(sessions);
    else if (sessions.length === 0) terminal.note(isEvery ? NONE : `${NONE}; closed ones: sidestick sessions --all`);
    else terminal.printTable(columns(shortener(sessions.map((it) => it.sessionId))), sessions);
    return EXIT.ok;
  },
});

const NONE = "No sessions. Start one: sidestick sessions create --kind terminal";

/** Asked for by status: closed ones may be so many that they fill the answer. */
async function living(
  list: (status: SessionStatus) => Promise<readonly WorkspaceSession[]>,
): Promise<readonly WorkspaceSession[]> {
  const found = await Promise.all(SESSION_STATUSES.filter((it) => it !== "closed").map(list));
  // One that moved on meanwhile is in two of the answers.
  const byId = new Map(found.flat().map((it) => [it.sessionId, it]));
  return [...byId.values()].toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
}

const KINDS = "terminal (browser, file and desktop are kinds to come, without a driver yet)";

export const sessionsCreate = defineCommand({
  name: "sessions create",
  summary: "Start a session and print its id",
  options: {
    kind: { type: "string", value: "KIND", help: KINDS },
    title: { type: "string", value: "TEXT", help: "what people see in lists" },
    interactive: { type: "boolean", help: "a person attends it: agents act only when granted" },
    workspace: { type: "string", value: "ID", help: 'its workspace (default "default")' },
    conversation: { type: "string", value: "ID", help: "the conversation that it belongs to" },
    containment: {
      type: "string",
      value: "LEVEL",
      help: `where its programs run: ${CONTAINMENTS.join(", ")} (default: open; an agent's: guard)`,
    },
    user: { type: "string", value: "NAME", help: "with --containment user: this account" },
  },
  examples: [
    'sidestick sessions create --kind terminal --title "nightly build"',
    "sidestick sessions create --kind terminal --containment guard",
  ],
  run: async ({ client, values, terminal }) => {
    if (values.kind === undefined) throw new UsageError(`--kind is needed: ${KINDS}.`);
    const { title, interactive, workspace: workspaceId, conversation: conversationId } = values;
    const kind = oneOf(values.kind, SESSION_KINDS, "--kind");
    const level = values.containment;
    const containment = level === undefined ? undefined : oneOf(level, CONTAINMENTS, "--containment");
    if (containment === "user" && values.user === undefined) {
      throw new UsageError("--containment user needs the account in which it runs: add --user NAME.");
    }
    const place = { workspaceId, conversationId, containment, user: values.user };
    const session = await client.session.create({ kind, title, interactive, ...place });
    if (values.json === true) terminal.printJson(session);
    else terminal.print(printable(session.sessionId));
    return EXIT.ok;
  },
});

export const sessionsGet = onSession("get", "Show one session");
export const sessionsPause = onSession("pause", "Refuse agents' input until it is resumed; programs run on");
export const sessionsResume = onSession("resume", "Let a paused session go on");
export const sessionsClose = onSession("close", "End a session for good");

function onSession(verb: "get" | "pause" | "resume" | "close", summary: string): Command {
  return defineCommand({
    name: `sessions ${verb}`,
    summary,
    takes: ["<session|conversation>"],
    examples: [`sidestick sessions ${verb} build`, `sidestick sessions ${verb} 3f2a9c01`],
    run: async ({ client, values, given: [name = ""], terminal }) => {
      const session = await client.session[verb]({ sessionId: await sessionOf(client, name) });
      if (values.json === true) terminal.printJson(session);
      else terminal.printFields(fieldsOf(session, await hostNames(client)));
      return EXIT.ok;
    },
  });
}

function fieldsOf(shown: WorkspaceSession, hostName: (hostId: string) => string): object {
  const { containmentMissing: missing, hostId, ...session } = shown;
  return { ...session, host: hostName(hostId), ...(missing && { containmentMissing: missingWords(missing) }) };
}

function columns(short: (id: string) => string) {
  return [
    { title: "ID", value: (it: WorkspaceSession) => short(it.sessionId) },
    { title: "KIND", value: (it: WorkspaceSession) => it.kind },
    { title: "STATUS", value: (it: WorkspaceSession) => it.status },
    { title: "AGE", value: (it: WorkspaceSession) => ageOf(it.createdAt) },
    { title: "DRIVES", value: driverOf, shrinks: true },
    { title: "LEVEL", value: levelWords },
    { title: "WORKSPACE", value: (it: WorkspaceSession) => it.workspaceId, shrinks: true },
    { title: "TITLE", value: (it: WorkspaceSession) => it.title, shrinks: true },
  ];
}

function driverOf({ controllerId, status }: WorkspaceSession): string {
  return controllerId ?? (status === "closed" ? "-" : "nobody");
}
