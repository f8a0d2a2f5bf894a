/** The thread in which patterns run: whatever one takes, it takes it from here and can be stopped. */
import { parentPort } from "node:worker_threads";
import { RE2JS } from "re2js";
import type { PatternAnswer, PatternCall } from "./patterns.ts";

/** Instructions of a compiled pattern; the time for a text grows with it. */
const PROGRAM_MAX = 5_000;
const CACHED = 64;
const NEWLINE = 10;
const EMPTY_WIDTH = 4;
const RUNE = 8;
const RUNE_ANY = 10;
/** Begin or end of the whole text. */
const TEXT_EDGE = 4 | 8;

type Instruction = { readonly op: number; readonly arg: number; matchRune(rune: number): boolean };

type Compiled = { readonly pattern: RE2JS; readonly crossesLines: boolean };
type Range = readonly [number, number] | undefined;

const compiled = new Map<string, Compiled>();
const port = parentPort;
if (port === null) throw new Error("this file is a thread");
port.on("message", (call: PatternCall) => port.postMessage(answer(call), []));
port.postMessage({ kind: "ready" } satisfies PatternAnswer, []);

function answer(call: PatternCall): PatternAnswer {
  try {
    const { pattern, crossesLines } = compile(call.pattern);
    if (call.kind === "compile") return { kind: "compiled", crossesLines };
    const { text, from } = call;
    if (from > 0) return { kind: "found", range: rangeIn(pattern, text, from) };
    // Whether is told by an automaton, ten times faster than where.
    if (!pattern.test(text)) return { kind: "found", range: undefined };
    return { kind: "found", range: crossesLines ? rangeIn(pattern, text, 0) : rangeByLine(pattern, text) };
  } catch (error) {
    return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
}

function rangeIn(pattern: RE2JS, text: string, from: number): Range {
  const matcher = pattern.matcher(text);
  return matcher.find(from) ? [matcher.start(), matcher.end()] : undefined;
}

/** Where it is, when it is in one line: the slow search has only that line to go through. */
function rangeByLine(pattern: RE2JS, text: string): Range {
  for (let begin = 0; begin <= text.length;) {
    const newline = text.indexOf("\n", begin);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(begin, end);
    const range = pattern.test(line) ? rangeIn(pattern, line, 0) : undefined;
    if (range !== undefined) return [begin + range[0], begin + range[1]];
    begin = end + 1;
  }
  return undefined;
}

function compile(source: string): Compiled {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = RE2JS.compile(source, RE2JS.MULTILINE);
  if (pattern.programSize() > PROGRAM_MAX) throw new Error("its repetitions make it too large");
  if (instructions(pattern).some((it) => it.op === EMPTY_WIDTH && (it.arg & TEXT_EDGE) !== 0)) {
    throw new Error(String.raw`\A, \z and (?-m) have no meaning in a text that goes on: use ^ and $`);
  }
  if (compiled.size >= CACHED) compiled.delete(compiled.keys().next().value!);
  const entry = { pattern, crossesLines: instructions(pattern).some(takesNewline) };
  compiled.set(source, entry);
  return entry;
}

function instructions(pattern: RE2JS): readonly Instruction[] {
  return (pattern.re2() as { prog: { inst: readonly Instruction[] } }).prog.inst;
}

function takesNewline(it: Instruction): boolean {
  if (it.op === RUNE_ANY) return true;
  return (it.op === RUNE || it.op === RUNE + 1) && it.matchRune(NEWLINE);
}
