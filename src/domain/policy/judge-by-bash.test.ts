/** Whether every program that a real bash runs is among the parts: texts are made, run among recorders, and judged. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { judgeText } from "../../../test/support/judging.ts";
import { soakCount } from "../../../test/support/soak.ts";

const RUNS = { numRuns: soakCount(3_000), seed: Number(process.env["SIDESTICK_SEED"] ?? 7) };

const place = mkdtempSync(join(tmpdir(), "ssp-"));
const [programs, empty] = [join(place, "bin"), join(place, "empty")];
/** A descriptor that everything inherits: it ends when the last program does. */
const RECORD = 3;
const NAMES = ["alpha", "beta", "gamma", "delta", "omega"];
const WRAPPERS = ["bash", "env", "nice", "timeout", "xargs", "nohup", "setsid"];

mkdirSync(programs);
mkdirSync(empty);
for (const name of NAMES) {
  writeFileSync(join(programs, name), `#!/bin/sh\necho ${name} >&${RECORD}\n`);
  chmodSync(join(programs, name), 0o755);
}
for (const name of WRAPPERS) {
  const path = execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
  symlinkSync(path, join(programs, name));
}
afterAll(() => rmSync(place, { recursive: true, force: true }));

const quotings: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `"${name}"`,
  (name) => `\\${name}`,
  (name) => `'${name[0]}'${name.slice(1)}`,
  (name) => `$'${name}'`,
  (name) => `command ${name}`,
  (name) => `env A=1 ${name}`,
  (name) => `nice -n 1 ${name}`,
  (name) => `timeout 5 ${name}`,
  (name) => `A=1 ${name} x >/dev/null 2>&1`,
  (name) => `eval ${name}`,
  (name) => `echo x | xargs ${name}`,
  (name) => `{${name},y}`,
  (name) => `jobs -x ${name}`,
  (name) => `bash -oc vi ${name}`,
  (name) => `bash +ec ${name}`,
  (name) => `echo x | xargs --max-lines ${name} echo`,
  (name) => `echo x | xargs --replace ${name} echo`,
  (name) => `timeout --sig INT 5 ${name}`,
];
const simple = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...quotings))
  .map(([name, quoting]) => quoting(name));

const inQuotes = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const frames: readonly ((a: string, b: string) => string)[] = [
  (a, b) => `${a}; ${b}`,
  (a, b) => `${a} && ${b}`,
  (a, b) => `${a} || ${b}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${a} |& ${b}`,
  (a, b) => `${a} & ${b}; wait`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `( ${a}; ${b} )`,
  (a, b) => `{ ${a}; ${b}; } >/dev/null`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `if ! ${a}; then :; else ${b}; fi`,
  (a, b) => `for i in 1 2; do ${a}; ${b}; done`,
  (a, b) => `for ((i = 0; i < 1; i++)); do ${a}; ${b}; done`,
  (a, b) => `until ${a}; do ${b}; done`,
  (a, b) => `case x in x) ${a} ;; *) ${b} ;; esac`,
  (a, b) => `f() { ${a}; }; f; ${b}`,
  (a, b) => `echo $(${a}) "$(${b})"`,
  (a, b) => `x=$(${a}); echo \${y:-$(${b})}`,
  (a, b) => `[[ -n $(${a}) ]] || ${b}`,
  (a, b) => `echo $((0 + $(${a}; echo 1))); ${b}`,
  (a, b) => `echo <(${a}) > >(${b})`,
  (a, b) => `while read l; do ${a}; done <<EOF\n$(${b})\nEOF`,
  (a, b) => `cat() { :; }; cat <<< "$(${a})"; ${b}`,
  (a, b) => `bash -c ${inQuotes(`${a}; ${b}`)}`,
  (a, b) => `bash <<'END'\n${a}\n${b}\nEND`,
  (a, b) => `eval ${inQuotes(`${a}; ${b}`)}`,
  (a, b) => `trap ${inQuotes(a)} EXIT; ${b}`,
  (a, b) => `(${a}); time ${b}`,
  (a, b) => `a[$(${a}; echo 1)]=$(${b})`,
  (a, b) => `coproc { ${a}; }; wait; ${b}`,
];
const text = fc
  .tuple(simple, fc.array(fc.tuple(simple, fc.constantFrom(...frames), fc.boolean()), { minLength: 1, maxLength: 3 }))
  .map(([first, rest]) => rest.reduce((whole, [next, frame, isFirst]) => framed(whole, next, frame, isFirst), first));

/** A here-document ends at a line: nothing can follow it there. */
function framed(whole: string, next: string, frame: (typeof frames)[number], isFirst: boolean): string {
  if (/<</.test(whole)) return `${whole}\n${next}`;
  return isFirst ? frame(whole, next) : frame(next, whole);
}

test("[POL-2, POL-3] every program that bash runs is a part", () => {
  let ran = 0;
  const property = fc.property(text, (each) => {
    const { output } = spawnSync(join(programs, "bash"), ["--norc", "--noprofile", "-c", each], {
      cwd: empty,
      env: { PATH: programs },
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      encoding: "utf8",
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    const recorded = new Set((output[RECORD] ?? "").split("\n").filter(Boolean));
    const found = new Set(judgeText(each).parts.map((part) => part.program));

    expect([...recorded].filter((name) => !found.has(name))).toEqual([]);
    ran += recorded.size;
  });
  fc.assert(property, RUNS);
  expect(ran).toBeGreaterThan(RUNS.numRuns);
});
