import { randomUUID } from "node:crypto";
import { basename, resolve } from "node:path";
import { defineCommand, type Invocation } from "../command.ts";
import { beginAsked } from "../asked-run.ts";
import { CommandRun, type RunInput } from "../command-run.ts";
import { AppError } from "../../protocol/errors.ts";
import { AboutTerminal, EXIT, UsageError } from "../exit.ts";
import { shellWord } from "../hub.ts";
import { InputSource } from "../input-source.ts";
import { LocalTerminal } from "../local-terminal.ts";
import { timeoutMs } from "../options.ts";
import { printable } from "../printable.ts";
import { ownConversation } from "../terminals.ts";
import { detachKey } from "../typed-keys.ts";

/** The hub's own machine. */
const LOCAL_HOST = "local";

const OPTIONS = {
  conversation: {
    type: "string",
    value: "NAME",
    help: "whose terminal (default: cli-<you>, an agent's: agent-<name>); made by its first command",
  },
  workspace: {
    type: "string",
    value: "ID",
    help: "where a terminal that this makes runs: on the workspace's host (default: where its last one was)",
  },
  new: { type: "boolean", help: "a fresh terminal, whose name is told on stderr" },
  cwd: {
    type: "string",
    value: "DIR",
    help: "change there first; the terminal stays there (default when it is new: here)",
  },
  timeout: { type: "string", value: "S", help: "leave it running after so long, with 124 (default: never)" },
  reason: {
    type: "string",
    value: "TEXT",
    help: "as an agent: why you want it; shown to the person who is asked, if one is",
  },
  interactive: { type: "boolean", help: "start a program to talk to with send and wait; do not wait for its end" },
  raw: { type: "boolean", help: "output exactly as it is, into a pipe too" },
  "no-stdin": { type: "boolean", help: "type nothing: neither keys nor what comes on stdin" },
  "detach-key": { type: "string", value: "KEY", help: "at a terminal: the key that leaves it running (default C-])" },
} as const;

export const run = defineCommand({
  name: "run",
  summary: "Run a command in a terminal that stays, show its output as it comes, end with its exit code",
  takes: ["<command...>"],
  failureCode: EXIT.notRun,
  options: OPTIONS,
  examples: [
    "sidestick run -- npm test",
    "sidestick run 'cd /srv && make | tee log'",
    "sidestick run -- sudo apt install nginx",
    "yes | sidestick run -- ./setup.sh",
    "sidestick run --conversation build --timeout 10m --json -- make -j4",
    "sidestick run --interactive --conversation py -- python3",
    "sidestick run --workspace builds --conversation nightly -- make",
  ],
  notes: [
    "One word is shell text; several are a program and its arguments, passed as they are. Variables, directory and\nfunctions stay for the next command in the same conversation.",
    "At a terminal it is one: keys go to the program, Ctrl+C too, and the detach key leaves it running. What comes from a\nfile or pipe is typed when the program asks, a line at a time, and ended by Ctrl+D.",
    "What an agent runs may need a person's approval: it waits for that, beyond --timeout too, which begins with the command.",
    "Exit codes: the command's own, 128+n after signal n; 125 it could not be run, 124 --timeout is over, 123 it waits for\ninput and nothing is left on stdin, 130 left by the detach key or a second Ctrl+C.",
  ],
  run: async (invocation) => {
    const { values, given, terminal } = invocation;
    const limitMs = values.timeout === undefined ? undefined : timeoutMs(values.timeout, "--timeout");
    const input = inputOf(invocation);
    const command = commandOf(given);
    const conversation_id = await conversationFor(invocation);
    if (values.new === true) terminal.note(`Conversation ${conversation_id}`);
    try {
      return await runIn(invocation, conversation_id, { command, input, limitMs });
    } catch (error) {
      throw error instanceof AppError ? new AboutTerminal(conversation_id, error) : error;
    }
  },
});

