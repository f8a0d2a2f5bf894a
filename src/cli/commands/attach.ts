import type { SidestickClient } from "../../client/sidestick.ts";
import { AppError } from "../../protocol/errors.ts";
import { type AttachMode, AttachedTerminal, type Ending } from "../attached-terminal.ts";
import { defineCommand, type Invocation } from "../command.ts";
import type { Options } from "../options.ts";
import { driverWords } from "../control-words.ts";
import { EXIT, UsageError } from "../exit.ts";
import { signalExitCode } from "../interruption.ts";
import { LocalTerminal } from "../local-terminal.ts";
import { printable } from "../printable.ts";
import { terminalOf } from "../terminals.ts";
import { detachKey } from "../typed-keys.ts";

export const attach = defineCommand({
  name: "attach",
  summary: "Use a session's terminal in yours; Ctrl+] leaves it running",
  takes: ["<session|conversation>"],
  options: {
    "read-only": { type: "boolean", help: "watch: nothing is sent, and the size stays as it is" },
    watch: { type: "boolean", help: "watch until the first key, which takes control" },
    "detach-key": { type: "string", value: "KEY", help: "the key that leaves (default C-])" },
  },
  examples: [
    "sidestick attach cli-ann",
    "sidestick attach 3f2a9c01 --read-only",
    "sidestick attach build --detach-key C-q",
  ],
  run: (invocation) => attachTo(invocation, invocation.given[0] ?? ""),
});

type Values = { readonly "read-only"?: boolean; readonly watch?: boolean; readonly "detach-key"?: string };
type Attaching = Pick<Invocation<Options>, "client" | "streaming" | "terminal"> & { readonly values: Values };

export function refuseWithoutTerminal(): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new UsageError("Nobody can type here, for this is no terminal.", {
    remedy: "Watch with --read-only, or use: sidestick send, wait, output",
  });
}

export async function attachTo({ client, streaming, values, terminal }: Attaching, name: string): Promise<number> {
  const mode = modeOf(values);
  const key = detachKey(values["detach-key"] ?? "C-]");
  if (mode !== "read") refuseWithoutTerminal();
  const { eventCursor } = await client.snapshot.get();
  const session = await terminalOf(client, name);
  const { sessionId, status, conversationId = sessionId.slice(0, 8) } = session;
  if (status === "closed") {
    const detail = `This terminal is over (${session.reason ?? "closed"}). What it said: sidestick output ${name}`;
    throw new AppError("invalid_transition", { detail });
  }
  const local = new LocalTerminal(process.stdin, process.stdout, "screen");
  const parts = {
    client: await streaming(),
    sessionId,
    name: printable(conversationId),
    local,
    mode,
    detachKey: key,
  };
  const ending = await new AttachedTerminal(parts).run(eventCursor);
  const drives = ending.why === "over" ? "" : await driverNow(client, sessionId, name);
  terminal.note(printable(wordsOf(ending, name) + drives));
  return ending.why === "signal" ? signalExitCode(ending.signal) : EXIT.ok;
}

function modeOf(values: { readonly "read-only"?: boolean; readonly watch?: boolean }): AttachMode {
  if (values["read-only"] === true && values.watch === true) {
    throw new UsageError("--read-only never types, --watch does from the first key on: leave one out.");
  }
  if (values["read-only"] === true) return "read";
  return values.watch === true ? "watch" : "type";
}

function wordsOf(ending: Ending, name: string): string {
  const refused = ending.lastRefusal === undefined ? "" : ` The hub refused something: ${ending.lastRefusal.message}.`;
  switch (ending.why) {
    case "detached":
      return `Detached; it runs on. Come back: sidestick attach ${name}.${refused}`;
    case "over":
      return `The terminal is over (${ending.reason}).${refused}`;
    case "signal":
      return `Detached by ${ending.signal}; it runs on.${refused}`;
  }
}

/** Nothing, if the hub is away: that it runs on is said already. */
async function driverNow(client: SidestickClient, sessionId: string, name: string): Promise<string> {
  const state = await client.control.get({ sessionId }).catch(() => undefined);
  if (state === undefined) return "";
  const isPersons = state.control_mode === "USER" && state.holder !== null;
  const handBack = isPersons ? ` Agents are refused until you hand back: sidestick release ${name}` : "";
  return ` Drives: ${driverWords(state)}.${handBack}`;
}
