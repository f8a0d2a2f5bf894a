/**
 * Writes the report of a run to the file that `SIDESTICK_RUN_REPORT` names, and while it runs a line for each finished
 * file to that of `SIDESTICK_RUN_PROGRESS`. Vitest loads it by its path.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";
import { isMissing, needsOf } from "./needs.ts";
import type { FileReport, ProgressLine, RunReport, TestReport } from "./report.ts";

type Failure = { readonly name?: string | undefined; readonly message: string; readonly stack?: string | undefined };

export default class RunReporter implements Reporter {
  #vitest: Vitest | undefined;
  #unhandled = 0;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: TestModule): void {
    const path = process.env["SIDESTICK_RUN_PROGRESS"];
    if (path === undefined) return;
    const errors = (this.#vitest?.state.getUnhandledErrors() ?? []) as Failure[];
    const line: ProgressLine = { file: fileReport(module), unhandled: errors.slice(this.#unhandled).map(textOf) };
    this.#unhandled = errors.length;
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Failure[]): void {
    const path = process.env["SIDESTICK_RUN_REPORT"];
    if (path === undefined) throw new Error("SIDESTICK_RUN_REPORT names no file");
    const report: RunReport = { files: modules.map(fileReport), unhandled: unhandled.map(textOf) };
    writeFileSync(path, JSON.stringify(report));
  }
}

function fileReport(module: TestModule): FileReport {
  const tests = [...module.children.allTests()];
  const suites = [...module.children.allSuites()];
  const file = relative(module.project.config.root, module.moduleId).replaceAll("\\", "/");
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
  const { state, errors } = test.result();
  const error = errors?.[0];
  // If every test of a file is skipped, vitest leaves them `pending`.
  const missing = state === "skipped" || state === "pending" ? needsOf(file, test.fullName).filter(isMissing) : [];
  return {
    title: test.fullName,
    // One that never got its turn, because a worker died or a hook failed, proved nothing.
    state: state !== "pending" ? state : missing.length > 0 ? "skipped" : "failed",
    ms: test.diagnostic()?.duration ?? 0,
    ...(error !== undefined && { error: textOf(error) }),
    ...(missing.length > 0 && { missing }),
  };
}

function textOf({ name, message, stack }: Failure): string {
  const [, ...frames] = (stack ?? "").split("\n    at ");
  const place = frames.find((it) => !it.includes("node_modules"));
  return `${name === undefined ? "" : `${name}: `}${message}${place === undefined ? "" : ` (${shortPlace(place)})`}`;
}

/** `src/a.test.ts:3:5`, as an editor opens it. */
function shortPlace(frame: string): string {
  return frame
    .trim()
    .replace("file://", "")
    .replace(`${process.cwd()}/`, "")
    .replace(/\?vitest=\d+/, "");
}
