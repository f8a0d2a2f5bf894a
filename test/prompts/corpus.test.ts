import { beforeAll, describe, expect, test } from "vitest";
import { classifyPrompt } from "../../src/domain/prompts/classifier.ts";
import { routeOutput } from "../../src/domain/prompts/output-router.ts";
import { detectPlan } from "../../src/domain/prompts/plan-detector.ts";
import type { Prompt } from "../../src/domain/prompts/prompt.ts";
import { faultsOf, isHeldOut, type OutputSample, type PlanSample, type Sample, samplesOf, viewOf } from "./corpus.ts";

type Result = { readonly sample: Sample; readonly prompt: Prompt | undefined; readonly faults: readonly string[] };

const ENOUGH = 0.95;
const FILES = ["installers", "menus", "secrets", "tools", "transcribed", "fresh", "quiet", "negatives"];
let results: readonly Result[] = [];

beforeAll(async () => {
  results = await Promise.all(samplesOf(...FILES).map(judged));
});

async function judged(sample: Sample): Promise<Result> {
  const classified = classifyPrompt(await viewOf(sample), sample.evidence);
  const prompt = classified.asked ? classified.prompt : undefined;
  return { sample, prompt, faults: faultsOf(sample, prompt) };
}

const isPrompt = ({ sample }: Result): boolean => sample.expect.class !== "NONE";
const rightShare = (some: readonly Result[]): number =>
  some.filter(({ faults }) => faults.length === 0).length / some.length;
const wrong = (some: readonly Result[]): string[] =>
  some.filter(({ faults }) => faults.length > 0).map(({ sample, faults }) => `${sample.id}: ${faults.join(", ")}`);

/** Of each class: how many of those given are right, how many of those asked are found. */
function figures(some: readonly Result[]): string[] {
  const classes = [...new Set(some.map(({ sample }) => sample.expect.class))].toSorted();
  return classes.map((name) => {
    const asked = some.filter(({ sample }) => sample.expect.class === name);
    const given = some.filter(({ prompt }) => (prompt?.class ?? "NONE") === name);
    const both = asked.filter((it) => given.includes(it)).length;
    const percent = (of: number): string => `${((100 * both) / of).toFixed(1)} %`.padStart(8);
    return `${name.padEnd(16)} ${String(asked.length).padStart(4)}  precision ${percent(given.length)}  recall ${percent(asked.length)}`;
  });
}

describe("the corpus of prompts", () => {
  test("[PMT-23] is large and mostly from real tools", () => {
    const prompts = results.filter(isPrompt);
    expect(prompts.length).toBeGreaterThanOrEqual(200);
    expect(prompts.filter(({ sample }) => sample.source === "captured").length).toBeGreaterThan(prompts.length / 2);
    expect(results.length - prompts.length).toBeGreaterThanOrEqual(80);
    expect(new Set(results.map(({ sample }) => sample.id)).size).toBe(results.length);
  });

  test.each([
    { part: "worked on", held: false },
    { part: "held out", held: true },
  ])("[PMT-23] of the part $part at least 95 of 100 get class, literals, default and keys", ({ part, held }) => {
    const some = results.filter(({ sample }) => isHeldOut(sample) === held);
    console.log(
      [`${part}: ${(100 * rightShare(some)).toFixed(1)} % of ${some.length}`, ...figures(some), ...wrong(some)].join(
        "\n",
      ),
    );

    expect(rightShare(some.filter(isPrompt)), wrong(some).join("\n")).toBeGreaterThanOrEqual(ENOUGH);
  });

  test("[PMT-23, PMT-3] every password is known, and nothing else is taken for one less", () => {
    const passwords = results.filter(({ sample }) => sample.expect.class === "PASSWORD_INPUT");
    expect(passwords.length).toBeGreaterThan(80);
    expect(wrong(passwords)).toEqual([]);
  });

  test("[PMT-23, PMT-18] nothing on a negative is taken for a question", () => {
    expect(wrong(results.filter((it) => !isPrompt(it)))).toEqual([]);
  });

  test("[PMT-20] the languages of the tools are as good as English", () => {
    const foreign = results.filter(({ sample }) => sample.lang !== undefined);
    expect(foreign.length).toBeGreaterThan(50);
    expect(rightShare(foreign), wrong(foreign).join("\n")).toBeGreaterThanOrEqual(ENOUGH);
  });

  test("[PMT-1] the classifier never gives the two classes of ML", () => {
    const given = new Set(results.map(({ prompt }) => prompt?.class));
    expect([...given].filter((it) => it === "FOLDER_TRUST" || it === "RAW_TERMINAL")).toEqual([]);
  });

  test("[PMT-17] without the kernel's word nothing is HIGH", () => {
    const blind = results.filter(({ sample }) => ["opaque", "none"].includes(sample.evidence.kind));
    expect(blind.filter(({ prompt }) => prompt?.confidence === "HIGH").map(({ sample }) => sample.id)).toEqual([]);
  });
});

test("[PMT-80, PMT-81, PMT-82] plans are found with all their steps, and menus, results and lists are none", () => {
  const samples = samplesOf<PlanSample>("plans");
  const faults = samples.filter(({ text, steps }) => (detectPlan(text)?.steps.length ?? 0) !== steps);
  console.log(`plans: ${samples.length - faults.length} of ${samples.length} right`);

  expect(samples.filter(({ steps }) => steps > 0).length).toBeGreaterThanOrEqual(40);
  expect(faults.filter(({ steps }) => steps === 0).map(({ id }) => id)).toEqual([]);
  expect(faults.length, faults.map(({ id }) => id).join(" ")).toBeLessThanOrEqual(samples.length * (1 - ENOUGH));
});

test("[PMT-90, PMT-91] output is routed as an agent's words, a program's output or noise", () => {
  const samples = samplesOf<OutputSample>("outputs");
  const faults = samples.filter(({ text, kind }) => routeOutput(text, { showRaw: false }) !== kind);
  console.log(`outputs: ${samples.length - faults.length} of ${samples.length} right`);

  expect(samples.length).toBeGreaterThanOrEqual(60);
  expect(faults.length, faults.map(({ id }) => id).join(" ")).toBeLessThanOrEqual(samples.length * (1 - ENOUGH));
});
