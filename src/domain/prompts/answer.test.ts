import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, answerTo, literalAnswer, type Reply } from "./answer.ts";
import { classifyPrompt } from "./classifier.ts";
import { feedbackMessage } from "./feedback.ts";
import { buildPlan } from "./plan-table.ts";
import type { Prompt, PromptEvidence } from "./prompt.ts";

const LINE: PromptEvidence = { kind: "line", confidence: "high", program: "tool", echo: true, canonical: true };
const RAW: PromptEvidence = { kind: "line_editor", confidence: "high", program: "node", echo: false, canonical: false };
const DOWN = "\u001B[B";
const UP = "\u001B[A";

function promptOf(text: string, evidence = LINE): Prompt {
  const found = classifyPrompt({ lines: text.split("\n") }, evidence);
  if (!found.asked) throw new Error(found.reason);
  return found.prompt;
}
const say = (text: string): Reply => ({ by: "text", text });
const press = (key: string): Reply => ({ by: "button", key });
const bytesOf = (answer: Answer): readonly string[] | string => (answer.ok ? answer.writes : answer.ask);

describe("yes and no", () => {
  test.each([
    ["Continue? [Y/n] ", "yes", "Y\r"],
    ["Continue? [Y/n] ", "nope", "n\r"],
    ["Fortfahren? [J/n] ", "yes", "J\r"],
    ["Fortfahren? [J/n] ", "Ja", "J\r"],
    ["Continuer ? [O/n] ", "oui", "O\r"],
    ["¿Continuar? [S/n] ", "sí", "S\r"],
    ["続行しますか? [Y/n] ", "はい", "Y\r"],
    ["Continue connecting (yes/no/[fingerprint])? ", "y", "yes\r"],
    ["Continue connecting (yes/no/[fingerprint])? ", "No.", "no\r"],
    ["Only 'yes' will be accepted.\nEnter a value: ", "ok", "yes\r"],
    ["Is this ok [y/d/N]: ", "d", "d\r"],
  ])("[PMT-50] %j and %j gives %j", (text, reply, typed) => {
    expect(bytesOf(answerTo(promptOf(text), say(reply)))).toEqual([typed]);
  });

  test.each(["maybe", "cancel", "stop", "", "yes and no", "n't", "quit"])(
    "[PMT-51] %j is asked back, never taken for no",
    (reply) => {
      expect(answerTo(promptOf("Delete it? [y/N] "), say(reply))).toEqual({
        ok: false,
        ask: "Please reply with yes or no.",
      });
    },
  );

  test.each([
    ["Apply? [a/s/y/n]: ", "yes", "y\r"],
    ["Apply? [a/s/y/n]: ", "s", "s\r"],
    ["Replace file? [y/n/S] ", "s", "S\r"],
    ["File exists (y/n/O): ", "o", "O\r"],
    ["Save changes? [s/n/y/?] ", "s", "s\r"],
    ["Patch? [a/s/n] ", "s", "s\r"],
    ["¿Reemplazar? [S/n/t] ", "s", "S\r"],
  ])("[PMT-66] %j and %j gives the program's own %j", (text, reply, typed) => {
    expect(bytesOf(answerTo(promptOf(text), say(reply)))).toEqual([typed]);
  });

  test("[PMT-66, PMT-51] where a letter may be another word's, a yes is asked back", () => {
    expect(answerTo(promptOf("Patch? [a/s/n] "), say("yes"))).toEqual({
      ok: false,
      ask: "Please reply with a, s or n.",
    });
  });

  test("[PMT-61] a fingerprint answers the question for a host key, and nothing like it elsewhere", () => {
    const fingerprint = "SHA256:n0tR3allyAF1ngerpr1ntButLongEnough0000000000";
    const ssh = promptOf("Are you sure you want to continue connecting (yes/no/[fingerprint])? ");
    expect(bytesOf(answerTo(ssh, say(fingerprint)))).toEqual([`${fingerprint}\r`]);
    expect(answerTo(promptOf("Continue? (yes/no) "), say(fingerprint)).ok).toBe(false);
  });
});

describe("menus", () => {
  const arrows = promptOf("Do you want to proceed?\n  1. Yes\n❯ 2. Yes, and don't ask again\n  3. No", RAW);
  const typed = promptOf("1) Install\n2) Inspect\n3) Remove all\nSelect: ");

  test.each([
    ["2", "2\r"],
    ["Install", "1\r"],
    ["remove", "3\r"],
  ])("[PMT-52] %j gives %j", (reply, bytes) => {
    expect(bytesOf(answerTo(typed, say(reply)))).toEqual([bytes]);
  });

  test.each(["ins", "9", "", "yes"])("[PMT-51, PMT-52] %j fits none or several and is asked back", (reply) => {
    expect(answerTo(typed, say(reply))).toEqual({ ok: false, ask: "Please reply with 1, 2 or 3." });
  });

  test.each([
    ["1", [UP, "\r"]],
    ["2", ["\r"]],
    ["3", [DOWN, "\r"]],
    ["yes", [UP, "\r"]],
    ["no", [DOWN, "\r"]],
  ])("[PMT-53] %j moves from the highlighted item", (reply, writes) => {
    expect(bytesOf(answerTo(arrows, say(reply)))).toEqual(writes);
  });

  test("[PMT-53] a box is moved through with Tab and a switch with left and right", () => {
    const choices = [
      { key: "yes", label: "Yes", highlighted: true },
      { key: "no", label: "No" },
    ] as const;
    const box: Prompt = { class: "YES_NO", confidence: "HIGH", question: "?", choices, accepts: [], entry: "buttons" };
    expect(bytesOf(answerTo(box, press("no")))).toEqual(["\t", "\r"]);
    expect(bytesOf(answerTo({ ...box, entry: "sideways" }, press("no")))).toEqual(["\u001B[C", "\r"]);
    expect(bytesOf(answerTo(box, say("ja")))).toEqual(["\r"]);
  });

  test("[PMT-54] exactly the wanted boxes are checked at the end", () => {
    const boxes = promptOf("? Pick\n❯◉ a\n ◯ b\n ◯ c", RAW);
    expect(bytesOf(answerTo(boxes, say("2, 3")))).toEqual([` ${DOWN} ${DOWN} `, "\r"]);
    expect(bytesOf(answerTo(boxes, say("1")))).toEqual(["\r"]);
  });

  test("[PMT-55] an unseen highlight is never guessed", () => {
    const unseen = promptOf("◆  Pick\n│  ◼ a\n│  ◻ b\n└", RAW);
    expect(answerTo(unseen, say("1"))).toEqual({
      ok: false,
      ask: "Which item is highlighted can't be seen from here. Please respond locally.",
    });
  });
});

