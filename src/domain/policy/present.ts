/**
 * What a person is shown before they decide: built by us from what would be done, never taken from whoever asks. The agent's
 * own words stand apart, bounded and named as such. Rule APR-10 in docs/spec/approvals.md.
 */
import type { JsonObject } from "../event.ts";
import { redactText } from "../redaction/redact-text.ts";
import { shownText } from "../shown-text.ts";
import type { PartVerdict, Verdict } from "./verdict.ts";

export type Presented = {
  readonly command: string;
  readonly verdict: Verdict;
  readonly cwd?: string | undefined;
  /** Paths of programs and scripts, by the name under which the command has them. */
  readonly resolved?: Readonly<Record<string, string>> | undefined;
  readonly unbound?: readonly { readonly what: string; readonly reason: string }[] | undefined;
  readonly agentSays?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly program?: string | undefined;
};

const COMMAND_SHOWN = 16_000;
const WORDS_SHOWN = 500;
const LISTED = 50;
const PART_SHOWN = 500;

export function presented(action: Presented): JsonObject {
  const { command, verdict, cwd, resolved, unbound, agentSays, conversationId, program } = action;
  const left = Math.max(0, command.length - COMMAND_SHOWN);
  const shownCommand = shown(command, COMMAND_SHOWN);
  return {
    command: shownCommand,
    // Whoever edits it must not take masks and signs for what was asked.
    ...(shownCommand !== command && { exact: false }),
    ...(left > 0 && { omittedCharacters: left }),
    ...(cwd !== undefined && { cwd: shownText(cwd) }),
    ...(program !== undefined && { program: shownText(program) }),
    reason: verdict.reason,
    parts: verdict.parts
      .filter((it) => it.decision !== "auto")
      .slice(0, LISTED)
      .map(partOf),
    touches: verdict.touches
      .filter((it) => it.how !== "read" || it.place === "credentials")
      .slice(0, LISTED)
      .map(({ how, path, place }) => ({ how, path: shown(path, PART_SHOWN), place })),
    ...(resolved !== undefined && { programs: shownPaths(resolved) }),
    ...(unbound !== undefined && unbound.length > 0 && { unbound: unbound.map((it) => ({ ...it })) }),
    ...(conversationId !== undefined && { conversationId }),
    ...(agentSays !== undefined && { agentSays: shown(agentSays, WORDS_SHOWN) }),
    policyVersion: verdict.policyVersion,
  };
}

function partOf({ text, decision, riskLevel, rule, reason }: PartVerdict): JsonObject {
  return { text: shown(text, PART_SHOWN), decision, riskLevel, rule, reason };
}

function shown(text: string, length: number): string {
  return shownText(redactText(text).slice(0, length));
}

function shownPaths(paths: Readonly<Record<string, string>>): JsonObject {
  const pairs = Object.entries(paths).slice(0, LISTED);
  return Object.fromEntries(pairs.map(([name, path]) => [shownText(name), shownText(path)]));
}
