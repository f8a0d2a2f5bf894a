/** `sidestick install --system`: a hub under an account of its own. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { whoElseCanChange } from "../../src/main/install.ts";
import { unitText } from "../../src/main/system-unit.ts";
import { CLI, runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { canHaveAccounts } from "../support/account.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const isRoot = process.getuid?.() === 0;
const UNIT = "etc/systemd/system/sidestick.service";

test("[GRD-25] below a prefix it writes unit, account, directory and command, tells each, and a second time keeps them", async () => {
  const prefix = await temporaryDirectory();
  const install = () => runCliHere(["install", "--system", "--prefix", prefix, "--user", "side", "--port", "4444"]);
  const lines = (word: string) =>
    ["usr/lib/sysusers.d/sidestick.conf", "usr/lib/tmpfiles.d/sidestick.conf", "var/lib/sidestick (0700)", UNIT]
      .map((it) => `${word}   ${prefix}/${it}\n`)
      .concat(`${word}   ${prefix}/usr/local/bin/sidestick -> ${ROOT}/bin/sidestick\n`)
      .join("");

  expect(await install()).toEqual({ code: 0, stdout: lines("done"), stderr: "" });
  expect(await install()).toEqual({ code: 0, stdout: lines("kept"), stderr: "" });
  expect(readFileSync(join(prefix, UNIT), "utf8")).toMatch(
    /^User=side\n[^]*^ExecStart=.*\/bin\/sidestick up --port 4444$/m,
  );
  expect(readFileSync(join(prefix, "usr/lib/sysusers.d/sidestick.conf"), "utf8")).toContain("u side - ");
  expect(statSync(join(prefix, "var/lib/sidestick")).mode & 0o777).toBe(0o700);
});

test("[GRD-25] uninstall removes what was written, but not the data", async () => {
  const prefix = await temporaryDirectory();
  await runCliHere(["install", "--system", "--prefix", prefix]);
  writeFileSync(join(prefix, "var/lib/sidestick/events.db"), "x");
  const { code, stdout } = await runCliHere(["uninstall", "--system", "--prefix", prefix]);

  expect(code).toBe(0);
  expect(stdout).toContain(`left   the data in ${prefix}/var/lib/sidestick\n`);
  expect(readdirSync(prefix, { recursive: true, withFileTypes: true }).filter((it) => !it.isDirectory())).toMatchObject(
    [{ name: "events.db" }],
  );
});

test("[GRD-25] with --dry-run it only tells", async () => {
  const prefix = join(await temporaryDirectory(), "none");
  const { code, stdout } = await runCliHere(["install", "--system", "--dry-run", "--prefix", prefix]);

  expect({ code, words: new Set(stdout.split("\n").map((it) => it.split(" ")[0])) }).toEqual({
    code: 0,
    words: new Set(["would", ""]),
  });
  expect(existsSync(prefix)).toBe(false);
});

test("[GRD-25] a unit of somebody else's is left as it is", async () => {
  const prefix = await temporaryDirectory();
  mkdirSync(join(prefix, "etc/systemd/system"), { recursive: true });
  writeFileSync(join(prefix, UNIT), "[Service]\n");
  const { code, stderr } = await runCliHere(["install", "--system", "--prefix", prefix]);

  expect(code).toBe(1);
  expect(stderr).toBe(`sidestick: ${prefix}/${UNIT} was not written by us. Look at it, and move it away.\n`);
  expect(readdirSync(prefix)).toEqual(["etc"]);
});

test("[GRD-25] a command of somebody else's is left as it is, and told so", async () => {
  const prefix = await temporaryDirectory();
  const command = join(prefix, "usr/local/bin/sidestick");
  mkdirSync(dirname(command), { recursive: true });
  symlinkSync("/opt/older/bin/sidestick", command);
  const { code, stdout } = await runCliHere(["install", "--system", "--prefix", prefix]);
  const removal = await runCliHere(["uninstall", "--system", "--prefix", prefix]);

  expect([code, removal.code]).toEqual([0, 0]);
  expect(stdout).toContain(
    `left   ${command} -> ${ROOT}/bin/sidestick: something else is there; to replace it, remove it first\n`,
  );
  expect(readlinkSync(command)).toBe("/opt/older/bin/sidestick");
});

test.each([
  { args: [], told: '"install" needs --system.' },
  { args: ["--system", "--port", "0"], told: '--port is "0", but should be from 1 to 65535.' },
  { args: ["--system", "--user", "a b"], told: `--user is "a b", but should be an account's name.` },
])("[GRD-25] wrong words change nothing: $args", async ({ args, told }) => {
  expect(await runCliHere(["install", ...args])).toEqual({
    code: 2,
    stdout: "",
    stderr: `sidestick: ${told} See --help.\n`,
  });
});

test.runIf(canHaveAccounts).each(["install", "uninstall"])(
  "[GRD-25] %s is refused to others than root (needs root and an open checkout)",
  (verb) => {
    const { status, stderr } = spawnSync(process.execPath, [CLI, verb, "--system"], {
      uid: 65_534,
      gid: 65_534,
      encoding: "utf8",
      env: { HOME: "/", PATH: "/usr/bin:/bin" },
    });

    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `sidestick: "${verb} --system" changes this machine, which only root may. Run it by sudo; --dry-run tells what it would do.\n`,
    });
  },
);

test("[GRD-25] programs that others can change are not run for them", async () => {
  const open = await temporaryDirectory();
  mkdirSync(join(open, "a", "b"), { recursive: true });
  spawnSync("/bin/chmod", ["g+w", join(open, "a")]);

  expect(whoElseCanChange("/usr/bin")).toBeUndefined();
  expect(whoElseCanChange(join(open, "a", "b"))).toBe(join(open, isRoot ? "a" : "a/b"));
});

test.runIf(isRoot)(
  "[GRD-25] nor are those in which others can change something deep inside, or behind a link (needs root)",
  () => {
    const top = mkdtempSync("/run/sidestick-");
    onTestFinished(() => rmSync(top, { recursive: true }));
    for (const it of ["install/src", "install/node_modules", "elsewhere"])
      mkdirSync(join(top, it), { recursive: true });
    for (const it of ["install/src/a.ts", "elsewhere/b.js"]) writeFileSync(join(top, it), "", { mode: 0o644 });
    symlinkSync(join(top, "elsewhere"), join(top, "install/node_modules/linked"));
    const install = join(top, "install");
    const found = [whoElseCanChange(install)];

    chownSync(join(install, "src/a.ts"), 65_534, 0);
    found.push(whoElseCanChange(install));
    chownSync(join(install, "src/a.ts"), 0, 0);
    chmodSync(join(top, "elsewhere/b.js"), 0o666);
    found.push(whoElseCanChange(install));
    chmodSync(join(top, "elsewhere/b.js"), 0o644);
    chmodSync(join(top, "elsewhere"), 0o777);
    found.push(whoElseCanChange(install));

    expect(found).toEqual([undefined, join(install, "src/a.ts"), join(top, "elsewhere/b.js"), join(top, "elsewhere")]);
  },
);

test("[GRD-25] the unit takes nothing that terminals, guards, sudo or the operator's command line need", () => {
  const text = unitText({ user: "sidestick", home: "/var/lib/sidestick", install: "/opt/side stick", port: 1 });
  const settings = text.split("\n").filter((it) => /^\w+=/.test(it));

  expect(
    settings.filter((it) => /^(?:Private|Protect|Restrict|NoNew|SystemCall|Lock|ReadOnly|Inaccess)/.test(it)),
  ).toEqual([]);
  expect(text).toContain('ExecStart="/opt/side stick/bin/sidestick" up --port 1\n');
  expect(text).toContain("KillMode=process\n");
});

/** A machine of its own: changes of /etc, /var, /usr/local and /run are lost with it. */
const MACHINE = `set -e
mount -t tmpfs none "$TOP"
for it in etc var usr/local; do
  mkdir -p "$TOP/$it/upper" "$TOP/$it/work"
  mount -t overlay none -o "lowerdir=/$it,upperdir=$TOP/$it/upper,workdir=$TOP/$it/work" "/$it"
done
mount -t tmpfs none /run
install() { "$NODE" "$CLI" install --system --port "$PORT"; }
install; echo; install; echo
getent passwd sidestick | cut -d: -f1,6,7; stat -c '%U %a' /var/lib/sidestick; readlink /usr/local/bin/sidestick
as() { setpriv --reuid=sidestick --regid=sidestick --init-groups env -i HOME=/var/lib/sidestick PATH=/usr/local/bin:/usr/bin:/bin "$@"; }
as sidestick up --port 0 > /run/up.log & hub=$!
until grep -q ^Ready /run/up.log; do kill -0 $hub; sleep 0.1; done
grep -o 'A hub under its own user ([a-z]*)' /run/up.log
as sidestick token create --role operator --name ann | cut -c1-19
"$NODE" "$CLI" uninstall --system; ls /etc/systemd/system/sidestick.service /usr/local/bin/sidestick 2>/dev/null || echo gone
wait $hub`;

