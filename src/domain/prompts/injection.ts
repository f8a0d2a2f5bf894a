/**
 * Carrying out one answer: typed once, verified by where the program is, typed again only if the very same question
 * still stands, and then left to a person. Whatever is observed, nothing is ever typed into another question.
 * Rules PMT-70..PMT-78 in docs/spec/prompts.md.
 */
import type { Feedback } from "./feedback.ts";
import type { ExecutionPlan } from "./plan-table.ts";

export type Observation = {
  readonly at: number;
  /** `unknown`: nobody can look (ssh, no /proc). */
  readonly waits: "same" | "other" | "nobody" | "unknown";
  /** More was printed than the echo of what was typed: the answer was heard, whatever stands now. */
  readonly printed: boolean;
};

/** Of what came after a write, only its own echo is no sign of life: there is no time in which output is overlooked. */
export function printedBeyondEcho(output: string, typed: string): boolean {
  const echo = typed.replaceAll("\r", "\r\n");
  return echo.startsWith(output) ? false : output.slice(output.startsWith(echo) ? echo.length : 0) !== "";
}

export type Injection =
  /** The next write has to see the question still standing. */
  | { readonly phase: "typing"; readonly next: number; readonly since: number; readonly retries: number }
  | { readonly phase: "verifying"; readonly since: number; readonly retries: number }
  | { readonly phase: "delaying"; readonly until: number; readonly retries: number }
  | { readonly phase: "done"; readonly outcome: "advanced" | "sent" | "escalated"; readonly retries: number };

export type InjectionStep = {
  readonly state: Injection;
  readonly write?: string;
  readonly tell: readonly Feedback[];
};

export type InjectionOrder = {
  readonly plan: ExecutionPlan;
  readonly writes: readonly string[];
  /** False where a second time would mean something else: arrow keys from where the highlight is now, text behind text. */
  readonly repeatable: boolean;
};

/** The gate has just seen that the question stands. */
export function beginInjection(order: InjectionOrder, at: number): InjectionStep {
  return typeFrom(order, { next: 0, at, retries: 0 });
}

export function observeInjection(state: Injection, order: InjectionOrder, seen: Observation): InjectionStep {
  if (state.phase === "done") return { state, tell: [] };
  if (hasAdvanced(seen)) return advanced(state);
  switch (state.phase) {
    case "typing":
      return goOnTyping(state, order, seen);
    case "verifying":
      return verify(state, order, seen);
    case "delaying":
      if (seen.at < state.until) return { state, tell: [] };
      if (seen.waits !== "same" || seen.printed) return escalate(order, state.retries);
      return typeFrom(order, { next: 0, at: seen.at, retries: state.retries + 1 });
  }
}

/** A program that reads one key goes on before Enter is typed: it gets none, and none is told. */
function advanced({ phase, retries }: Injection): InjectionStep {
  const early = phase === "typing" && retries === 0;
  return { state: { phase: "done", outcome: "advanced", retries }, tell: early ? ["taken", "advanced"] : ["advanced"] };
}

/** Who has gone from its read has taken the answer; where nobody can look, new output has to do. */
function hasAdvanced({ waits, printed }: Observation): boolean {
  return waits === "other" || waits === "nobody" || (waits === "unknown" && printed);
}

function goOnTyping(
  state: Extract<Injection, { phase: "typing" }>,
  order: InjectionOrder,
  seen: Observation,
): InjectionStep {
  if (seen.waits === "same") return typeFrom(order, { next: state.next, at: seen.at, retries: state.retries });
  if (seen.at - state.since < order.plan.advanceTimeoutMs) return { state, tell: [] };
  return { ...escalate(order, state.retries), tell: ["unfinished"] };
}

function verify(
  state: Extract<Injection, { phase: "verifying" }>,
  order: InjectionOrder,
  seen: Observation,
): InjectionStep {
  const { plan, repeatable } = order;
  if (seen.at - state.since < plan.advanceTimeoutMs) return { state, tell: [] };
  const again = seen.waits === "same" && !seen.printed && repeatable && state.retries < plan.maxRetries;
  if (!again) return escalate(order, state.retries);
  return {
    state: { phase: "delaying", until: seen.at + plan.retryDelayMs, retries: state.retries },
    tell: ["retrying"],
  };
}

function typeFrom(
  { plan, writes }: InjectionOrder,
  it: { readonly next: number; readonly at: number; readonly retries: number },
): InjectionStep {
  const { next, at, retries } = it;
  const write = writes[next] ?? "";
  if (next < writes.length - 1)
    return { state: { phase: "typing", next: next + 1, since: at, retries }, write, tell: [] };
  const tell: readonly Feedback[] = retries === 0 ? ["sent"] : [];
  if (!plan.verifyAdvance) return { state: { phase: "done", outcome: "sent", retries }, write, tell };
  return { state: { phase: "verifying", since: at, retries }, write, tell };
}

function escalate({ plan }: InjectionOrder, retries: number): InjectionStep {
  const state: Injection = { phase: "done", outcome: "escalated", retries };
  return { state, tell: plan.escalateOnExhaustion ? ["escalated"] : [] };
}
