/** Lets whoever sits at the terminal change a text in their own editor. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CannotRun, UsageError } from "./exit.ts";

export async function editedText(text: string): Promise<string> {
  const editor = process.env.VISUAL ?? process.env.EDITOR;
  if (editor === undefined || !process.stdin.isTTY) {
    throw new UsageError("Say what is to run with --command TEXT, or at a terminal set EDITOR.");
  }
  const directory = await mkdtemp(join(tmpdir(), "sidestick-edit-"));
  const file = join(directory, "command.sh");
  try {
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    // A word of the shell: people write `code --wait` there.
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new CannotRun("The editor failed, so nothing was decided.", "Use --command TEXT.");
    return (await readFile(file, "utf8")).replace(/\n$/, "");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
