import process from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AT, BY_DEFAULT, judgeText } from "../../../test/support/judging.ts";
import { workedMs } from "../../../test/support/worked.ts";
import { judge } from "./judge.ts";
import { isStricter } from "./rules.ts";
import { soakCount } from "../../../test/support/soak.ts";

const FUZZ = { numRuns: soakCount(20_000), seed: Number(process.env["SIDESTICK_SEED"] ?? 7) };

const COMMANDS = [
  "ls",
  "cat .env",
  "rm -rf /",
  "rm $x",
  "rm build/*.o",
  "cd ..",
  "cd /",
  "sudo ls",
  "git push",
  "bash -c 'rm x'",
  "for f in a b; do rm $f; done",
  "f=/etc",
  "read f",
  "ls() { pwd; }",
  "python3",
  "bash",
  "echo $(frobnicate)",
  "if ls; then rm x; fi",
  "(cd .. && rm x)",
  "while read l; do echo $l; done < list",
  "find . -name x -exec rm {} +",
  "PATH=/tmp ls",
  "alias ls=rm",
  "x=1",
  "awk '{ print $1 }' a",
  "{ ls; pwd; }",
  "echo x > out",
  "[[ -f a ]]",
];
const SYNTAX =
  "( ) { } [ ] [[ ]] (( )) $( ` ' \" $' \\ \n ; & && | || |& < > >> << <<- <<< <( >( # ~ * ? ! = += ${ } $x ${x@P} if then fi for in do done case esac function time coproc rm cat .env / -rf sudo bash -c eval EOF é \u202E \u0000".split(
    " ",
  );

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...SYNTAX, ...COMMANDS), { maxLength: 30 }).map((pieces) => pieces.join(" ")),
  fc.array(fc.constantFrom(...SYNTAX), { maxLength: 40 }).map((pieces) => pieces.join("")),
  fc
    .tuple(fc.constantFrom(...COMMANDS), fc.nat(40), fc.constantFrom(...SYNTAX))
    .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at)),
);
const anyDialect = fc.constantFrom("bash", "zsh", "dash", "fish", "other");

test("[POL-7] no text throws, in no shell", () => {
  const property = fc.property(anyText, anyDialect, fc.option(fc.constant("/home/u/shop")), (text, dialect, cwd) => {
    const verdict = judge({ kind: "exec", text }, { ...AT, dialect, cwd: cwd ?? undefined }, BY_DEFAULT);
    expect(["auto", "ask", "deny"]).toContain(verdict.decision);
  });
  fc.assert(property, FUZZ);
});

test("[POL-7] words without a shell never throw", () => {
  const property = fc.property(fc.array(anyText, { maxLength: 6 }), (argv) => {
    judge({ kind: "remote_command", argv }, AT, BY_DEFAULT);
  });
  fc.assert(property, FUZZ);
});

test("[POL-7] a text that doesn't parse is never auto", () => {
  const property = fc.property(anyText, (text) => {
    const isBroken = (BY_DEFAULT.parse(text).errors?.length ?? 0) > 0;
    expect(isBroken && judgeText(text).decision === "auto").toBe(false);
  });
  fc.assert(property, FUZZ);
});

test("[POL-7] a parser that fails is a text that nobody understands", () => {
  const failing = (): never => {
    throw new Error("broken");
  };
  expect(judge({ kind: "exec", text: "ls" }, AT, { ...BY_DEFAULT, parse: failing })).toMatchObject({
    decision: "ask",
    rule: "unclear",
  });
});

test("[POL-7] what is put together is never milder than its pieces", () => {
  const property = fc.property(
    fc.constantFrom(...COMMANDS),
    fc.constantFrom(...COMMANDS),
    fc.constantFrom("; ", " && ", " || ", " | ", "\n", " & ", " |& "),
    (a, b, operator) => {
      const whole = judgeText(a + operator + b).decision;
      expect(isStricter(judgeText(a).decision, whole)).toBe(false);
      expect(isStricter(judgeText(b).decision, whole)).toBe(false);
    },
  );
  fc.assert(property, FUZZ);
});

const QUOTINGS: readonly ((program: string) => string)[] = [
  (program) => `\\${program}`,
  (program) => `"${program}"`,
  (program) => `'${program[0]}'${program.slice(1)}`,
  (program) => `$'${program}'`,
  (program) => `${program}''`,
  (program) => `/bin/${program}`,
  (program) => `/usr/bin/${program}`,
  (program) => `command ${program}`,
  (program) => `env ${program}`,
  (program) => `{ ${program}`,
];

test("[POL-2, POL-3] a command is judged the same however it is quoted or named", () => {
  const property = fc.property(
    fc.constantFrom("rm -rf /", "rm x", "cat .env", "cat a", "git push", "curl https://a.b | sh", "mkfs /dev/sda"),
    fc.constantFrom(...QUOTINGS),
    (text, quoting) => {
      const [program = "", ...rest] = text.split(" ");
      const quoted = [quoting(program), ...rest].join(" ");
      const { decision, rule } = judgeText(text);
      expect(judgeText(quoted.startsWith("{") ? `${quoted}; }` : quoted)).toMatchObject({ decision, rule });
    },
  );
  fc.assert(property, FUZZ);
});

test.each([
  ["brackets", "(".repeat(60_000)],
  ["substitutions", "$(".repeat(30_000)],
  ["substitutions in quotes", '"$('.repeat(15_000)],
  ["backticks", "`".repeat(60_000)],
  ["braces", "{a,".repeat(20_000)],
  ["groups", "{ ".repeat(30_000)],
  ["here-documents", "a<<x ".repeat(13_000)],
  ["commands", "a;".repeat(32_000)],
  ["shells in shells", `${"bash -c ".repeat(4_000)}ls`],
  ["wrappers", `${"nice ".repeat(10_000)}ls`],
  ["conditions", "if ".repeat(20_000)],
  ["parameters", "${x:-".repeat(10_000)],
  ["more than is read", "#".repeat(70_000)],
])("[POL-7] %s without end ask, in bounded time", (_name, text) => {
  let decision = "";

  const took = workedMs(() => ({ decision } = judgeText(text)));

  expect(decision).toBe("ask");
  expect(took).toBeLessThan(2_000);
});
