/**
 * Writes a line for each test file that begins or ends, and one when the run is over, to the file that
 * `SIDESTICK_RUN_PROGRESS` names. Vitest loads it by its path.
 */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { isMissing, needsOf } from "./needs.ts";
import type { FileReport, ProgressLine, TestReport } from "./report.ts";

/** What was thrown, which may be anything: a program may even set an error's stack to a number. */
type Failure = {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  /** Of an error outside of tests: the file and the test that ran then. */
  readonly VITEST_TEST_PATH?: unknown;
  readonly VITEST_TEST_NAME?: unknown;
};

export default class RunReporter implements Reporter {
  readonly #ended = new Set<string>();
  #vitest: Vitest | undefined;
  #unhandled = 0;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    endWithRunner();
  }

  onTestModuleQueued(module: TestModule): void {
    write({ started: pathOf(module) });
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended.add(module.id);
    write({ ended: fileReport(module), unhandled: this.#newErrors() });
  }

  /** A file whose worker died never ended. */
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) if (!this.#ended.has(module.id)) this.onTestModuleEnd(module);
    write({ over: true, unhandled: this.#newErrors() });
  }

  #newErrors(): string[] {
    const errors = this.#vitest?.state.getUnhandledErrors() ?? [];
    const from = this.#unhandled;
    this.#unhandled = errors.length;
    return errors.slice(from).map(textOf);
  }
}

/** A runner that is killed outright can't end its vitest, which would go on and write on. */
function endWithRunner(): void {
  const runner = process.ppid;
  setInterval(() => process.ppid !== runner && process.kill(process.pid, "SIGTERM"), 1_000).unref();
}

function write(line: ProgressLine): void {
  const path = process.env["SIDESTICK_RUN_PROGRESS"];
  if (path === undefined) throw new Error("SIDESTICK_RUN_PROGRESS names no file");
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

function pathOf(module: TestModule): string {
  return relative(module.project.config.root, module.moduleId).replaceAll("\\", "/");
}

function fileReport(module: TestModule): FileReport {
  const tests = [...module.children.allTests()];
  const suites = [...module.children.allSuites()];
  const file = pathOf(module);
  const { prepareDuration, collectDuration, duration } = module.diagnostic();
  return {
    file,
    ms: prepareDuration + collectDuration + duration,
    isLoaded: tests.length > 0,
    errors: [module, ...suites].flatMap((it) => it.errors().map(textOf)),
    tests: tests.map((it) => testReport(file, it)),
  };
}

function testReport(file: string, test: TestCase): TestReport {
  const { state, errors = [] } = test.result();
  // If every test of a file is skipped, vitest leaves them `pending`.
  const missing = state === "skipped" || state === "pending" ? needsOf(file, test.fullName).filter(isMissing) : [];
  // One that never got its turn, because a worker died or a hook failed, proved nothing.
  const isWaiting = state === "pending" && missing.length === 0;
  // Passed in the end, it shows nothing that a second run wouldn't have to show.
  const isRetried = state === "passed" && (test.diagnostic()?.retryCount ?? 0) > 0;
  const [error] = isWaiting
    ? ["it never got its turn"]
    : isRetried
      ? ["it passed only when it was tried again"]
      : errors.map(textOf);
  return {
    title: oneLine(test.fullName),
    state: isWaiting || isRetried ? "failed" : state === "pending" ? "skipped" : state,
    ms: test.diagnostic()?.duration ?? 0,
    ...(error !== undefined && { error }),
    ...(missing.length > 0 && { missing }),
  };
}

/** Its first line says where it happened: a summary shows no other. */
function textOf(thrown: unknown): string {
  const failure: Failure = typeof thrown === "object" && thrown !== null ? thrown : { message: thrown };
  const { name, message, stack, cause, VITEST_TEST_PATH: file, VITEST_TEST_NAME: test } = failure;
  const place = placeIn(typeof stack === "string" ? stack : "");
  const during =
    typeof file === "string" ? ` in ${shortPlace(file)}${typeof test === "string" ? ` > ${test}` : ""}` : "";
  const [first = "", ...others] = `${typeof name === "string" ? `${name}: ` : ""}${shown(message)}`.split("\n");
  return [`${first}${causeOf(cause)}${place === undefined ? "" : ` (${place})`}${during}`, ...others].join("\n");
}

function shown(message: unknown): string {
  return typeof message === "string" ? message : String(message);
}

/** The first frame of ours. What can't be parsed has none: there the file and the line stand above the frames. */
function placeIn(stack: string): string | undefined {
  const [head = "", ...frames] = stack.split("\n    at ");
  const frame = frames.find((it) => !/node_modules|node:|<anonymous>/.test(it));
  const parsed = /^(?:file:\/\/)?(\/[^\n]+:\d+)$/m.exec(head)?.[1];
  return frame === undefined ? parsed && shortPlace(parsed) : shortPlace(frame);
}

/** That of a worker that died says which file it ran. */
function causeOf(cause: unknown): string {
  const { message } = (cause ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? `: ${message}` : "";
}

/** `src/a.test.ts:3:5`, as an editor opens it. */
function shortPlace(frame: string): string {
  return frame
    .trim()
    .replace("file://", "")
    .replace(`${process.cwd()}/`, "")
    .replace(/\?vitest=\d+/, "");
}

/** A title may hold anything, a whole line that looks like ours too. */
function oneLine(title: string): string {
  return title.replaceAll(/\p{Cc}+/gu, " ");
}
