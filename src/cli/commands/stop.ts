/** Stopping an agent, at once or at its next safe point. Rule CTL-38 in docs/spec/control.md. */
import type { SidestickClient, WorkspaceEvent } from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { type Control, driverWords, type Receipt, receiptWords } from "../control-words.ts";
import { EXIT } from "../exit.ts";
import { untilInterrupted } from "../interruption.ts";
import { printable } from "../printable.ts";
import { sessionOf } from "../terminals.ts";

const TAKES = ["<session|conversation>"] as const;
/** The gate is shut long before; this is for what has to be killed. */
const RECEIPT_MS = 5_000;
/** The gate says after 10 s that no safe point has come. */
const PAUSE_MS = 13_000;

export const stop = defineCommand({
  name: "stop",
  summary: "Stop the agent at once: its input, and everything that it started",
  takes: TAKES,
  options: { all: { type: "boolean", help: "kill what you started in it, too; the terminal stays" } },
  examples: ["sidestick stop build", "sidestick stop build --all"],
  notes: [
    "It stands until you grant or release. Exit codes: 0 stopped and nothing is left, 1 something survived, or it is\nnot yet known.",
  ],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const sessionId = await sessionOf(client, name);
    const scope = values.all === true ? "all" : "agent";
    const state = await client.control.user_intent({ sessionId, intent: "STOP_NOW", scope });
    const receipt = await receiptOf(client, state);
    if (values.json === true) terminal.printJson({ ...state, receipt: receipt ?? null });
    else terminal.print(printable(`Stopped. ${receipt === undefined ? "" : receiptWords(receipt)}`.trimEnd()));
    if (receipt !== undefined) return receipt.survivors?.length === 0 ? EXIT.ok : EXIT.failure;
    const follow = `sidestick control ${name} --follow`;
    terminal.note(printable(`sidestick: The agent is shut out; what was killed is not known yet. See: ${follow}`));
    return EXIT.failure;
  },
});

export async function receiptOf(client: SidestickClient, { session_id: sessionId, epoch }: Control) {
  const wanted = { sessionId, types: ["receipt" as const], signal: AbortSignal.timeout(RECEIPT_MS) };
  for await (const item of client.events(wanted)) {
    if (item.type !== "event") continue;
    const receipt: Receipt = item.event.payload;
    // One of an earlier stop may come after this stop was asked for.
    if (receipt.stop_epoch === epoch) return receipt;
  }
  return undefined;
}

export const interrupt = defineCommand({
  name: "interrupt",
  summary: "Have the agent pause at its next safe point, and take control there",
  takes: TAKES,
  options: { withdraw: { type: "boolean", help: "let it go on, if it has not paused yet" } },
  examples: ["sidestick interrupt build", "sidestick interrupt build --withdraw"],
  notes: ["Exit codes: 0 paused, or no agent drives; 124 no safe point came within 10 s."],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    using interruption = untilInterrupted();
    const sessionId = await sessionOf(client, name);
    const { eventCursor } = await client.snapshot.get();
    const intent = values.withdraw === true ? "WAIT" : "SAFE_INTERRUPT";
    const asked = await client.control.user_intent({ sessionId, intent });
    const isPending = intent === "SAFE_INTERRUPT" && asked.control_mode === "AGENT";
    const { signal } = interruption;
    if (isPending) terminal.note(printable(`sidestick: ${pendingWords(asked, name)}`));
    const change = isPending ? await pauseOf(client, asked, { after: eventCursor, signal }) : undefined;
    if (signal.aborted) return interruption.exitCode();
    const state = change === undefined ? asked : await client.control.get({ sessionId });
    if (values.json === true) terminal.printJson(state);
    else terminal.print(printable(wordsOf(state)));
    if (!isPending || change === "paused") return EXIT.ok;
    terminal.note(
      printable(`sidestick: No safe point came yet; it stays asked. Stop it at once: sidestick stop ${name}`),
    );
    return EXIT.timeout;
  },
});

/** Told before the wait: nothing else would show for ten seconds. */
function pendingWords({ agent_status }: Control, name: string): string {
  const when = agent_status === "RUNNING" ? "when its command is over" : "before the next thing it does";
  return `Asked; the agent will pause ${when}. Waiting up to 10 s for it. Take it back: sidestick interrupt ${name} --withdraw`;
}

/** The gate tells both: that the agent has paused, or otherwise lost control, and that it takes too long. */
async function pauseOf(
  client: SidestickClient,
  { session_id: sessionId, epoch }: Control,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<"paused" | "overdue"> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(PAUSE_MS)]);
  const types = ["control_handoff" as const, "intent" as const];
  for await (const item of client.events({ sessionId, types, after, signal: until })) {
    const { payload } = item.type === "event" ? item.event : { payload: {} as WorkspaceEvent["payload"] };
    if (payload["overdue"] === true) return "overdue";
    if (payload["control_mode"] === "USER" && Number(payload["epoch"]) > epoch) return "paused";
  }
  return "overdue";
}

function wordsOf(state: Control): string {
  const { user_intent, agent_status, control_mode } = state;
  const drives = `drives: ${driverWords(state)}`;
  if (agent_status === "PAUSED") return `Paused; ${drives}`;
  if (user_intent !== "SAFE_INTERRUPT") return drives;
  return control_mode === "AGENT"
    ? `It will pause; ${drives}`
    : `No agent drives; the next one pauses first; ${drives}`;
}
