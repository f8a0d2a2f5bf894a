import { expect, test } from "vitest";
import { shellChanges } from "./shell-changes.ts";
import { readShellState, type ToldShell } from "./shell-state.ts";
import { quotedLines, unquoted } from "./shell-words.ts";

const told = (sections: Readonly<Record<string, string>>): string =>
  `${Object.entries(sections)
    .map(([name, text]) => `\0${name}\0${text}`)
    .join("")}\0end\0`;

const state = (sections: Readonly<Record<string, string>>, shell: ToldShell = "bash") =>
  readShellState(shell, told(sections));

test("[GRD-28] words are read as a shell quotes them, and a newline in quotes ends no line", () => {
  const text = "a='b\nc'\\''d'\nx=\"y\\\"\nz\"\nv=$'p\\nq\\'r'\n";

  expect(quotedLines(text)).toEqual(["a='b\nc'\\''d'", 'x="y\\"\nz"', "v=$'p\\nq\\'r'"]);
  expect(quotedLines(text).map(unquoted)).toEqual(["a=b\nc'd", 'x=y"\nz', "v=p\nq'r"]);
});

test("[GRD-28] a body that looks like the next function hides no function", () => {
  const names = "declare -f a\ndeclare -f b\n";
  const before = state({ names, functions: "a () \n{ \n    :\n}\nb () \n{ \n    :\n}\n" });
  const fake = "a () \n{ \n    cat <<X\nb () \n{ \n    :\n}\nX\n}\n";

  const changes = shellChanges(before, state({ names, functions: `${fake}b () \n{ \n    evil\n}\n` }));

  expect(changes.map(({ name }) => name)).toEqual(["a", "b"]);
});

test("[GRD-28] a value that looks like another variable is none", () => {
  const before = state({ environment: 'declare -x A="1"\n' });

  const changes = shellChanges(before, state({ environment: 'declare -x A="1\ndeclare -x B="\ndeclare -x C="3"\n' }));

  expect(changes).toEqual([
    { kind: "environment", name: "A", before: "1", after: "1\ndeclare -x B=" },
    { kind: "environment", name: "C", after: "3" },
  ]);
});

test("[GRD-28] a line that can't be read is told as it is", () => {
  const changes = shellChanges(state({}), state({ aliases: "alias what is this\n" }));

  expect(changes).toEqual([{ kind: "alias", name: "alias what is this", after: "" }]);
});

test("[GRD-28] secrets are masked by value and by name; long values are cut", () => {
  const environment = `declare -x PASSWORD="hunter2hunter2"\ndeclare -x LONG="${"x".repeat(5_000)}"\n`;

  const changes = shellChanges(
    state({}),
    state({ environment, aliases: "alias a='curl -u me:ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'\n" }),
  );

  expect(JSON.stringify(changes)).not.toMatch(/hunter2|aB3dE5/);
  expect(changes.find((it) => it.name === "LONG")?.after).toHaveLength(1_001);
});

test("[GRD-28] a program is hashed elsewhere if PATH doesn't lead to it", () => {
  const hash = "builtin hash -p /usr/bin/ls ls\nbuiltin hash -p /tmp/ls ls\nbuiltin hash -p /usr/bin/evil cat\n";

  expect(shellChanges(state({ path: "/usr/bin/:/bin" }), state({ path: "/usr/bin/:/bin", hash }))).toEqual([
    { kind: "hash", name: "cat", after: "/usr/bin/evil" },
    { kind: "hash", name: "ls", after: "/tmp/ls" },
  ]);
});

test("[GRD-29] what breaks off is not complete, and says nothing of what it doesn't name", () => {
  const before = state({ aliases: "alias a='1'\n", options: "emacs" });
  const after = readShellState("bash", "export -f builtin\n");

  expect(after.complete).toBe(false);
  expect(shellChanges(before, after)).toEqual([{ kind: "function", name: "builtin", after: "a function" }]);
});

test.each(["bash", "zsh", "fish", "dash"] as const)("[GRD-29] whatever %s writes, reading it ends", (shell) => {
  const noise = ["'", '"', "\\", "$'", "\0", "\n", "%", "%E0%A4%A", "declare -f ", " () \n", "bindkey ", "Event "];
  const texts = noise.flatMap((one) =>
    noise.map((other) => told({ functions: one + other, aliases: other, traps: one })),
  );

  for (const text of [...texts, noise.join("").repeat(2_000)]) {
    expect(shellChanges(state({}, shell), readShellState(shell, text))).toBeInstanceOf(Array);
  }
});