describe("text", () => {
  test("[PMT-56] goes to a line in one write and to a reader of keys in two", () => {
    expect(bytesOf(answerTo(promptOf("Name: "), say("Bob")))).toEqual(["Bob\r"]);
    expect(bytesOf(answerTo(promptOf("Name: ", RAW), say("Bob")))).toEqual(["Bob", "\r"]);
    expect(bytesOf(answerTo(promptOf("Press ENTER to continue"), say("")))).toEqual(["\r"]);
    expect(bytesOf(answerTo(promptOf("(END)", { ...RAW, kind: "pager" }), say("q")))).toEqual(["q"]);
  });

  test("[PMT-45, PMT-60] what a pager is told is what is typed, and its default at the end leaves it", () => {
    const pager = (line: string) => promptOf(line, { ...RAW, kind: "pager" });
    const asLine = promptOf("--More--");
    const told = (prompt: Prompt, reply: Reply) => {
      const answer = answerTo(prompt, reply);
      return answer.ok ? [answer.writes, feedbackMessage("sent", buildPlan(prompt.class), answer.shown)] : answer.ask;
    };

    expect(told(pager("(END)"), press("q"))).toEqual([["q"], "Sent: q"]);
    expect(told(pager("(END)"), press("default"))).toEqual([["q"], "Sent: q"]);
    expect(told(pager("--More--"), press("default"))).toEqual([["\r"], "Sent: Enter"]);
    expect(told(asLine, press("q"))).toEqual([["q", "\r"], "Sent: q + Enter"]);
  });

  test.each(["a\nb", "a\rb", "\u0003", "a\u001B[A", "\u0000", "a\u0085", "x".repeat(4_001), "漢".repeat(1_500)])(
    "[PMT-58] a reply that is no line is refused, also for passwords",
    (text) => {
      expect(answerTo(promptOf("Name: "), say(text)).ok).toBe(false);
      expect(answerTo(promptOf("Password: "), say(text)).ok).toBe(false);
      expect(literalAnswer(promptOf("Name: "), text).ok).toBe(false);
    },
  );

  test.each(["yes", " spaced ", "n", "1"])("[PMT-59] the secret %j is typed as it is", (secret) => {
    expect(bytesOf(answerTo(promptOf("Password: ", { ...LINE, kind: "password", echo: false }), say(secret)))).toEqual([
      `${secret}\r`,
    ]);
  });

  test("[PMT-60] an item that is called `default` is that item, not the default", () => {
    const choices = [
      { key: "staging", label: "staging", highlighted: true },
      { key: "default", label: "default" },
    ];
    const menu: Prompt = {
      ...promptOf("Name: "),
      class: "NUMBERED_CHOICE",
      entry: "arrows",
      default: "staging",
      choices,
    };

    expect(bytesOf(answerTo(menu, press("default")))).toEqual(["\u001B[B", "\r"]);
  });

  test("[PMT-60] the default is Enter alone, and a password has none", () => {
    expect(bytesOf(answerTo(promptOf("Port [8080]: "), press("default")))).toEqual(["\r"]);
    expect(bytesOf(answerTo(promptOf("Continue? [Y/n] "), press("default")))).toEqual(["\r"]);
    expect(answerTo(promptOf("Secret key [None]: "), press("default")).ok).toBe(false);
    expect(answerTo(promptOf("Name: "), press("default")).ok).toBe(false);
  });

  test("[PMT-57, PMT-51] any reply to any question is asked back or ends with one carriage return, and never with a line feed", () => {
    const prompts = ["Continue? [y/N] ", "1) a\n2) b\nSelect: ", "Name: ", "Press ENTER to continue", "Password: "];
    fc.assert(
      fc.property(
        fc.constantFrom(...prompts),
        fc.constantFrom(LINE, RAW),
        fc.string({ unit: "binary" }),
        (text, evidence, reply) => {
          const answer = answerTo(promptOf(text, evidence), say(reply));
          if (!answer.ok) return;
          const bytes = answer.writes.join("");
          expect(bytes).not.toContain("\n");
          expect(bytes.indexOf("\r")).toBe(bytes.length - 1);
        },
      ),
    );
  });
});
