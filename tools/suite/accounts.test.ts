import { chownSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IS_ROOT, TemporaryAccount } from "../../test/support/account.ts";
import { temporaryTree } from "../temporary-tree.ts";
import { ACCOUNTS_FILE, leftAccounts } from "./accounts.ts";

test("[HSE-26] an account that no test made is never removed, whatever stands in the directory of the run", () => {
  const existing = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.replace(/:.*/, ""));
  // Another run may have accounts of its own now.
  const others = existing.filter((name) => !name.startsWith("sidestick"));
  using tree = temporaryTree({ [ACCOUNTS_FILE]: [...others, "../passwd", ""].join("\n") });

  expect(leftAccounts(tree.root)).toEqual([]);
});

test.runIf(IS_ROOT)("[HSE-26] names of accounts are believed only in a file of our own (needs root)", () => {
  using account = new TemporaryAccount();
  using tree = temporaryTree({ [ACCOUNTS_FILE]: `${account.name}\n`, "linked/empty": "" });
  const path = join(tree.root, ACCOUNTS_FILE);
  expect(leftAccounts(tree.root)).toEqual([account.name]);

  chownSync(path, 65_534, 65_534);
  expect(leftAccounts(tree.root)).toEqual([]);

  writeFileSync(join(tree.root, "linked", "own"), `${account.name}\n`);
  symlinkSync("own", join(tree.root, "linked", ACCOUNTS_FILE));
  expect(leftAccounts(join(tree.root, "linked"))).toEqual([]);
});
