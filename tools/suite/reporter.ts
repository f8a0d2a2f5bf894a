/**
 * Writes a line for each test file that begins or ends, and one when the run is over, to the file that
 * `SIDESTICK_RUN_PROGRESS` names. Vitest loads it by its path.
 */
import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { isMissing, needsOf } from "./needs.ts";
import type { FileReport, ProgressLine, TestReport } from "./report.ts";

type Failure = {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: unknown;
};

export default class RunReporter implements Reporter {
  readonly #ended = new Set<string>();
  #vitest: Vitest | undefined;
  #unhandled = 0;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
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
    const errors = (this.#vitest?.state.getUnhandledErrors() ?? []) as Failure[];
    const from = this.#unhandled;
    this.#unhandled = errors.length;
    return errors.slice(from).map(textOf);
  }
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
  const [error] = isWaiting ? ["it never got its turn"] : errors.map(textOf);
  return {
    title: test.fullName,
    state: state !== "pending" ? state : isWaiting ? "failed" : "skipped",
    ms: test.diagnostic()?.duration ?? 0,
    ...(error !== undefined && { error }),
    ...(missing.length > 0 && { missing }),
  };
}

function textOf({ name, message, stack, cause }: Failure): string {
  const [, ...frames] = (stack ?? "").split("\n    at ");
  const place = frames.find((it) => !it.includes("node_modules"));
  return `${name === undefined ? "" : `${name}: `}${message}${causeOf(cause)}${place === undefined ? "" : ` (${shortPlace(place)})`}`;
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
