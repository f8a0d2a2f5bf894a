import fc from "fast-check";
import { expect, test } from "vitest";
import { readHtml } from "../../../test/channels/telegram-html.ts";
import type { Card } from "../../domain/channels/card.ts";
import { HTML_MAX, telegramMessage } from "./card-html.ts";

const NOTICE: Card = { kind: "notice", text: "hello", buttons: [] };
const SEED = Number(process.env["SIDESTICK_SEED"] ?? Date.now() % 2 ** 31);

const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<",
        ">",
        "&",
        '"',
        "\n",
        " ",
        "😀",
        "é",
        "</pre>",
        "<b>",
        "&lt;",
        "\uD83D",
        "\uDE00",
        "\u0000",
        "\u202E",
      ),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(""));
const longOrNot = fc.tuple(nasty, fc.constantFrom(1, 1, 40, 900)).map(([text, times]) => text.repeat(times));
const cards: fc.Arbitrary<Card> = fc.record({
  kind: fc.constantFrom("prompt", "output", "agent_message", "approval"),
  title: fc.option(longOrNot, { nil: undefined }),
  text: longOrNot,
  code: fc.option(longOrNot, { nil: undefined }),
  facts: fc.option(fc.array(fc.record({ name: nasty, value: longOrNot }), { maxLength: 9 }), { nil: undefined }),
  buttons: fc.constant([]),
  link: fc.constantFrom(undefined, { label: "Open <it>", url: 'http://localhost:1/?a=1&b="<2>"' }),
});

test("[CHN-53] whatever a card holds, its HTML is whole, well-formed, short enough and never blank", () => {
  fc.assert(
    fc.property(cards, (card) => {
      const { html } = telegramMessage(card);
      const { text } = readHtml(html);

      expect(html.length).toBeLessThanOrEqual(HTML_MAX);
      expect(html.isWellFormed()).toBe(true);
      expect(text.trim()).not.toBe("");
      if (card.link !== undefined) expect(text).toContain(card.link.url);
    }),
    { seed: SEED },
  );
});

test("[CHN-53] what is short is shown letter by letter", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 200 }), (text) => {
      const { html } = telegramMessage({ ...NOTICE, title: "t", text: `[${text}]`, code: `{${text}}` });
      expect(readHtml(html).text).toBe(`t\n[${text}]\n{${text}}`);
    }),
    { seed: SEED },
  );
});

test("[CHN-54] the title is bold, code stands in <pre>, names of facts are bold, the rest is prose", () => {
  const { html } = telegramMessage({
    kind: "approval",
    title: "build\n2",
    text: "May it run?",
    code: "ls -l\n  > out",
    facts: [
      { name: "By", value: "claude" },
      { name: "In", value: "/a\n/b" },
    ],
    buttons: [],
  });
  expect(html).toBe(
    "<b>build ⏎ 2</b>\nMay it run?\n<b>By:</b> claude\n<b>In:</b> /a ⏎ /b\n<pre>ls -l\n  &gt; out</pre>",
  );
});

test("[CHN-54] an agent's message has no <pre>", () => {
  const { html } = telegramMessage({
    kind: "agent_message",
    title: "build",
    text: "I fixed `x` & **y**.",
    buttons: [],
  });
  expect(html).toBe("<b>build</b>\nI fixed `x` &amp; **y**.");
});

test("[CHN-55] of prose the beginning is kept, of code the end, and what is left out is counted", () => {
  const text = "a".repeat(10_000);
  const code = "b".repeat(10_000);
  const shown = readHtml(telegramMessage({ ...NOTICE, text, code }).html).text;
  const parts = /^(a+)\n\[… (\d+) characters left out\]\n\[… (\d+) characters left out\]\n(b+)$/.exec(shown);
  const [, as = "", noAs, noBs, bs = ""] = parts ?? [];

  expect([as.length + Number(noAs), bs.length + Number(noBs)]).toEqual([10_000, 10_000]);
  expect(shown.length).toBeGreaterThan(HTML_MAX - 50);
  expect(Math.abs(as.length - bs.length)).toBeLessThan(50);
});

test("[CHN-55] short prose leaves its room to the code, and a letter that was cut in two is left out", () => {
  const { html } = telegramMessage({ ...NOTICE, text: "Running.", code: `${"😀".repeat(3_000)}x` });
  expect(html).toMatch(/^Running\.\n<pre>\[… \d+ characters left out\]\n(?:😀){2000,}x<\/pre>$/u);
});

test.each([
  { what: "too long", action: `${"é".repeat(32)}x` },
  { what: "empty", action: "" },
])("[CHN-56] an action that is $what is refused, and will always be", ({ action }) => {
  const card = { ...NOTICE, buttons: [[{ label: "Yes", action }]] };
  expect(() => telegramMessage(card)).toThrow(expect.objectContaining({ name: "ChannelFailed", again: "never" }));
});

test("[CHN-56] buttons keep their rows, their colours and at most 64 bytes; nine in a row become two rows", () => {
  const nine = Array.from({ length: 9 }, (_, at) => ({ label: String(at), action: `r.${at}` }));
  const action = "é".repeat(32);
  const { keyboard } = telegramMessage({
    ...NOTICE,
    buttons: [
      [
        { label: "Yes", action, style: "go" },
        { label: " ", action: "n", style: "stop" },
      ],
      nine,
    ],
  });
  expect(keyboard).toEqual([
    [
      { text: "Yes", callback_data: action, style: "success" },
      { text: "…", callback_data: "n", style: "danger" },
    ],
    nine.slice(0, 8).map(({ label, action: data }) => ({ text: label, callback_data: data })),
    [{ text: "8", callback_data: "r.8" }],
  ]);
  expect(() => telegramMessage({ ...NOTICE, buttons: Array.from({ length: 13 }, () => nine.slice(0, 8)) })).toThrow(
    "more than 100 buttons",
  );
});

test.each(["https://hub.example.org/secret/x?a=1&b=2", "http://192.168.1.5:7000/secret/x"])(
  "[CHN-57] a link to %s is a button",
  (url) => {
    expect(telegramMessage({ ...NOTICE, link: { label: "Open", url } })).toEqual({
      html: "hello",
      keyboard: [[{ text: "Open", url }]],
    });
  },
);

test.each(["http://localhost:7000/s", "http://127.0.0.1:7000/s", "http://hub:7000/s", "http://[::1]/s", "file:///a.b"])(
  "[CHN-57] a link to %s, which no button takes, stands in the text",
  (url) => {
    const card = { ...NOTICE, link: { label: "Open", url } };
    expect(telegramMessage(card)).toEqual({ html: `hello\nOpen: <code>${url}</code>`, keyboard: [] });
  },
);

test("[CHN-58] what would hide or turn around other text is shown as a sign", () => {
  const { html } = telegramMessage({
    ...NOTICE,
    text: "a\u202Eb\u0007c\r\nd\re\u{1F468}\u200D\u{1F469}",
    code: "x\u0000\ty",
  });
  expect(html).toBe("a\\u{202e}b\\u{7}c\nd\\u{d}e\u{1F468}\u200D\u{1F469}\n<pre>x\\u{0}\ty</pre>");
});
