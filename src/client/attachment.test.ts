import { expect, test } from "vitest";
import { Attachment } from "./attachment.ts";

const LINK = { send: () => undefined, fail: () => undefined };

test.each([
  { who: "with a size attaches again with that of now", came: { cols: 80, rows: 24 }, again: { cols: 100, rows: 30 } },
  { who: "without a size attaches again without one", came: {}, again: {} },
])("[SDK-16] who came $who, though they resized meanwhile", ({ came, again }) => {
  const attachment = new Attachment("s", { from: 7, input: true, ...came, onOutput: () => undefined }, LINK);

  const first = attachment.request();
  attachment.resize(100, 30);

  const asked = { type: "attach", sessionId: "s", from: 7, input: true };
  expect([first, attachment.request()]).toEqual([
    { ...asked, ...came },
    { ...asked, ...again },
  ]);
});
