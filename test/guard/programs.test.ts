/** Programs that people and agents use every day, inside. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { canHaveAccounts, TemporaryAccount } from "../support/account.ts";
import { Victim } from "./victim.ts";

const isRoot = process.getuid?.() === 0;

const PROGRAMS = [
  {
    name: "git (needs git)",
    command: `git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --format=%s; cd ..`,
    output: "one",
  },
  {
    name: "npm install",
    command: `mkdir -p p/dep q && echo '{"name":"dep","version":"1.0.0"}' > p/dep/package.json && cd q && echo '{}' > package.json && NODE_DISABLE_COMPILE_CACHE=1 npm install --offline --no-audit --no-fund ../p/dep >/dev/null && node -p 'require("./package.json").dependencies.dep'; cd ..`,
    output: "file:../p/dep",
  },
  {
    name: "python with an environment of its own",
    command: `python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix == sys.base_prefix)'`,
    output: "False",
  },
  {
    name: "sqlite (needs sqlite3)",
    command: `sqlite3 db 'create table t (x); insert into t values (41 + 1); select x from t'`,
    output: "42",
  },
  {
    name: "gdb, of a process of its own (needs gdb)",
    command: `gdb -q -batch -ex 'break main' -ex run -ex 'info registers rip' --args /bin/true 2>&1 | grep -c -i -e 'exited\\|rip\\|No symbol'`,
    output: /[1-9]/,
  },
  {
    name: "a server on loopback (needs curl)",
    command: `node -e 'const ask = require("child_process").execFile; require("http").createServer((_, answer) => answer.end("served")).listen(0, "127.0.0.1", function () { ask("curl", ["-s", "http://127.0.0.1:" + this.address().port], (_, said) => { console.log(said); process.exit(); }); })'`,
    output: "served",
  },
  {
    name: "tmux (needs tmux)",
    command: `tmux -f /dev/null new -d -s x 'cat' && tmux send-keys -t x hello Enter && until tmux capture-pane -p -t x | grep -q hello; do :; done; tmux capture-pane -p -t x | grep -c hello; tmux kill-server`,
    output: /[12]/,
  },
  {
    name: "gpg (needs gpg)",
    command: `mkdir -m 700 -p g && GPG_TTY=$(tty) gpg --homedir g --batch --quiet --passphrase '' --quick-gen-key a@b future-default default never 2>/dev/null; echo text | gpg --homedir g --batch --quiet --trust-model always -e -r a@b | gpg --homedir g --batch --quiet -d; gpgconf --homedir g --kill all`,
    output: "text",
  },
  {
    name: "vim (needs vim)",
    command: `printf 'a\\nb\\n' > f; vim -u NONE -es -c '%s/a/z/' -c wq f; cat f`,
    output: "z",
  },
  {
    name: "terminals (needs script)",
    command: `tty; script -qec 'tty' /dev/null`,
    output: /\/dev\/console\s+\/dev\/pts\/0/,
  },
  {
    name: "files of the user",
    command: `cat ~/project/README; echo more >> ~/project/README; tail -1 ~/project/README`,
    output: "more",
  },
  { name: "names of hosts", command: `getent hosts localhost | grep -c localhost`, output: "1" },
] as const;

describe.each([
  { who: "root", can: isRoot, account: () => ({ uid: 0, gid: 0 }), reason: "needs root" },
  { who: "an ordinary user", can: canHaveAccounts, account: undefined, reason: "needs root and an open checkout" },
])("$who ($reason)", ({ can, account }) => {
  let victim: Victim;
  let user: TemporaryAccount | undefined;

  beforeAll(async () => {
    if (!can) return;
    if (account === undefined) user = new TemporaryAccount();
    victim = await Victim.open(account?.() ?? user!);
  });
  afterAll(async () => {
    await victim?.[Symbol.asyncDispose]();
    user?.[Symbol.dispose]();
  });

  test.runIf(can).each(PROGRAMS)("[GRD-16, GRD-17] $name works (needs root)", async ({ name, command, output }) => {
    const ran = await victim.agent.pty.exec_block({ conversation_id: name, command, wait_ms: WAIT_BUDGET_MS });

    expect(ran.output?.replaceAll("\r", "").trim()).toEqual(
      typeof output === "string" ? expect.stringContaining(output) : expect.stringMatching(output),
    );
  });

  test.runIf(can)("[GRD-16] what a program asks inside is told (needs root and script)", async () => {
    const conversation_id = "asks";
    await victim.agent.pty.exec_block({ conversation_id, command: "script -qc 'read -s secret' /dev/null" });

    const asked = await victim.agent.pty.wait_for({ conversation_id, match: "INPUT" });

    expect(asked).toMatchObject({ matched: true });
    expect(JSON.stringify(asked)).toContain("password");
  });
});
