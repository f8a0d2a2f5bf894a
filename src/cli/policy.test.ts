import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { startTestHub } from "../../test/support/hub.ts";
import { runCliHere } from "../../test/support/run-cli.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { policySchema } from "../protocol/policy-file.ts";

const POLICY = `extends: none
default: auto
rules:
  - {id: push, decision: ask, reason: it leaves the machine, command: git push, timeout: 10m}
  - {id: guarded, decision: deny, reason: not in a guard, command: x, containment: [guard]}
`;

async function place(files: Readonly<Record<string, string>> = {}) {
  const dataDir = await temporaryDirectory();
  await mkdir(join(dataDir, "policies"), { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) await writeFile(join(dataDir, name), text, { mode: 0o600 });
  const run = (...args: readonly string[]) =>
    runCliHere(["policy", ...args.slice(0, 1), "--data-dir", dataDir, ...args.slice(1)]);
  return { dataDir, run, path: (name: string) => join(dataDir, name) };
}

test("[POL-18] check says of each file whether it is whole", async () => {
  const { run, path } = await place({ "policy.yaml": POLICY, "policies/web.yaml": "default: ask\n" });
  const { code, stdout } = await run("check");

  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(`^${path("policy.yaml")}: whole, 2 rules, version [0-9a-f]{16}$`),
    expect.stringMatching(`^${path("policies/web.yaml")}: whole, 0 rules, version [0-9a-f]{16}$`),
    "",
  ]);
});

test("[POL-13, POL-18] check of a broken file: where, what, what to do, and exit code 1", async () => {
  const { run, path } = await place({ "mine.yaml": "default: no\nrulez: []\n", "good.yaml": "rules: []\n" });
  const told = await run("check", path("good.yaml"), path("mine.yaml"));
  const json = await run("check", "--json", path("mine.yaml"));

  expect([told.code, told.stdout]).toEqual([
    1,
    `${path("mine.yaml")}:1:1: default must be one of auto, ask, deny. \`sidestick policy schema\` says what is allowed.\n` +
      `${path("mine.yaml")}:2:1: unknown field "rulez". Remove it or mend its spelling; \`sidestick policy schema\` lists the fields.\n`,
  ]);
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    1,
    { ok: false, problems: [expect.objectContaining({ line: 1, column: 1 }), expect.objectContaining({ line: 2 })] },
  ]);
});

test("[POL-18] explain by files: the decision, then each part with its rule and reason", async () => {
  const { run } = await place({ "policy.yaml": POLICY });
  const { code, stdout, stderr } = await run("explain", "--cwd", "/srv/p", "git add a && git push");

  expect([code, stderr]).toEqual([0, "No hub runs there; its files are read.\n"]);
  const [verdict, head, ...parts] = stdout.trimEnd().split("\n");
  expect(verdict).toBe("ask (risk medium) by push: it leaves the machine");
  expect(head).toMatch(/^PART +PROGRAM +EFFECTS +TOUCHES +DECISION +RULE +REASON$/);
  expect(parts).toEqual([
    expect.stringMatching(/^git add a +git .* auto +otherwise /),
    expect.stringMatching(/^git push +git .* ask +push +it leaves the machine$/),
  ]);
});

test("[POL-18] explain knows the containment, the file and words that are given", async () => {
  const { run, path } = await place({ "other.yaml": POLICY });
  const decide = async (...args: readonly string[]) => {
    const { stdout } = await run("explain", "--json", "--policy", path("other.yaml"), ...args);
    const { decision, rule, parts } = JSON.parse(stdout) as {
      decision: string;
      rule: string;
      parts: { text: string }[];
    };
    return [decision, rule, parts[0]?.text];
  };

  expect(await decide("--containment", "open", "--", "x", "a b")).toEqual(["auto", "otherwise", "x 'a b'"]);
  expect(await decide("--containment", "guard", "--", "x")).toEqual(["deny", "guarded", "x"]);
  expect((await run("explain", "--containment", "wall", "x")).code).toBe(2);
});

