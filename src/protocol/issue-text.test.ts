import { expect, test } from "vitest";
import { z } from "zod";
import { parseWith } from "./parse.ts";

const Schema = z.strictObject({
  cols: z.int().min(1).max(1000).optional(),
  name: z.string().min(1).max(3).optional(),
  long: z.string().min(4).optional(),
  kind: z.enum(["terminal", "file"]).optional(),
  keys: z
    .array(z.string().refine((it) => it !== "x", { message: "no such key" }))
    .min(1)
    .max(2)
    .optional(),
  data: z.base64().optional(),
  id: z.string().regex(/^a/).optional(),
  from: z.union([z.int(), z.literal("screen")]).optional(),
  isOn: z.boolean().optional(),
});

test.each([
  [{ cols: 0 }, "cols must be at least 1"],
  [{ cols: 1001 }, "cols must be at most 1000"],
  [{ cols: 1.5 }, "cols must be a whole number"],
  [{ cols: "80" }, "cols must be a number"],
  [{ name: "" }, "name must not be empty"],
  [{ name: "abcd" }, "name must have at most 3 characters"],
  [{ long: "a" }, "long must have at least 4 characters"],
  [{ kind: "door" }, "kind must be one of terminal, file"],
  [{ keys: [] }, "keys must not be empty"],
  [{ keys: ["a", "b", "c"] }, "keys must have at most 2 items"],
  [{ keys: ["x"] }, "keys.0: no such key"],
  [{ data: "%" }, "data must be valid base64"],
  [{ id: "b" }, "id has a form that is not allowed"],
  [{ from: [] }, "from is not what is expected there"],
  [{ isOn: 1 }, "isOn must be true or false"],
  [{ nope: 1 }, "unknown: nope"],
])("[HTP-13] %j is told as: %s", (given, told) => {
  expect(() => parseWith(Schema, given)).toThrow(expect.objectContaining({ message: told }));
});

test("[HTP-13] what is missing is told so", () => {
  const parse = (): unknown => parseWith(z.object({ command: z.string() }), {});

  expect(parse).toThrow(expect.objectContaining({ message: "command is missing" }));
});
