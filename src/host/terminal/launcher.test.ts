import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { closeServices, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { bootTimeMs } from "./boot-clock.ts";
import { readStat } from "./probe/processes.ts";
import { ShellProcess } from "./shell-process.ts";

afterAll(closeServices);

/** Whatever a launcher could change. */
async function traits(launcher: "perl" | "python3" | "none") {
  const directory = await temporaryDirectory();
  // PERL5OPT and PYTHONSTARTUP would break a launcher that listened to them, and so would the locale.
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: directory,
    TERM: "xterm",
    LC_ALL: "xx_YY.UTF-8",
    PERL5OPT: "-Mnothing",
    PYTHONHOME: "/nowhere",
    EMPTY: "",
    LINES2: "a=b\nc\u00e9",
  };
  const shell = await ShellProcess.start(
    { shell: "/bin/dash", cwd: directory, env, size: { cols: 80, rows: 24 }, directory, onNonce: () => {}, launcher },
    { data: () => undefined, exit: () => undefined },
  );
  await eventually(() => expect(shell.atPrompt).toBe(true));
  const proc = (name: string) => readFileSync(`/proc/${shell.pid}/${name}`, "latin1");
  const { directory: own, isItself, cwd, tracking } = shell;
  const seen = {
    environment: proc("environ").split("\0").toSorted().join("\n").replaceAll(own, "OWN").replaceAll(directory, "DIR"),
    arguments: proc("cmdline"),
    signals: proc("status").match(/^(Sig(Blk|Ign|Cgt)|Umask):.*$/gm),
    isItself,
    cwd: cwd?.replace(directory, "DIR"),
  };
  shell.tree.signal("SIGKILL");
  await shell.exited;
  return { seen, tracking };
}

test.each([{ launcher: "perl" }, { launcher: "python3" }] as const)(
  "[STP-2] a shell started by $launcher can't be told from one that was started without (needs $launcher)",
  async ({ launcher }) => {
    const [plain, launched] = [await traits("none"), await traits(launcher)];

    expect(launched.seen).toEqual(plain.seen);
    expect([plain.tracking, launched.tracking]).toEqual(["best_effort", "subreaper"]);
  },
);

const ORPHANS = [
  { how: "setsid", command: "setsid -f sleep 1000" },
  { how: "nohup", command: "(nohup sleep 1000 >/dev/null 2>&1 &)" },
  { how: "a double fork", command: "sh -c '(setsid sh -c \"sleep 1000 & sleep 1000 &\" &)'" },
  { how: "an emptied environment", command: "setsid -f env -i sleep 1000" },
];

test.each(ORPHANS)("[STP-1] what $how leaves behind is the shell's child", async ({ command }) => {
  const live = await LiveTerminal.open();

  await live.command(command);

  const pids = await live.running("sleep");
  await eventually(() => expect(readStat(pids[0]!)?.parent).toBe(live.terminal.shell.pid));
});

test("[STP-4] the clock of hand-overs is the one by which the kernel notes when a process began", async () => {
  const live = await LiveTerminal.open();
  const before = bootTimeMs();
  live.type("sleep 1000 &\r");
  const [pid] = await live.running("sleep");
  const after = bootTimeMs();

  const { startedAt } = readStat(pid!)!;

  expect(startedAt).toBeGreaterThan(before - 10);
  expect(startedAt).toBeLessThanOrEqual(after);
});
