import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkMessage } from "../../../test/channels/slack-rules.ts";
import type { Card } from "../../domain/channels/card.ts";
import { slackMessage } from "./blocks.ts";

const BARE: Card = { kind: "notice", text: "hello", buttons: [] };
const plain = (text: string) => ({ type: "plain_text", text, emoji: false });
const mrkdwn = (text: string) => ({ type: "mrkdwn", text, verbatim: true });

describe("a card as blocks", () => {
  test("[CHN-70, CHN-71, CHN-73, CHN-74] a question has all its parts, shown letter for letter", () => {
    const card: Card = {
      kind: "prompt",
      title: "build\nof & more",
      text: "Overwrite *a_b* & <c>?",
      code: "mv a b && ls <x>",
      facts: [{ name: "Program", value: "mv <a>" }],
      buttons: [
        [
          { label: "Yes", action: "1a.0", style: "go" },
          { label: "No", action: "1a.1", style: "stop" },
        ],
        [{ label: "Other & more", action: "1a.2" }],
      ],
      link: { label: "Open", url: "http://127.0.0.1:7000/x" },
    };
    const button = { type: "button" };

    expect(slackMessage(card)).toEqual({
      text: "build\nof &amp; more\nOverwrite *a_b* &amp; &lt;c&gt;?",
      blocks: [
        { type: "header", text: plain("build of & more") },
        { type: "section", text: plain("Overwrite *a_b* & <c>?") },
        { type: "section", text: mrkdwn("```\nmv a b &amp;&amp; ls &lt;x&gt;\n```") },
        { type: "section", fields: [mrkdwn("*Program*\nmv &lt;a&gt;")] },
        {
          type: "actions",
          elements: [
            { ...button, action_id: "press.0.0", text: plain("Yes"), value: "1a.0", style: "primary" },
            { ...button, action_id: "press.0.1", text: plain("No"), value: "1a.1", style: "danger" },
          ],
        },
        {
          type: "actions",
          elements: [{ ...button, action_id: "press.1.0", text: plain("Other & more"), value: "1a.2" }],
        },
        {
          type: "actions",
          elements: [{ ...button, action_id: "link", text: plain("Open"), url: "http://127.0.0.1:7000/x" }],
        },
      ],
    });
  });

  test("[CHN-71] what an agent says is prose with its formatting and no code", () => {
    const card: Card = { kind: "agent_message", text: "I *fixed* `a < b`", buttons: [] };
    expect(slackMessage(card).blocks).toEqual([{ type: "section", text: mrkdwn("I *fixed* `a &lt; b`") }]);
  });

  test("[CHN-73] without words there is still a text for notifications", () => {
    expect(slackMessage({ ...BARE, text: " \n" })).toEqual({ text: "notice", blocks: [] });
    expect(slackMessage({ ...BARE, kind: "output", text: "", code: "$ <ls>" }).text).toBe("$ &lt;ls&gt;");
  });

  test("[CHN-74] a long row of buttons becomes rows of five", () => {
    const row = Array.from({ length: 12 }, (_, at) => ({ label: String(at), action: `1.${at}` }));
    const { blocks } = slackMessage({ ...BARE, buttons: [row] });
    expect(blocks.flatMap((it) => (it.type === "actions" ? [it.elements.length] : []))).toEqual([5, 5, 2]);
  });
});

describe("limits", () => {
  test("[CHN-72] of output the end is shown, of a command both ends, and where something is missing it says so", () => {
    const code = `begin${"x".repeat(20_000)}end`;
    const kinds = (kind: Card["kind"]) =>
      slackMessage({ ...BARE, kind, text: "", code }).blocks.map((it) => {
        return it.type === "section" && "text" in it ? `${it.text.text.slice(4, 9)}…${it.text.text.slice(-7, -4)}` : it;
      });
    const note = (count: number) => ({ type: "context", elements: [mrkdwn(`… ${count} characters left out`)] });

    expect(kinds("output")).toEqual([note(14_024), "xxxxx…xxx", "xxxxx…end"]);
    expect(kinds("approval")).toEqual(["begin…xxx", note(14_024), "xxxxx…end"]);
  });

  test("[CHN-72] facts beyond ten are counted", () => {
    const facts = Array.from({ length: 12 }, (_, at) => ({ name: "n", value: String(at) }));
    const { blocks } = slackMessage({ ...BARE, facts });
    expect(blocks.slice(1)).toEqual([
      { type: "section", fields: facts.slice(0, 10).map(({ value }) => mrkdwn(`*n*\n${value}`)) },
      { type: "context", elements: [mrkdwn("… 2 facts left out")] },
    ]);
  });

  test("[CHN-72] a card with too much of everything is a message that Slack takes", () => {
    const many = (text: string) => text.repeat(20_000);
    const card: Card = {
      kind: "approval",
      title: many("t<"),
      text: many("&\n"),
      code: many("`\n"),
      facts: Array.from({ length: 30 }, () => ({ name: many("n&"), value: many("v>") })),
      buttons: Array.from({ length: 4 }, (_, line) =>
        Array.from({ length: 8 }, (__, at) => ({ label: many("l"), action: `${line}.${at}` })),
      ),
      link: { label: many("o"), url: "http://127.0.0.1/" },
    };
    expect(checkMessage(formOf(card))).toMatchObject({ ok: true });
  });

  test("[CHN-70, CHN-72] whatever a card holds, Slack takes it", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("<", "&", "```", "\n", "😀").map((it) => it.repeat(5_000)),
    );
    const kind = fc.constantFrom<Card["kind"]>(
      "prompt",
      "plan",
      "approval",
      "control",
      "output",
      "agent_message",
      "notice",
    );
    const button = fc.record({ label: text.map((it) => `${it}.`), action: fc.string({ minLength: 1, maxLength: 64 }) });
    const buttons = fc.array(fc.array(button, { minLength: 1, maxLength: 8 }), { maxLength: 4 });
    const facts = fc.array(fc.record({ name: text, value: text }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.record({ kind, text, title: text, code: text, buttons, facts }), (card) => {
        expect(checkMessage(formOf(card))).toMatchObject({ ok: true });
      }),
      { numRuns: 60 },
    );
  });
});

function formOf(card: Card): URLSearchParams {
  const { text, blocks } = slackMessage(card);
  return new URLSearchParams({ text, blocks: JSON.stringify(blocks) });
}
