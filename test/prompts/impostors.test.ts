/** Programs that only call themselves by a name that people trust with a password. */
import { chmod, copyFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";
import { startTerminalHub } from "../support/terminal-hub.ts";
import { asking } from "./asking-hub.ts";

const ASK = "import getpass; getpass.getpass('[sudo] password for ann: ')";

test("[PMT-102] a script, a copy and a process that is only called sudo are shown as what they are", async () => {
  const hub = await startTerminalHub();
  const python = await realpath("/usr/bin/python3");
  const [script, copy] = [join(await temporaryDirectory(), "sudo"), join(await temporaryDirectory(), "sudo")];
  await writeFile(script, `#!${python}\n${ASK}\n`);
  await copyFile(python, copy);
  await Promise.all([script, copy].map((path) => chmod(path, 0o755)));
  const renamed = `${python} -c "open('/proc/self/comm', 'w').write('sudo'); ${ASK}"`;

  const asked = [
    await asking(hub, script),
    await asking(hub, `PYTHONHOME=/usr ${copy} -c "${ASK}"`),
    await asking(hub, renamed),
  ];

  const programs = [`sudo (${python})`, `sudo (${copy})`, `sudo (${python})`];
  expect(asked.map(({ prompt }) => [prompt.program, prompt.warning])).toEqual(
    programs.map((it) => [it, `The question looks like one of sudo, but ${it} would read the answer.`]),
  );
});
