/** Programs that install and set up, and ask while they do. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { packageArchive } from "../fixtures/programs/package-archive.ts";
import { Talk } from "../fixtures/programs/talk.ts";
import { IS_ROOT } from "../support/account.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

test.skipIf(!IS_ROOT)(
  "[PRG-20] apt-get asks, and so do a package's script and dpkg inside it (needs root, apt-get and dpkg)",
  async () => {
    const talk = await Talk.open(hub);
    const { aptGet, root, offer } = packageArchive(talk.home);
    offer("1", "old\n");
    expect(await talk.block(`${aptGet} update`)).toMatchObject({ exit_code: 0 });

    await talk.start(`${aptGet} install fruit`);
    await talk.says("Do you want to continue? [Y/n] ");
    await talk.asked("line", "apt-get");
    await talk.answer("y");
    await talk.says("Which colour? ");
    await talk.asked("line", "fruit.postinst");
    await talk.answer("green");
    expect(await talk.ended()).toBe(0);
    expect(await readFile(join(root, "colour"), "utf8")).toBe("green\n");

    await writeFile(join(root, "etc/fruit.conf"), "mine\n");
    offer("2", "new\n");
    expect(await talk.block(`${aptGet} update`)).toMatchObject({ exit_code: 0 });
    await talk.start(`${aptGet} install fruit`);
    await talk.says("*** fruit.conf (Y/I/N/O/D/Z) [default=N] ? ");
    await talk.asked("line", "dpkg");
    await talk.answer("y");
    expect(await talk.ended()).toBe(0);
    expect(await readFile(join(root, "etc/fruit.conf"), "utf8")).toBe("new\n");
  },
);

test("[PRG-20] npm init asks line by line", async () => {
  const talk = await Talk.open(hub);
  await talk.start("NODE_DISABLE_COMPILE_CACHE=1 npm_config_update_notifier=false npm init");

  await talk.says("package name: ");
  await talk.asked("line_editor", /^n/);
  await talk.answer("pear");
  await talk.says("version: (1.0.0) ");
  await talk.asked("line_editor", /^n/);
  await talk.answer("0.1.0");
  await talk.says("description: ");
  await talk.asked("line_editor", /^n/);
  await talk.answer("a 梨");
  await talk.acceptUntil("author: ");
  await talk.asked("line_editor", /^n/);
  await talk.answer("Ann");
  await talk.says("license: ");
  await talk.asked("line_editor", /^n/);
  await talk.answer("MIT");
  await talk.acceptUntil("Is this OK?");
  await talk.asked("line_editor", /^n/);
  await talk.answer("yes");

  expect(await talk.ended()).toBe(0);
  const made: unknown = JSON.parse(await readFile(join(talk.home, "package.json"), "utf8"));
  expect(made).toMatchObject({ name: "pear", version: "0.1.0", description: "a 梨", author: "Ann", license: "MIT" });
});
