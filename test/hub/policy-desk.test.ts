import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "unbash";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import type { Circumstances } from "../../src/domain/policy/action.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { PolicyDirectory } from "../../src/store/policy/policy-directory.ts";
import { PolicyDesk } from "../../src/hub/policy-desk.ts";
import { EXAMPLE_CIRCUMSTANCES } from "../../src/hub/policy-reader.ts";

type Files = Readonly<Record<string, string>>;

/** By name: `policy.yaml`, `policies/web.yaml`. */
async function deskOver(files: Files) {
  const dataDir = await temporaryDirectory();
  const write = async (name: string, text: string): Promise<void> => {
    const path = join(dataDir, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, text, { mode: 0o600 });
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const lines: string[] = [];
  const places = { file: join(dataDir, "policy.yaml"), isNamed: false, directory: join(dataDir, "policies") };
  const logger = createLogger("info", (line) => lines.push(line));
  const desk = new PolicyDesk({ files: new PolicyDirectory(places, 10), parse, logger, ours: ["/home/u/keep"] });
  onTestFinished(() => desk.stop());
  return { desk, dataDir, write, lines };
}

async function started(files: Files) {
  const opened = await deskOver(files);
  await opened.desk.start();
  return opened;
}

/** Told, without the directory. */
async function refusal(files: Files): Promise<string[]> {
  const { desk, dataDir } = await deskOver(files);
  const told = await desk.start().then(
    () => "started",
    (error: Error) => error.message,
  );
  return told
    .replaceAll(`${dataDir}/`, "")
    .split("\n")
    .slice(1)
    .map((it) => it.trim());
}

const PERSON = { kind: "person", id: "ann" } as const;

const ruling = (desk: PolicyDesk, text: string, circumstances: Partial<Circumstances> = {}) => {
  const { decision, rule } = desk.judge({ kind: "exec", text }, { ...EXAMPLE_CIRCUMSTANCES, ...circumstances }, PERSON);
  return `${decision} ${rule}`;
};

const rule = (id: string, decision: string, rest: string): string =>
  `  - {id: ${id}, decision: ${decision}, reason: because, ${rest}}\n`;

describe("what applies", () => {
  test("[POL-10] without a file the default applies", async () => {
    const { desk } = await started({});

    expect(ruling(desk, "git status")).toMatch(/^auto /);
    expect(ruling(desk, "sudo reboot")).toMatch(/^(?:ask|deny) /);
    expect(desk.applied.global.file).toBeUndefined();
  });

  test("[POL-10] a file's rules come first, the default's after them, and the first that matches decides", async () => {
    const text = `rules:\n${rule("one", "deny", "command: git status")}${rule("two", "auto", "command: git")}`;
    const { desk } = await started({ "policy.yaml": text });

    expect([ruling(desk, "git status"), ruling(desk, "git log")]).toEqual(["deny one", "auto two"]);
    expect(ruling(desk, "ls")).toBe(ruling((await started({})).desk, "ls"));
  });

  test("[POL-10] with extends: none nothing of the default is left", async () => {
    const bare = await started({ "policy.yaml": "extends: none\n" });
    const said = await started({ "policy.yaml": "extends: none\ndefault: deny\n" });

    expect([ruling(bare.desk, "ls"), ruling(said.desk, "ls")]).toEqual(["ask otherwise", "deny otherwise"]);
  });

  test("[POL-11] a workspace's own file makes it stricter there, never milder", async () => {
    const { desk } = await started({
      "policy.yaml": `extends: none\ndefault: auto\nrules:\n${rule("push", "ask", "command: git push")}`,
      "policies/web.yaml": `rules:\n${rule("mild", "auto", "command: git push")}${rule("no", "deny", "command: npm")}`,
    });
    const web = { workspaceId: "web" };

    expect([ruling(desk, "npm ci"), ruling(desk, "npm ci", web)]).toEqual(["auto otherwise", "deny no"]);
    expect([ruling(desk, "git push"), ruling(desk, "git push", web)]).toEqual(["ask push", "ask push"]);
    expect(ruling(desk, "ls", web)).toBe("auto otherwise");
  });

  test("[POL-15] what is ours can't be written, whatever the circumstances say", async () => {
    const { desk } = await started({});

    expect(ruling(desk, "echo x > /home/u/keep/policy.yaml", { ours: [] })).toMatch(/^deny /);
    expect(ruling(desk, "echo x > /home/u/project/policy.yaml", { ours: [] })).toMatch(/^auto /);
  });

  test("[POL-7] an agent that has it judge without end is refused; a person and another agent aren't", async () => {
    const { desk } = await started({});
    const long = { kind: "exec", text: "ls a; ".repeat(8_000) } as const;
    const judged = (kind: "agent" | "person", id: string) => () =>
      desk.judge(long, EXAMPLE_CIRCUMSTANCES, { kind, id });
    const until = performance.now() + 20_000;

    const flood = () => {
      while (performance.now() < until) judged("agent", "bot")();
    };

    expect(flood).toThrow(expect.objectContaining({ code: "limit_reached" }) as Error);
    expect(judged("agent", "other")).not.toThrow();
    expect(judged("person", "ann")).not.toThrow();
  });

  test("[POL-16] the version follows what is said, not how it is written, and is in every verdict", async () => {
    const versionOf = async (files: Files, workspaceId = "default"): Promise<string> => {
      const { desk } = await started(files);
      return desk.judge({ kind: "exec", text: "ls" }, { ...EXAMPLE_CIRCUMSTANCES, workspaceId }, PERSON).policyVersion;
    };
    const text = `rules:\n${rule("a", "deny", "command: x")}`;
    const other = `# said otherwise\nrules:\n  - reason: because\n    id: a\n    command: x\n    decision: deny\n`;
    const [bare, one, same, changed, web, elsewhere] = [
      await versionOf({}),
      await versionOf({ "policy.yaml": text }),
      await versionOf({ "policy.yaml": other }),
      await versionOf({ "policy.yaml": text.replace("deny", "ask") }),
      await versionOf({ "policy.yaml": text, "policies/web.yaml": text }, "web"),
      await versionOf({ "policy.yaml": text, "policies/web.yaml": text }),
    ];

    expect([same, elsewhere]).toEqual([one, one]);
    expect(new Set([bare, one, changed, web]).size).toBe(4);
  });

  test("[POL-17] a rule can meet a session whose guard is missing", async () => {
    const text = `extends: none\ndefault: auto\nrules:\n${rule("bare", "ask", "missing_guard: true")}`;
    const { desk } = await started({ "policy.yaml": text });

    expect(ruling(desk, "ls", { isGuardMissing: true })).toBe("ask bare");
    expect(ruling(desk, "ls")).toBe("auto otherwise");
  });
});

describe("a broken file", () => {
  test("[POL-13, POL-14] stops the start, and says where and what to do", async () => {
    const told = await refusal({
      "policy.yaml": "rules:\n  - id: a\n    decision: maybe\n    comand: x\n    reason: y\n",
      "policies/web.yaml": "extends: none\n",
    });

    expect(told).toEqual([
      "policy.yaml:3:5: decision must be one of auto, ask, deny. `sidestick policy schema` says what is allowed.",
      'policy.yaml:4:5: unknown field "comand". Remove it or mend its spelling; `sidestick policy schema` lists the fields.',
      "policies/web.yaml:1:1: a workspace's file extends nothing: it only makes the global policy stricter. Remove extends.",
    ]);
  });

  test("[POL-13] ids are one rule's each, and not ours", async () => {
    const text = `rules:\n${rule("a", "ask", "command: x")}${rule("a", "ask", "command: y")}${rule("unclear", "ask", "command: z")}`;

    expect(await refusal({ "policy.yaml": text })).toEqual([
      'policy.yaml:3:6: the id "a" is already that of a rule of this file. Give each rule an id of its own.',
      'policy.yaml:4:6: the id "unclear" is already that of a rule of Sidestick\'s own. Give each rule an id of its own.',
    ]);
  });

  test("[POL-13] a rule does what its examples say, or it is an error", async () => {
    const one = rule("send", "ask", "command: git push, match: [git pull, cd x && git push], not_match: [git push -f]");
    const two = rule("never", "deny", "command: git push, match: [git push origin]");

    expect(await refusal({ "policy.yaml": `extends: none\nrules:\n${one}${two}` })).toEqual([
      'policy.yaml:3:75: rule "send" doesn\'t match its example: git pull. Change the rule or the example.',
      'policy.yaml:3:116: rule "send" matches what it says it doesn\'t: git push -f. Change the rule or the example.',
      'policy.yaml:4:77: rule "send", which stands before "never", decides its example otherwise: git push origin. Change the rule or the example.',
    ]);
  });

  test("[POL-13] a rule before it that decides the same is no error; what lets one part through hasn't let all through", async () => {
    const one = rule("one", "ask", "command: git push");
    const two = rule("two", "ask", "command: git push, match: [git push origin]");
    const three = rule("three", "auto", "command: ls, match: [ls], not_match: [ls && x]");

    await started({ "policy.yaml": `extends: none\nrules:\n${one}${two}${three}` });
    const all = three.replace("ls && x", "ls && ls");
    expect(await refusal({ "policy.yaml": `extends: none\nrules:\n${all}` })).toHaveLength(1);
  });

  test("[POL-13] examples are tried where the rule says that it holds", async () => {
    const guarded = rule("g", "deny", "command: x, containment: [guard], workspaces: [web], match: [x]");
    const bare = rule("m", "ask", "missing_guard: true, match: [x]");
    const typed = rule("t", "ask", "actions: [navigate], match: ['https://example.com']");

    await started({
      "policy.yaml": `rules:\n${guarded}${bare}${typed}`,
      "policies/api.yaml": `rules:\n${rule("w", "ask", "command: x, match: [x]")}`,
    });
  });
});

describe("a change", () => {
  const SAYS = (decision: string): string => `extends: none\ndefault: ${decision}\n`;

  test("[POL-14] is taken up: edited in place, put there by a rename, removed", async () => {
    const { desk, dataDir, write } = await started({ "policy.yaml": SAYS("deny") });
    const is = (expected: string) => eventually(() => expect(ruling(desk, "git status")).toMatch(expected));

    await is("deny otherwise");
    await write("policy.yaml", SAYS("ask"));
    await is("ask otherwise");
    await write("new", SAYS("auto"));
    await rename(join(dataDir, "new"), join(dataDir, "policy.yaml"));
    await is("auto otherwise");
    await write("policies/default.yaml", "default: deny\n");
    await is("deny otherwise");
    await rm(join(dataDir, "policies"), { recursive: true });
    await is("auto otherwise");
    await rm(join(dataDir, "policy.yaml"));
    await eventually(() => expect(desk.applied.global.file).toBeUndefined());
  });

  test("[POL-14] that breaks a file changes nothing but what is told, until it is mended", async () => {
    const { desk, dataDir, write, lines } = await started({ "policy.yaml": SAYS("deny") });
    const before = desk.applied;
    await write("policy.yaml", "default: [\n");
    await eventually(() => expect(desk.problems).toHaveLength(1));

    expect(desk.problems[0]).toMatchObject({ file: join(dataDir, "policy.yaml"), line: 2 });
    expect([desk.applied, ruling(desk, "ls")]).toEqual([before, "deny otherwise"]);
    expect(lines.join("")).toContain("a policy file is broken, so the policy stays as it was");

    await write("policy.yaml", SAYS("ask"));
    await eventually(() => expect(desk.problems).toEqual([]));
    expect(ruling(desk, "ls")).toBe("ask otherwise");
  });

  test("[POL-14] that breaks one file keeps the others as they were too", async () => {
    const { desk, write } = await started({ "policy.yaml": SAYS("deny") });
    await write("policies/web.yaml", "nonsense: 1\n");
    await write("policy.yaml", SAYS("auto"));
    await eventually(() => expect(desk.problems).toHaveLength(1));

    expect(ruling(desk, "ls")).toBe("deny otherwise");
  });
});
