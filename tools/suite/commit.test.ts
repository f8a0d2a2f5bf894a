import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { temporaryTree } from "../temporary-tree.ts";
import { commitOf } from "./commit.ts";

test("[HSE-27] what a soak ran is the commit, and every change to it, in new files too (needs git)", () => {
  using tree = temporaryTree({ "a.ts": "1\n", ".gitignore": "cache\n" });
  const git = (...words: string[]): Buffer => execFileSync("git", words, { cwd: tree.root, stdio: "pipe" });
  const write = (name: string, content: string): string | undefined => {
    writeFileSync(join(tree.root, name), content);
    return commitOf(tree.root);
  };
  git("init", "--quiet");
  git("add", "-A");
  git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", "one");

  const clean = write("cache", "what git ignores changes nothing");
  const states = [write("a.ts", "2\n"), write("new.ts", "1\n"), write("new.ts", "2\n")];

  expect(clean).toBe(git("rev-parse", "--short=10", "HEAD").toString().trim());
  for (const state of states) expect(state).toMatch(`${clean}, changed (`);
  expect(new Set(states).size).toBe(3);
});

test("[HSE-32] a git hook's own repository is neither asked nor touched (needs git)", () => {
  using tree = temporaryTree({ "a.ts": "1\n" });
  using hook = temporaryTree({ "b.ts": "1\n" });
  for (const { root } of [tree, hook]) {
    const git = (...words: string[]): Buffer => execFileSync("git", words, { cwd: root, stdio: "pipe" });
    git("init", "--quiet");
    git("add", "-A");
    git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "-m", root);
  }
  const [commit, another] = [commitOf(tree.root), commitOf(hook.root)];

  vi.stubEnv("GIT_DIR", join(hook.root, ".git"));
  vi.stubEnv("GIT_INDEX_FILE", join(hook.root, ".git", "index"));
  vi.stubEnv("GIT_WORK_TREE", hook.root);
  const inHook = commitOf(tree.root);
  vi.unstubAllEnvs();

  expect(commit).not.toBe(another);
  expect(inHook).toBe(commit);
});

test("[HSE-27] without a repository, or without git, there is no commit", () => {
  using tree = temporaryTree({ "a.ts": "1\n" });
  vi.stubEnv("GIT_CEILING_DIRECTORIES", join(tree.root, ".."));
  const outside = commitOf(tree.root);
  vi.stubEnv("PATH", "/nowhere");
  const without = commitOf(tree.root);
  vi.unstubAllEnvs();

  expect([outside, without]).toEqual([undefined, undefined]);
});
