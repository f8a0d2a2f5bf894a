import { expect, test } from "vitest";
import { SecretLine } from "./secret-line.ts";

test.each([
  { name: "at once", typed: ["hunter2\r"], values: ["hunter2"] },
  { name: "key by key", typed: ["h", "u", "n", "t", "e", "r", "2", "\r"], values: ["hunter2"] },
  { name: "with a correction", typed: ["hunx\u007Fter2\n"], values: ["hunter2"] },
  { name: "after a killed line", typed: ["wrong\u0015hunter2\r"], values: ["hunter2"] },
  { name: "too short to mask", typed: ["abc\r"], values: [] },
  { name: "unfinished", typed: ["hunter2"], values: [] },
])("[PTY-34] a secret typed $name is known by its value", ({ typed, values }) => {
  const line = new SecretLine();

  const found = typed.flatMap((part) => line.type(Buffer.from(part)));

  expect(found.map((it) => Buffer.from(it).toString())).toEqual(values);
});
