import { Buffer } from "node:buffer";
import { expect, test } from "vitest";
import { KEY_NAMES, keyBytes } from "./keys.ts";

function sent(name: string, applicationCursor = false): string | undefined {
  const bytes = keyBytes(name, { applicationCursor });
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

test.each([
  ["C-c", "\u0003"],
  ["C-Space", "\u0000"],
  ["C-@", "\u0000"],
  ["C-[", "\u001B"],
  ["C-\\", "\u001C"],
  ["C-_", "\u001F"],
  ["C-/", "\u001F"],
  ["C--", "\u001F"],
  ["C-?", "\u007F"],
  ["M-x", "\u001Bx"],
  ["M-X", "\u001BX"],
  ["C-M-x", "\u001B\u0018"],
  ["Enter", "\r"],
  ["M-Enter", "\u001B\r"],
  ["Tab", "\t"],
  ["S-Tab", "\u001B[Z"],
  ["Escape", "\u001B"],
  ["Space", " "],
  ["Backspace", "\u007F"],
  ["C-Backspace", "\b"],
  ["Up", "\u001B[A"],
  ["C-Up", "\u001B[1;5A"],
  ["S-M-C-Left", "\u001B[1;8D"],
  ["Home", "\u001B[H"],
  ["End", "\u001B[F"],
  ["PageUp", "\u001B[5~"],
  ["M-PageDown", "\u001B[6;3~"],
  ["Insert", "\u001B[2~"],
  ["Delete", "\u001B[3~"],
  ["F1", "\u001BOP"],
  ["S-F3", "\u001B[1;2R"],
  ["F5", "\u001B[15~"],
  ["C-F12", "\u001B[24;5~"],
  ["F13", "\u001B[1;2P"],
  ["F17", "\u001B[15;2~"],
  ["a", "a"],
  ["S-a", "A"],
  ["é", "é"],
  ["M-😀", "\u001B😀"],
  ["-", "-"],
])("[SCR-10] %s sends %j", (name, bytes) => {
  expect(sent(name)).toBe(bytes);
});

test.each([
  ["Ctrl+C", "C-c"],
  ["ctrl-c", "C-c"],
  ["Control+c", "C-c"],
  ["Ctrl+Shift+C", "C-c"],
  ["^C", "C-c"],
  ["^[", "Escape"],
  ["Alt+x", "M-x"],
  ["Meta-x", "M-x"],
  ["Shift+Tab", "S-Tab"],
  ["BTab", "S-Tab"],
  ["PgUp", "PageUp"],
  ["PPage", "PageUp"],
  ["NPage", "PageDown"],
  ["Return", "Enter"],
  ["Esc", "Escape"],
  ["BSpace", "Backspace"],
  ["DC", "Delete"],
  ["del", "Delete"],
  ["ArrowUp", "Up"],
  ["UP", "Up"],
  ["f5", "F5"],
])("[SCR-11] %s is another spelling of %s", (spelling, name) => {
  expect(sent(spelling)).toBe(sent(name));
});

test.each([
  ["Up", "\u001BOA"],
  ["Home", "\u001BOH"],
  ["C-Up", "\u001B[1;5A"],
  ["PageUp", "\u001B[5~"],
])("[SCR-12] with application cursor keys %s sends %j", (name, bytes) => {
  expect(sent(name, true)).toBe(bytes);
});

test.each(["", "Foo", "C-", "Ctrl+", "C-é", "Super+x", "ab", "F25", "toString", "C-Foo", "C-="])(
  "[SCR-13] %j is no key",
  (name) => {
    expect(sent(name)).toBeUndefined();
  },
);

test("[SCR-14] every listed name is a key, and none is listed twice", () => {
  expect(KEY_NAMES.filter((name) => sent(name) === undefined)).toEqual([]);
  expect(new Set(KEY_NAMES).size).toBe(KEY_NAMES.length);
});
