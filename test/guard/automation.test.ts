/**
 * The rows of docs/AUTOMATION_COMPAT.md, with the real programs: what a tool can type where, from inside a session whose
 * agent doesn't drive, and what a stop leaves of it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawn as spawnPty } from "@lydell/node-pty";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { GuardTerms } from "../../src/protocol/link.ts";
import { sshServer } from "../fixtures/programs/ssh-server.ts";
import { eventually } from "../support/eventually.ts";
import { closeServices, isAlive, LiveTerminal } from "../support/live-terminal.ts";
import { temporaryDirectory } from "../support/temporary.ts";

afterAll(closeServices);

const isRoot = process.getuid?.() === 0;
/** A server that was just ended may still hold its name. */
let servers = 0;
const newName = (): string => `ssa${process.pid}-${(servers += 1)}`;

type Level = "open" | "guard";

function open(level: Level, terms: GuardTerms = {}): Promise<LiveTerminal> {
  return LiveTerminal.open("/bin/bash", level === "guard" ? { ours: [], terms } : undefined);
}

/** What a script inside ends with. */
async function tried(live: LiveTerminal, script: string): Promise<number> {
  writeFileSync(live.path("attempt"), script);
  await live.command("bash ~/attempt </dev/tty >~/out 2>&1; echo $? >~/code");
  return Number(readFileSync(live.path("code"), "utf8"));
}

/** A program of the person's that waits for a line, and what it got. */
class Waiting {
  readonly command: readonly string[];
  readonly #file: string;

  private constructor(directory: string) {
    this.#file = join(directory, "got");
    this.command = ["sh", "-c", `read it; echo "$it" > ${this.#file}; exec sleep 1000`];
  }

  static async make(): Promise<Waiting> {
    return new Waiting(await temporaryDirectory());
  }

