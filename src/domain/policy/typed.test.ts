import { expect, test } from "vitest";
import { possibleActions, type Reader, typedAction } from "./typed.ts";

const waits = (...programs: readonly string[]): Reader => ({ programs, atEmptyPrompt: true, waitsFor: "line" });
const waitsForKey = (...programs: readonly string[]): Reader => ({ programs, atEmptyPrompt: false, waitsFor: "key" });
const works = (...programs: readonly string[]): Reader => ({ programs, atEmptyPrompt: false });

test.each([
  ["a command at a shell's empty prompt", "ls -l\r", waits("bash"), "exec"],
  ["the same in a login shell", "ls\r", waits("-zsh"), "exec"],
  ["the same, on a line that has something", "ls\r", works("bash"), "opaque_send"],
  ["half a line", "ls", waits("bash"), "opaque_send"],
  ["two lines", "ls\rrm x\r", waits("bash"), "opaque_send"],
  ["an arrow key", "\u001B[A", waits("bash"), "opaque_send"],
  ["a completion", "rm\t\r", waits("bash"), "opaque_send"],
  ["a line that stands for one typed before", "^echo^rm\r", waits("bash"), "opaque_send"],
  ["a line with a part of one typed before", "echo a !:1:gs/x//\r", waits("bash"), "opaque_send"],
  ["a mark that stands for nothing", "[ a != b ] || ! echo hi!\r", waits("bash"), "exec"],
  ["a line that goes on in the next", "r\\\r", waits("bash"), "opaque_send"],
  ["a line that ends in a backslash", "echo \\\\\r", waits("bash"), "exec"],
  ["an Enter alone", "\r", waits("bash"), "opaque_send"],
  ["bytes that are no text", undefined, waits("bash"), "opaque_send"],
  ["a line for a REPL", "1 + 1\r", waits("python3.11"), "opaque_send"],
  ["a line for another machine", "ls\r", waits("ssh"), "opaque_send"],
  ["an answer to a program", "y\r", waits("apt-get"), "send"],
  ["an Enter to a program", "\r", waits("apt-get"), "send"],
  ["something for nobody knows whom", "y\r", waits(), "opaque_send"],
  ["a line for an editor that a program started", ":!id\r", waits("git", "vim"), "opaque_send"],
  ["a command for a shell beside another program", "ls\r", waits("cat", "bash"), "opaque_send"],
  ["a line while the program doesn't wait", "rm x\r", works("sleep"), "opaque_send"],
  ["more than the line that the program waits for", "x\rrm x\r", waits("head"), "opaque_send"],
  ["half a line, which may outlast the program", "rm x #", waits("head"), "opaque_send"],
  ["an interrupt with a line behind it", "\u0003rm x\r", waits("head"), "opaque_send"],
  ["bytes that are no text, to a program", undefined, waits("head"), "opaque_send"],
  ["one key for a program that waits for keys", "q", waitsForKey("top"), "send"],
  ["more than the key that ends the program", "qrm x\r", waitsForKey("top"), "opaque_send"],
] as const)("[POL-8] %s", (_, text, reader, kind) => {
  expect(typedAction({ text }, reader).kind).toBe(kind);
});

test.each([
  ["one", 1, waits("cat"), "send"],
  ["one for a program that waits for keys", 1, waitsForKey("top"), "send"],
  ["several", 2, waitsForKey("top"), "opaque_send"],
  ["one while the program doesn't wait", 1, works("sleep"), "opaque_send"],
  ["one for a shell", 1, waits("bash"), "opaque_send"],
] as const)("[POL-8] named keys: %s", (_, keys, reader, kind) => {
  expect(typedAction({ keys }, reader).kind).toBe(kind);
});

test("[POL-8] the command is what was typed, without the Enter", () => {
  expect(typedAction({ text: "rm -r x\r" }, waits("bash"))).toEqual({ kind: "exec", text: "rm -r x" });
});

test("[POL-8] what could come of a line is known before anybody looks", () => {
  expect(possibleActions({ text: "ls\r" }).map((it) => it.kind)).toEqual(["opaque_send", "send", "exec"]);
});
