import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { PtyWriter } from "./pty-writer.ts";
import { Pty } from "./pty.ts";
import { soakCount } from "../../../test/support/soak.ts";

const MEGABYTES = soakCount(10);
const SIZE = MEGABYTES * 1024 * 1024;

async function reader(script: string): Promise<{ readonly writer: PtyWriter; readonly pty: Pty }> {
  let output = "";
  const exited = Promise.withResolvers<void>();
  const pty = new Pty(
    {
      file: "/bin/bash",
      args: ["--norc", "-c", script],
      env: { PATH: "/usr/bin:/bin" },
      cwd: await temporaryDirectory(),
      size: { cols: 80, rows: 24 },
    },
    {
      data: (bytes) => {
        if (output.length < 100) output += bytes.toString("latin1");
      },
      exit: () => exited.resolve(),
    },
  );
  onTestFinished(async () => {
    if (pty.open) process.kill(pty.pid, "SIGKILL");
    await exited.promise;
  });
  await eventually(() => expect(output).toContain("go"));
  return { writer: new PtyWriter(pty), pty };
}

test.each(["icanon echo", "icanon -echo", "raw -echo"])(
  "[PTY-6] megabytes arrive whole and in order in a terminal set to %s",
  async (modes) => {
    const file = join(await temporaryDirectory(), "taken");
    const { writer } = await reader(`stty ${modes}; echo go; head -c ${SIZE} > ${file}`);
    const sent = Buffer.from(Array.from({ length: SIZE / 64 }, (_, line) => `${line}\n`.padStart(64, "x")).join(""));

    writer.write(sent);

    await eventually(async () => expect((await stat(file)).size).toBe(SIZE));
    expect(digest(await readFile(file))).toBe(digest(sent));
    expect(writer.waiting).toBe(0);
  },
);

test("[PTY-50] what is held goes in, in order, once it is not held any longer", async () => {
  const file = join(await temporaryDirectory(), "taken");
  const { pty } = await reader(`stty raw -echo; echo go; head -c 6 > ${file}`);
  let isHeld = true;
  const writer = new PtyWriter(
    pty,
    () => undefined,
    () => isHeld,
  );

  for (const text of ["one", "two"]) writer.write(Buffer.from(text));
  const { waiting } = writer;
  isHeld = false;

  await eventually(async () => expect(await readFile(file, "utf8")).toBe("onetwo"));
  expect([waiting, writer.waiting]).toEqual([6, 0]);
});

test("[PTY-7] what the terminal has not taken can be dropped, and its size is known", async () => {
  const { writer } = await reader("stty raw -echo; echo go; sleep 60");

  writer.write(Buffer.alloc(1_000_000, "x"));
  await eventually(() => expect(writer.waiting).toBeLessThan(1_000_000));
  const { waiting } = writer;

  expect([waiting > 0, writer.cancel() === waiting, writer.waiting]).toEqual([true, true, 0]);
});

test("[PTY-8] nothing is written once the terminal is closed", async () => {
  const { writer, pty } = await reader("stty raw -echo; echo go; sleep 60");
  writer.write(Buffer.alloc(1_000_000, "x"));

  pty.close();
  writer.write(Buffer.from("y"));

  await eventually(() => expect(writer.waiting).toBe(0));
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
