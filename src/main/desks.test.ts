import { expect, test } from "vitest";
import { newSecret } from "./desks.ts";

test("[RML-3] a code can stand behind an option: none begins with a dash", () => {
  const secrets = Array.from({ length: 2_000 }, newSecret);

  expect(secrets.filter((it) => it.startsWith("-"))).toEqual([]);
  expect(new Set(secrets).size).toBe(2_000);
});
