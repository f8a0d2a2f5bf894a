/** The stored samples. Captured ones hold the bytes of a real tool, transcribed ones the lines of its documentation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Prompt, PromptEvidence, PromptView } from "../../src/domain/prompts/prompt.ts";
import { rendered } from "./rendered.ts";

export type Expected = {
  readonly class: string;
  readonly yes?: string;
  readonly no?: string;
  readonly default?: string;
  readonly keys?: readonly string[];
  readonly highlighted?: string;
};

export type Sample = {
  readonly id: string;
  readonly source: "captured" | "transcribed";
  readonly lang?: string;
  readonly evidence: PromptEvidence;
  readonly expect: Expected;
  readonly output?: string;
  readonly lines?: readonly string[];
  readonly cursor?: PromptView["cursor"];
};

export type PlanSample = { readonly id: string; readonly text: string; readonly steps: number };
export type OutputSample = { readonly id: string; readonly text: string; readonly kind: string };

export function samplesOf<T = Sample>(...names: readonly string[]): T[] {
  return names.flatMap(
    (name) => JSON.parse(readFileSync(join(import.meta.dirname, "corpus", `${name}.json`), "utf8")) as T[],
  );
}

export async function viewOf({ output, lines = [], cursor }: Sample): Promise<PromptView> {
  return output === undefined ? { lines, cursor } : rendered(output);
}

/** Every fourth by the hash of its name (FNV-1a): looked at only for its figures. The fresh ones were looked at. */
export function isHeldOut({ id }: { readonly id: string }): boolean {
  if (id.startsWith("fresh-")) return false;
  let hash = 2_166_136_261;
  for (const character of id) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return hash % 4 === 0;
}

/** What is wrong with a prompt; empty when it is as labelled. */
export function faultsOf({ expect }: Sample, prompt: Prompt | undefined): string[] {
  const given = prompt?.class ?? "NONE";
  if (given !== expect.class) return [`class ${given}`];
  const typed = (key: string): string | undefined => prompt?.choices.find((it) => it.key === key)?.types;
  const highlighted = prompt?.choices.find((it) => it.highlighted === true)?.key;
  const keys = prompt?.choices.map(({ key }) => key);
  return [
    expect.yes !== undefined && typed("yes") !== expect.yes && `yes ${typed("yes")}`,
    expect.no !== undefined && typed("no") !== expect.no && `no ${typed("no")}`,
    expect.default !== undefined && prompt?.default !== expect.default && `default ${prompt?.default}`,
    expect.highlighted !== undefined && highlighted !== expect.highlighted && `highlighted ${highlighted}`,
    expect.keys !== undefined && String(keys) !== String(expect.keys) && `keys ${String(keys)}`,
  ].filter((it) => it !== false);
}
