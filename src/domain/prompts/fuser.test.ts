import fc from "fast-check";
import { expect, test } from "vitest";
import { fuse, type MLVerdict, nullMLClassifier } from "./fuser.ts";
import type { Prompt, PromptClass, PromptConfidence } from "./prompt.ts";

const CLASSES: readonly PromptClass[] = [
  "YES_NO",
  "CONFIRM_ENTER",
  "NUMBERED_CHOICE",
  "FREE_TEXT",
  "PASSWORD_INPUT",
  "CHAT_INPUT",
];
const VERDICTS: readonly (MLVerdict | undefined)[] = [...CLASSES, "FOLDER_TRUST", "RAW_TERMINAL", "UNKNOWN", undefined];

function prompt(confidence: PromptConfidence, name: PromptClass = "YES_NO"): Prompt {
  return { class: name, confidence, question: "Go on?", choices: [], accepts: ["y", "n"], entry: "line" };
}

test("[PMT-30] a HIGH class stays whatever ML says", () => {
  expect(fuse(prompt("HIGH"), "NUMBERED_CHOICE")).toEqual(fuse(prompt("HIGH"), undefined));
});

test("[PMT-30, PMT-35] before rule 6: what only ML knows changes no HIGH class", () => {
  expect(fuse(prompt("HIGH"), "RAW_TERMINAL")).toEqual(fuse(prompt("HIGH"), undefined));
});

test.each(["HIGH", "MED", "LOW"] as const)("[PMT-31] no verdict leaves %s as it was", (confidence) => {
  const alone = fuse(prompt(confidence), nullMLClassifier.classify("Go on?", "YES_NO"));
  expect(alone).toMatchObject({ class: "YES_NO", confidence, source: "deterministic", typing: "by_class" });
  expect(fuse(prompt(confidence), "UNKNOWN")).toEqual(alone);
});

test("[PMT-32] MED and the same verdict is a fused HIGH", () => {
  expect(fuse(prompt("MED"), "YES_NO")).toMatchObject({
    confidence: "HIGH",
    source: "fused",
    typing: "by_class",
  });
});

test("[PMT-33] MED and another verdict escalates", () => {
  expect(fuse(prompt("MED"), "FREE_TEXT")).toMatchObject({
    class: "YES_NO",
    disagreement: true,
    escalate: true,
    typing: "literal",
  });
});

test("[PMT-34] LOW and a verdict is shown as ML says and typed as the person says", () => {
  expect(fuse(prompt("LOW", "FREE_TEXT"), "YES_NO")).toMatchObject({
    class: "YES_NO",
    source: "ml",
    typing: "literal",
  });
});

test("[PMT-35] below HIGH the classes of ML are shown, and a raw terminal takes nothing", () => {
  expect(fuse(prompt("MED"), "FOLDER_TRUST")).toMatchObject({
    class: "FOLDER_TRUST",
    typing: "literal",
    escalate: false,
  });
  expect(fuse(prompt("LOW"), "RAW_TERMINAL")).toMatchObject({ class: "RAW_TERMINAL", typing: "none", escalate: true });
});

test("[PMT-36] whatever ML says, it changes no literal, unmasks no password and gives no agent an answer", () => {
  const any = fc.tuple(
    fc.constantFrom<PromptConfidence[]>("HIGH", "MED", "LOW"),
    fc.constantFrom(...CLASSES),
    fc.constantFrom(...VERDICTS),
  );
  fc.assert(
    fc.property(any, ([confidence, name, verdict]) => {
      const given = prompt(confidence, name);
      const fused = fuse(given, verdict);
      expect(fused.prompt).toBe(given);
      expect(name === "PASSWORD_INPUT" && fused.class !== "PASSWORD_INPUT").toBe(false);
      expect(fused.source === "ml" && fused.typing === "by_class").toBe(false);
    }),
  );
});