test.runIf(canHaveAccounts && whoElseCanChange(ROOT) === undefined)(
  "[GRD-25, GRD-26] as root it makes the account, whose hub then runs and says what it is (needs root, namespaces and an open checkout of root's)",
  async () => {
    const facts = { NODE: process.execPath, CLI, PORT: "4181", TOP: await temporaryDirectory() };
    const { stdout, stderr } = spawnSync("/usr/bin/unshare", ["--mount", "/bin/sh", "-c", MACHINE], {
      encoding: "utf8",
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", ...facts },
    });

    expect(stderr).toBe("");
    const [first = "", second = "", then = ""] = stdout.split("\n\n");
    expect(first.split("\n").map((it) => it.slice(0, 5).trim())).toEqual(["done", "done", "done", "done", "left"]);
    expect(second.split("\n").map((it) => it.slice(0, 5).trim())).toEqual(["kept", "kept", "kept", "kept", "left"]);
    expect(then).toContain("sidestick:/var/lib/sidestick:/bin/bash\nsidestick 700\n");
    expect(then).toContain("A hub under its own user (sidestick)\nsidestick_operator_\n");
    expect(then).toMatch(/left {3}the data in \/var\/lib\/sidestick, and the account sidestick [^\n]*\ngone\n$/);
  },
);
