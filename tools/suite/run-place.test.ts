import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { ROOT } from "../source-files.ts";
import { placeOfRuns } from "./run-place.ts";

const run = promisify(execFile);

test.each(["test.ts", "repeat.ts", "soak.ts", "mutants.ts"])(
  "[HSE-33] %s refuses a TMPDIR that can't be used before anything runs",
  async (script) => {
    const place = await temporaryDirectory();
    writeFileSync(join(place, "file"), "");
    const args = script === "repeat.ts" ? ["tools/options"] : [];
    const refused = async (directory: string) => {
      const env = { ...process.env, TMPDIR: directory };
      const { code, stdout, stderr } = await run(process.execPath, [join(ROOT, "tools", script), ...args], {
        env,
      }).then(
        () => ({ code: 0, stdout: "", stderr: "" }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
      return [code, stdout, stderr];
    };
    const told = (directory: string, code: string) => [
      1,
      "",
      `No directory can be made in ${directory} (${code}): set TMPDIR to a directory that you can write to\n`,
    ];

    const [missing, file] = [join(place, "missing"), join(place, "file")];
    expect(await refused(missing)).toEqual(told(missing, "ENOENT"));
    expect(await refused(file)).toEqual(told(file, "ENOTDIR"));
    expect(await refused("/proc")).toEqual(told("/proc", "ENOENT"));
  },
);

test("[HSE-33] where TMPDIR is too long for the sockets of tests, they use /tmp, and are told", async () => {
  const long = join(await temporaryDirectory(), "x".repeat(60));
  mkdirSync(long);
  const env = { ...process.env, TMPDIR: long };
  const script = `const { readOptions } = await import(${JSON.stringify(join(ROOT, "tools", "options.ts"))});
    const { placeOfRuns } = await import(${JSON.stringify(join(import.meta.dirname, "run-place.ts"))});
    console.log(readOptions([], "", () => placeOfRuns()));`;

  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { env });

  expect(stdout).toBe(
    `TMPDIR is ${Buffer.byteLength(long)} bytes long, and the sockets of tests leave room for 48: using /tmp instead\n/tmp\n`,
  );
  vi.stubEnv("TMPDIR", "/var/tmp");
  expect(placeOfRuns()).toBe("/var/tmp");
  vi.unstubAllEnvs();
});
