/** What every adapter of `PolicyFiles` keeps. */
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import type { PolicyFiles } from "../hub/ports.ts";

export type PolicyFilesSubject = {
  readonly files: PolicyFiles;
  /** Absent: the global one. */
  readonly write: (text: string, workspaceId?: string) => Promise<void>;
  readonly remove: (workspaceId?: string) => Promise<void>;
};

export function policyFilesContract(open: () => Promise<PolicyFilesSubject>): void {
  test("[POL-10, POL-11] there may be none; the global one comes first", async () => {
    const { files, write } = await open();

    const none = await files.read();
    await write("rules: [2]", "web");
    await write("rules: [3]", "api");
    await write("rules: [1]");

    expect(none).toEqual([]);
    expect((await files.read()).map(({ workspaceId, value, problems }) => ({ workspaceId, value, problems }))).toEqual([
      { workspaceId: undefined, value: { rules: [1] }, problems: [] },
      { workspaceId: "api", value: { rules: [3] }, problems: [] },
      { workspaceId: "web", value: { rules: [2] }, problems: [] },
    ]);
  });

  test("[POL-13] it says where things stand", async () => {
    const { files, write } = await open();
    await write("# first\nrules:\n  - id: a\n    match: [x, y]\n");
    const [document] = await files.read();

    expect(document?.locate(["rules", 0, "match", 1])).toEqual({ line: 4, column: 16 });
    expect(document?.locate(["rules", 0, "id"])).toEqual({ line: 3, column: 5 });
    expect(document?.locate(["rules", 0, "reason"])).toEqual({ line: 3, column: 5 });
  });

  test.each([
    { wrong: "broken indentation", text: "rules:\n  - id: a\n bad", line: 3 },
    { wrong: "a key twice", text: "rules: []\nrules: []", line: 2 },
    { wrong: "an unknown tag", text: "rules: !!js/function x", line: 1 },
    { wrong: "a bomb of aliases", text: bomb(), line: 1 },
  ])("[POL-13] $wrong is a problem with a line, and no value", async ({ text, line }) => {
    const { files, write } = await open();
    await write(text);
    const [document] = await files.read();

    expect(document).not.toHaveProperty("value");
    expect(document?.problems[0]).toMatchObject({ file: document?.path, line, remedy: expect.any(String) });
  });

  test("[POL-14] a change is told once it was read, whatever changed", async () => {
    const { files, write, remove } = await open();
    await files.read();
    let told = 0;
    const watching = files.watch(() => {
      told += 1;
      void files.read();
    });
    onTestFinished(() => watching[Symbol.dispose]());
    const tells = async (change: () => Promise<void>): Promise<void> => {
      const before = told;
      await change();
      await eventually(() => expect(told).toBeGreaterThan(before));
    };

    await tells(() => write("rules: []"));
    await tells(() => write("rules: [1]"));
    await tells(() => write("rules: []", "web"));
    await tells(() => remove("web"));
    await tells(() => remove());
  });
}

/** Ten things, each ten times the one before. */
function bomb(): string {
  const lines = Array.from({ length: 10 }, (_, at) => {
    const item = at === 0 ? "x" : `*a${at - 1}`;
    return `a${at}: &a${at} [${Array.from({ length: 10 }, () => item).join(", ")}]`;
  });
  return lines.join("\n");
}