  get got(): string {
    return existsSync(this.#file) ? readFileSync(this.#file, "utf8").trim() : "";
  }

  typed(): Promise<void> {
    return eventually(() => expect(this.got).toBe("typed"));
  }
}

/** A terminal of the person's, outside of any session. */
async function personsTerminal({ command: [file = "", ...args] }: Waiting): Promise<string> {
  const pty = spawnPty(file, [...args], { env: { PATH: "/usr/bin:/bin" } });
  onTestFinished(() => pty.kill("SIGKILL"));
  const terminal = (): string => readlinkSync(`/proc/${pty.pid}/fd/0`);
  await eventually(() => expect(terminal()).toMatch(/^\/dev\/pts\//));
  return terminal();
}

const TIOCSTI = (path: string): string => `python3 -c '
import fcntl, os
fd = os.open("${path}", os.O_RDWR | os.O_NOCTTY)
for byte in b"typed\\n": fcntl.ioctl(fd, 0x5412, bytes([byte]))'`;

function outside(file: string, args: readonly string[]): void {
  execFileSync(file, args, { stdio: "ignore", env: { PATH: "/usr/bin:/bin", HOME: "/" } });
}

/** A server of the person's that is driven by a socket; answers how somebody would drive it. */
const SERVERS: Readonly<Record<string, (it: Waiting, directory: string) => string>> = {
  "tmux send-keys": ({ command }) => {
    const socket = `/tmp/tmux-${process.getuid!()}/${newName()}`;
    mkdirSync(join(socket, ".."), { recursive: true, mode: 0o700 });
    outside("tmux", ["-S", socket, "-f", "/dev/null", "new", "-d", ...command]);
    onTestFinished(() => {
      outside("tmux", ["-S", socket, "kill-server"]);
      rmSync(socket, { force: true });
    });
    return `tmux -S ${socket} send-keys typed Enter`;
  },
  "screen -X stuff": ({ command }) => {
    const name = newName();
    outside("screen", ["-c", "/dev/null", "-dmS", name, ...command]);
    onTestFinished(() => outside("screen", ["-S", name, "-X", "quit"]));
    return `screen -S ${name} -p 0 -X stuff $'typed\\r'`;
  },
  dtach: ({ command }, directory) => {
    const socket = join(directory, "dtach");
    outside("dtach", ["-n", socket, ...command]);
    onTestFinished(() => void spawnSync("dtach", ["-p", socket], { input: "\x03" }));
    return `printf 'typed\\r' | dtach -p ${socket}`;
  },
};

describe.each(["tmux send-keys", "screen -X stuff"])("%s", (tool) => {
  test("[GRD-30, GRD-9] types into the person's from an open session", async () => {
    const waiting = await Waiting.make();
    const drive = SERVERS[tool]!(waiting, "");

    expect(await tried(await open("open"), drive)).toBe(0);
    await waiting.typed();
  });

  test("[GRD-30, GRD-9] finds nothing of the person's in a guard", async () => {
    const waiting = await Waiting.make();
    const drive = SERVERS[tool]!(waiting, "");

    expect(await tried(await open("guard"), drive)).not.toBe(0);
    expect(waiting.got).toBe("");
  });
});

describe("dtach", () => {
  test.each(["open", "guard"] as const)("[GRD-30] types into the person's by a socket that %s sees", async (level) => {
    const waiting = await Waiting.make();
    const drive = SERVERS["dtach"]!(waiting, await temporaryDirectory());

    expect(await tried(await open(level), drive)).toBe(0);
    await waiting.typed();
  });

  test("[GRD-30, GRD-13] finds nothing in a guard whose workspace hides the socket's directory", async () => {
    const waiting = await Waiting.make();
    const directory = await temporaryDirectory();
    const drive = SERVERS["dtach"]!(waiting, directory);

    expect(await tried(await open("guard", { hidden: [directory] }), drive)).not.toBe(0);
    expect(waiting.got).toBe("");
  });
});

describe("TIOCSTI", () => {
  test.runIf(isRoot)("[GRD-30] types into any terminal from an open session (needs root)", async () => {
    const waiting = await Waiting.make();
    const terminal = await personsTerminal(waiting);

    expect(await tried(await open("open"), TIOCSTI(terminal))).toBe(0);
    await waiting.typed();
  });

  test("[GRD-30, GRD-7] is refused in a guard, for another's terminal and for its own", async () => {
    const waiting = await Waiting.make();
    const live = await open("guard");

    expect(await tried(live, TIOCSTI(await personsTerminal(waiting)))).not.toBe(0);
    expect(await tried(live, TIOCSTI("/dev/tty"))).toBe(1);
    expect(readFileSync(live.path("out"), "utf8")).toContain("PermissionError");
    expect(waiting.got).toBe("");
  });
});

const EXPECT_OTHER = (path: string): string => `cat > ~/e <<'END'
set other [open ${path} r+]
spawn -noecho -open $other
send "typed\\n"
END
expect ~/e`;

describe("expect", () => {
  test.each(["open", "guard"] as const)("[GRD-30, GRD-16] drives what it starts itself, in %s", async (level) => {
    const script = `expect -c 'set timeout -1; spawn -noecho cat; send "hello\\r"; expect hello {exit 0} eof {exit 9}'`;

    expect(await tried(await open(level), script)).toBe(0);
  });

  test("[GRD-30] writes onto another's screen from an open session, which is no input", async () => {
    const waiting = await Waiting.make();
    const terminal = await personsTerminal(waiting);

    expect(await tried(await open("open"), EXPECT_OTHER(terminal))).toBe(0);
    expect(waiting.got).toBe("");
  });

  test("[GRD-30, GRD-7] can't open another's terminal in a guard", async () => {
    const waiting = await Waiting.make();

    expect(await tried(await open("guard"), EXPECT_OTHER(await personsTerminal(waiting)))).not.toBe(0);
    expect(waiting.got).toBe("");
  });
});

describe("script", () => {
  test.each(["open", "guard"] as const)("[GRD-30, GRD-16] records what it starts itself, in %s", async (level) => {
    const live = await open(level);

    expect(await tried(live, "script -qec 'tty; echo recorded' ~/record </dev/null")).toBe(0);
    expect(readFileSync(live.path("record"), "utf8")).toMatch(/\/dev\/pts\/\d+\r\nrecorded/);
  });
});

/** As ydotoold begins: a keyboard of its own, for whoever looks at the desktop. */
const UINPUT = (path: string): string => `python3 -c '
import fcntl, os
fcntl.ioctl(os.open("${path}", os.O_WRONLY), 0x40045564, 1)'`;

describe("ydotool-like", () => {
  test("[GRD-30, GRD-14] finds no /dev/uinput in a guard, and can't make one", async () => {
    const live = await open("guard");

    expect(await tried(live, UINPUT("/dev/uinput"))).toBe(1);
    expect(readFileSync(live.path("out"), "utf8")).toContain("FileNotFoundError");
    expect(await tried(live, "mknod ~/uinput c 10 223")).toBe(1);
  });

  test.runIf(isRoot)("[GRD-30] has in an open session what the machine has (needs root)", async () => {
    const live = await open("open");
    const here = spawnSync("bash", ["-c", UINPUT("/dev/uinput")]).status;

    expect(await tried(live, UINPUT("/dev/uinput"))).toBe(here);
    expect(await tried(live, "mknod ~/uinput c 10 223")).toBe(0);
  });
});

describe.runIf(isRoot)("ssh (needs root, ssh and sshd)", () => {
  /** Back in by the person's key; the answer's file shows that it was somebody outside. */
  async function backIn(live: LiveTerminal): Promise<{ script: string; proof: string }> {
    const directory = await temporaryDirectory();
    mkdirSync(live.path(".ssh"), { recursive: true, mode: 0o700 });
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", live.path(".ssh/id")]);
    const allowed = join(directory, "allowed");
    writeFileSync(allowed, readFileSync(live.path(".ssh/id.pub")));
    const port = await sshServer(directory, allowed);
    const options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"];
    const words = options.map((it) => `-o ${it}`).join(" ");
    const proof = join(directory, "proof");
    return {
      script: `ssh ${words} -i ~/.ssh/id -p ${port} root@127.0.0.1 'readlink /proc/self/ns/pid > ${proof}'`,
      proof,
    };
  }

  test("[GRD-30] comes back in beside an open session, by the person's key", async () => {
    const live = await open("open");
    const { script, proof } = await backIn(live);

    expect(await tried(live, script)).toBe(0);
    expect(readFileSync(proof, "utf8").trim()).toBe(readlinkSync("/proc/self/ns/pid"));
  });

  test("[GRD-30, GRD-13] has no key of the person's in a guard", async () => {
    const live = await open("guard");
    const { script, proof } = await backIn(live);

    expect(await tried(live, script)).toBe(255);
    expect(readFileSync(live.path("out"), "utf8")).toContain("Permission denied");
    expect(existsSync(proof)).toBe(false);
  });
});

const LEFT_BEHIND: Readonly<Record<string, string>> = {
  expect: `expect -c 'spawn -noecho sleep 1000; set timeout -1; expect eof' &`,
  // Not in /tmp/tmux-UID: where that belongs to somebody else, tmux starts nothing.
  "tmux send-keys": "tmux -S ./own -f /dev/null new -d 'sleep 1000'",
  "screen -X stuff": "mkdir -m 700 s; SCREENDIR=$PWD/s screen -c /dev/null -dmS own sleep 1000",
  script: "script -qec 'sleep 1000' /dev/null </dev/null >/dev/null &",
  dtach: "dtach -n ./own sleep 1000",
};

describe.each(["open", "guard"] as const)("a stop in %s", (level) => {
  test.each(Object.entries(LEFT_BEHIND))("[GRD-30, GRD-18] leaves nothing that %s started", async (_tool, command) => {
    const live = await open(level);
    live.type(`${command}\r`);
    const left = await live.running("sleep");
    const receipt = await live.stop();

    expect(receipt.survivors).toEqual([]);
    expect(left.filter(isAlive)).toEqual([]);
  });
});

test("[GRD-30] the page has the seed's columns, and a row for each tool that is tried here", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "AUTOMATION_COMPAT.md"), "utf8");
  const rows = page.split("\n").filter((it) => it.startsWith("|"));
  const cells = rows.map((it) =>
    it
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
  const tools = new Set([...Object.keys(LEFT_BEHIND), "TIOCSTI", "ydotool-like", "ssh"]);

  const columns = ["Tool", "Input Path", "Risk", "Compatibility", "Adapter Plan", "STOP_NOW", "SAFE_INTERRUPT"];

  expect(cells[0]).toEqual(columns);
  const second = cells.findIndex((it) => it[0] === "Tool" && it[1] !== "Input Path");
  expect(new Set(cells.slice(2, second).map(([tool]) => tool))).toEqual(tools);
  expect(new Set(cells.slice(second + 2).map(([tool]) => tool))).toEqual(tools);
});
