import { describe, expect, test } from "vitest";
import { afterEnter, beforeEnter, isSame, isTypedInto, sameQuestion, type Seen, withoutSpaces } from "./standing.ts";

const COLUMNS = 40;

/** As a terminal shows it, with the cursor behind the last character. */
function seen(text: string, question = text.split("\n").at(-1)!.trim(), pid = 7): Seen {
  const lines = text.split("\n").flatMap((line) => line.match(new RegExp(`.{1,${COLUMNS}}`, "gu")) ?? [""]);
  const line = lines.findLastIndex((it) => it.includes(question.slice(0, 24)));
  const above = lines.slice(0, Math.max(0, line)).join("\n");
  const field = withoutSpaces(lines.at(-1) ?? "");
  return { pid, question, line, above, isAtCursor: true, shown: withoutSpaces(lines.join("")), field };
}
const before = (text: string, question?: string): Seen => seen(text, question);
const wrote = (typed: string, output = typed, isSecret = false) => ({ typed, output, isSecret });
const LONG = "word ".repeat(30).trim();

test("[PMT-78] a question is the same by reader, line and text", () => {
  const standing = { pid: 7, question: "Fix? ", line: 12 };
  expect(sameQuestion(standing, { ...standing })).toBe(true);
  expect(sameQuestion(standing, { ...standing, line: 13 })).toBe(false);
  expect(sameQuestion(standing, { ...standing, pid: 8 })).toBe(false);
  expect(sameQuestion(standing, { ...standing, question: "Clear? " })).toBe(false);
});

test("[PMT-78, PMT-104] what somebody types behind a question makes no other one", () => {
  expect(isTypedInto(before("Name: "), seen("Name: An"))).toBe(true);
  expect(isTypedInto(before("Name: "), seen("Age: "))).toBe(false);
  expect(isSame(before("x\nName: "), seen("y\nName: "))).toBe(false);
});

describe("before Enter", () => {
  test.each([
    ["plain", "Commit message: ", "Commit message: fix it", "fix it"],
    ["a menu with a bare sign", "Pick one:\n1) build\n2) deploy\n> ", "Pick one:\n1) build\n2) deploy\n> 2", "2"],
    ["select", "Pick one:\n1) build\n2) deploy\n#? ", "Pick one:\n1) build\n2) deploy\n#? 2", "2"],
    ["a field below", "What is your name?\n> ", "What is your name?\n> Ann", "Ann"],
    [
      "wrapped behind a space",
      `Say: `,
      `Say: ${"a".repeat(34)} ${"b".repeat(9)}`,
      `${"a".repeat(34)} ${"b".repeat(9)}`,
    ],
    ["longer than is kept of a question", "Say: ", `Say: ${LONG}`, LONG],
    [
      "scrolled",
      "one\nthe line that stands right above it\nSay: ",
      `the line that stands right above it\nSay: ${LONG}`,
      LONG,
    ],
    ["masked", "url\nDatabase: ", "url\nDatabase: postgres://u:********@db", "postgres://u:hunter2!@db"],
    ["in place of a default", "? Port (8080) ", "? Port 80", "80"],
    ["a narrow field", "│ Host\n│ ", `│ Host\n│ ${"b".repeat(20)}`, `${"a".repeat(20)}${"b".repeat(20)}`],
    ["more than the screen", "Say: ", "b".repeat(80), `${"a".repeat(80)}${"b".repeat(80)}`],
    ["signs for a secret", "Token: ", "Token: •••", "abcdef"],
    ["an empty screen", "", "Ann", "Ann"],
  ])("[PMT-70] a question holds what was typed: %s", (_name, asked, now, typed) => {
    expect(beforeEnter(before(asked), seen(now), wrote(typed, `\u001B[2J${now}`))).toBe("same");
  });

  test("[PMT-70] hidden input is the same question while nothing is printed, and a secret's also when it is drawn anew", () => {
    expect(beforeEnter(before("Name: "), seen("Name: "), wrote("Ann", "\u001B[?25h"))).toBe("same");
    expect(beforeEnter(before("Name: "), seen("Name: "), wrote("Ann", "\u001B[2K\rName: ", true))).toBe("same");
  });

  test("[PMT-53, PMT-70] keys that move are followed by Enter only in the menu that they moved in", () => {
    expect(beforeEnter(before("Pick\n❯ a", "Pick"), seen("Pick\n❯ b", "Pick"), wrote("\u001B[B", "drawn"))).toBe(
      "same",
    );
    expect(beforeEnter(before("Pick\n❯ a", "Pick"), seen("Name: "), wrote("\u001B[B", "drawn"))).toBe("doubt");
  });

  test("[PMT-71] another reader, and another question, have taken it", () => {
    expect(beforeEnter(before("Sure? "), seen("Sure? y", "Sure? y", 8), wrote("y"))).toBe("other");
    expect(beforeEnter(before("Sure? "), seen("Sure? y\nName: "), wrote("y", "y\r\nName: "))).toBe("other");
    expect(beforeEnter(before("1) a\n2) b\nWhich? "), seen("1) a\n2) b\nWhich? 1\nSure? 1"), wrote("1", "1"))).toBe(
      "other",
    );
  });

  test("[PMT-79] a question that was drawn again without what was typed is asked again", () => {
    const menu = "1) Deploy\n2) Quit\nChoice: ";
    expect(beforeEnter(before(menu), seen(menu), wrote("1", `1\u001B[H\u001B[J${menu}`))).toBe("again");
    expect(beforeEnter(before(menu), seen(menu), wrote(":", `:\u001B[H\u001B[J${menu}`))).toBe("again");
  });

  test("[PMT-67] what else became of it is not known", () => {
    expect(beforeEnter(before("Name: "), seen("Name: ANN"), wrote("ann", "ANN"))).toBe("doubt");
    expect(beforeEnter(before("Name: "), seen("Name: "), wrote("ann", "(busy)\r"))).toBe("doubt");
  });
});

describe("after Enter", () => {
  const menu = "1) Deploy\n2) Quit\nChoice: ";

  test("[PMT-72] what stands where nothing was drawn is the same", () => {
    expect(afterEnter(before(menu), seen(menu), wrote("", ""))).toBe("same");
    expect(afterEnter(before(menu), seen(`${menu}1`), wrote("1", ""))).toBe("same");
  });

  test("[PMT-79] what was printed again is asked again", () => {
    expect(afterEnter(before(menu), seen(menu), wrote("", `\u001B[H\u001B[J${menu}`))).toBe("other");
    expect(afterEnter(before(menu), seen(menu), wrote("1", `\u001B[H\u001B[J${menu}`))).toBe("other");
  });

  test("[PMT-71] so is what stands elsewhere", () => {
    expect(afterEnter(before(menu), seen(`x\n${menu}`), wrote("", ""))).toBe("other");
  });
});