type RunInvocation = Invocation<typeof OPTIONS>;
type Wanted = { readonly command: string; readonly input: RunInput; readonly limitMs: number | undefined };

async function runIn(invocation: RunInvocation, conversation_id: string, wanted: Wanted): Promise<number> {
  const { client, values, given, terminal } = invocation;
  const { command, input, limitMs } = wanted;
  const { eventCursor } = await client.snapshot.get();
  const { reason, workspace: workspace_id } = values;
  const asked = { conversation_id, workspace_id, command, cwd: await cwdOf(invocation, conversation_id), reason };
  // The same key if the answer is lost: nothing is run twice.
  const once = () => ({ idempotencyKey: randomUUID() });
  if (values.interactive === true) {
    const started = await beginAsked(invocation, () => client.pty.exec_interactive(asked, once()));
    if (values.json === true) terminal.printJson(started);
    else
      terminal.note(
        printable(
          `It runs. Talk to it: sidestick wait ${conversation_id} --input; sidestick send ${conversation_id} --text TEXT --enter`,
        ),
      );
    return EXIT.ok;
  }
  // Loaded before the command runs: its first question must not wait for us.
  const stream = await invocation.streaming();
  const size = input.from === "keys" ? input.local.size : {};
  const begun = await beginAsked(invocation, () => client.pty.exec_block({ ...asked, ...size }, once()));
  const { json = false, raw = false } = values;
  const onlyProgram = onlyProgramOf(given);
  const parts = { client, stream, terminal, conversation: conversation_id, begun, input, onlyProgram, json, raw };
  return new CommandRun(parts).exitCode(eventCursor, limitMs);
}

/** Who answers what the program asks. */
function inputOf({ values, terminal }: RunInvocation): RunInput {
  const key = detachKey(values["detach-key"] ?? "C-]");
  const source = values["no-stdin"] === true || values.interactive === true ? undefined : terminal.input;
  if (source === undefined) return { from: "nobody" };
  if (source.isTTY !== true) return { from: "stdin", source: new InputSource(source) };
  if (values.json === true) return { from: "nobody" };
  // The other programs of a pipeline would find the terminal raw.
  if (!terminal.isTTY) return { from: "elsewhere" };
  return { from: "keys", local: new LocalTerminal(process.stdin, process.stdout, "output"), detachKey: key };
}

/** Undefined where a shell would see more than a program and its arguments. */
function onlyProgramOf([first = "", ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return basename(first);
  return /[|&;<>()$`\\"'\n{}]/.test(first) ? undefined : basename(first.trim().split(/\s/)[0] ?? "");
}

async function conversationFor({ values, client, hasToken }: RunInvocation): Promise<string> {
  if (values.new === true && values.conversation !== undefined) {
    throw new UsageError("--new makes a conversation of its own: leave out --conversation, or --new.");
  }
  if (values.conversation !== undefined) return values.conversation;
  const own = await ownConversation({ client, hasToken });
  return values.new === true ? `${own}-${randomUUID().slice(0, 8)}` : own;
}

function commandOf(words: readonly string[]): string {
  const [only = ""] = words;
  const command = words.length === 1 ? only : words.map(shellWord).join(" ");
  if (command.trim() === "") throw new UsageError("The command is empty.");
  return command;
}

/** A terminal that is made here begins where we are, unless on another machine; afterwards it stays where it was left. */
async function cwdOf({ values, dataDir, client }: RunInvocation, conversation_id: string) {
  const { cwd, workspace } = values;
  if (dataDir === undefined || cwd !== undefined) return dataDir === undefined ? cwd : resolve(cwd ?? ".");
  const last = (await client.session.list({ conversationId: conversation_id, limit: 1 })).at(-1);
  if (last?.status === "active") return undefined;
  const { hostId } = await client.workspace.get({ workspaceId: workspace ?? last?.workspaceId ?? "default" });
  return hostId === LOCAL_HOST ? process.cwd() : undefined;
}