test("[POL-18] where a hub runs, it is asked: explain and show say what applies there", async () => {
  const { dataDir, run } = await place({ "policy.yaml": POLICY, "policies/default.yaml": "default: ask\n" });
  await startTestHub({ dataDir, policy: "own" });

  const explained = await run("explain", "ls");
  const shown = await run("show");
  const own = await run("show", "--workspace", "default");
  const unknown = await run("show", "--workspace", "nope");

  expect(unknown.stderr).toBe('sidestick: There is no workspace "nope". See: sidestick workspaces\n');
  expect([explained.stderr, explained.stdout.split("\n")[0]]).toEqual([
    "",
    "ask (risk medium) by otherwise: no rule matches it",
  ]);
  expect(parseYaml(shown.stdout)).toMatchObject({
    extends: "none",
    default: "auto",
    rules: [{ id: "push", timeout: 600 }, { id: "guarded" }],
  });
  expect(own.stdout).toMatch(/^# \S+policies\/default.yaml, version [0-9a-f]{16}\ndefault: ask\nrules: \[\]\n$/);
});

test("[POL-18] what show prints is a file that says the same", async () => {
  const { run, path } = await place({
    "policy.yaml": "rules: [{id: a, decision: deny, reason: r, command: [x, y z], timeout: 90s}]\n",
  });
  const first = await run("show");
  await writeFile(path("policy.yaml"), first.stdout);
  const second = await run("show");

  expect(first.stdout.split("\n")[0]).toMatch(/version [0-9a-f]{16}$/);
  expect(second.stdout).toBe(first.stdout);
  expect(parseYaml((await run("show", "--default")).stdout)).toMatchObject({
    extends: "none",
    default: "ask",
    unclear: "ask",
  });
});

test("[POL-14, POL-18] show of broken files says where, and exit code 1", async () => {
  const { run, path } = await place({ "policy.yaml": "rules: 1\n" });
  const { code, stderr } = await run("show");

  expect(code).toBe(1);
  expect(stderr).toContain(`sidestick: ${path("policy.yaml")}:1:1: rules must be a list.`);
});

test("[POL-18] test tries a file of expectations and shows those that fail", async () => {
  const expectations = `- {command: git push, decision: ask, rule: push}
- {command: git push, decision: auto}
- {command: x, decision: deny, containment: guard}
- {command: x, decision: auto, rule: push}
`;
  const { run, path } = await place({
    "policy.yaml": POLICY,
    "all.yaml": expectations,
    "good.yaml": expectations.split("\n")[0] ?? "",
  });
  const failing = await run("test", path("all.yaml"));
  const good = await run("test", path("good.yaml"), "--policy", path("policy.yaml"));

  expect([failing.code, failing.stdout, failing.stderr]).toEqual([
    1,
    `${path("all.yaml")}:2: git push: expected auto, got ask by push: it leaves the machine\n` +
      `${path("all.yaml")}:4: x: expected auto by push, got auto by otherwise: no rule matches it\n`,
    "2 held, 2 failed.\n",
  ]);
  expect([good.code, good.stderr]).toEqual([0, "1 held, 0 failed.\n"]);
});

test("[POL-18] a file of expectations that isn't one is told with its line", async () => {
  const { run, path } = await place({ "wrong.yaml": "- {command: x}\n" });
  const { code, stderr } = await run("test", path("wrong.yaml"));

  expect(code).toBe(1);
  expect(stderr).toContain(`${path("wrong.yaml")}:1:3: decision must be one of auto, ask, deny.`);
});

test("[POL-18] init writes a whole file for its owner alone, once", async () => {
  const { run, path } = await place();
  const first = await run("init");
  const second = await run("init");

  expect([first.code, first.stdout]).toEqual([0, `${path("policy.yaml")}\n`]);
  expect((await stat(path("policy.yaml"))).mode & 0o777).toBe(0o600);
  expect((await run("check")).code).toBe(0);
  expect([second.code, second.stderr]).toEqual([
    1,
    `sidestick: There is a policy file already: ${path("policy.yaml")}. Edit it; then: sidestick policy check\n`,
  ]);
});

test("[POL-18] schema prints the JSON schema", async () => {
  const { run } = await place();

  expect(JSON.parse((await run("schema")).stdout)).toEqual(policySchema());
});
