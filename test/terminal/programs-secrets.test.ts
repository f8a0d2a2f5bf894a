/** Programs that ask for passwords: sudo, passwd, ssh, git, gpg. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { guardedRepository } from "../fixtures/programs/guarded-repository.ts";
import { sshServer } from "../fixtures/programs/ssh-server.ts";
import { Talk } from "../fixtures/programs/talk.ts";
import { temporaryUser } from "../fixtures/programs/temporary-user.ts";
import { IS_ROOT } from "../support/account.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  // Whether agents may answer passwords is another test's business.
  await opened.person.workspace.put({ workspaceId: "default", settings: { agent_may_answer_passwords: true } });
  return opened.stop;
});

test.skipIf(!IS_ROOT)(
  "[PRG-16, PRG-11] sudo asks a normal user until the password is right (needs root, useradd and sudo)",
  async () => {
    const user = temporaryUser();
    const talk = await Talk.open(hub);
    await talk.start(`su - ${user.name}`);

    await talk.asked("line_editor", "bash");
    await talk.answer("sudo -k id -u");
    await talk.says(`[sudo] password for ${user.name}: `);
    const first = await talk.asked("password", "sudo");
    await talk.answer("not the one");
    await talk.says("Sorry, try again.");
    const second = await talk.asked("password", "sudo");
    await talk.answer(user.password);
    await talk.says("\n0\n");
    await talk.asked("line_editor", "bash");
    await talk.answer("exit 4");

    expect(await talk.ended()).toBe(4);
    expect(second.prompt_id).not.toBe(first.prompt_id);
    expect(await talk.output()).not.toContain(user.password);
  },
);

test.skipIf(!IS_ROOT)(
  "[PRG-11] a program that sudo runs asks as it does without sudo (needs root, useradd and sudo)",
  async () => {
    const user = temporaryUser();
    const talk = await Talk.open(hub);
    await talk.start(`su - ${user.name}`);
    await talk.asked("line_editor", "bash");
    await talk.answer(`sudo bash -c 'read -p "Sure? " a; read -s -p "Key: " b; echo "<$a|\${b: -4}>"'`);
    await talk.asked("password", "sudo");
    await talk.answer(user.password);

    await talk.says("Sure? ");
    await talk.asked("line", "bash");
    await talk.answer("yes");
    await talk.says("Key: ");
    await talk.asked("password", "bash");
    await talk.answer("some-word");
    await talk.says("<yes|word>");
    await talk.asked("line_editor", "bash");
    await talk.answer("exit");

    expect(await talk.ended()).toBe(0);
  },
);

test.skipIf(!IS_ROOT)(
  "[PRG-16, PRG-17] passwd asks three times, each a question of its own (needs root, useradd and sudo)",
  async () => {
    const user = temporaryUser();
    const talk = await Talk.open(hub);
    const next = "Tangerine-7-orchard";
    await talk.start(`su - ${user.name}`);
    await talk.asked("line_editor", "bash");
    await talk.answer("passwd");

    await talk.says("Current password: ");
    const current = await talk.asked("password", "passwd");
    await talk.answer(user.password);
    await talk.says("New password: ");
    const fresh = await talk.asked("password", "passwd");
    await talk.answer(next);
    await talk.says("Retype new password: ");
    const again = await talk.asked("password", "passwd");
    await talk.answer(next);
    await talk.says("password updated successfully");
    await talk.asked("line_editor", "bash");
    await talk.answer(`su ${user.name} -c 'echo in''side'`);
    await talk.asked("password", "su");
    await talk.answer(next);
    await talk.says("inside");
    await talk.asked("line_editor", "bash");
    await talk.answer("exit");

    expect(await talk.ended()).toBe(0);
    expect(new Set([current, fresh, again].map((it) => it.prompt_id)).size).toBe(3);
    expect(await talk.output()).not.toContain(next);
  },
);

test("[PRG-17] two secrets that show nothing at all are two questions", async () => {
  const talk = await Talk.open(hub);
  await talk.start('stty -echo; read a; read b; stty echo; echo "<${#a}|${#b}>"');

  const first = await talk.asked("password", "bash");
  await talk.answer("one");
  const second = await talk.asked("password", "bash");
  await talk.answer("three");
  await talk.says("<3|5>");

  expect(second.prompt_id).not.toBe(first.prompt_id);
  expect(await talk.ended()).toBe(0);
});

test.skipIf(!IS_ROOT)(
  "[PRG-18] ssh asks for the host key and the password, then the other side is opaque (needs root, useradd, sudo, ssh and sshd)",
  async () => {
    const user = temporaryUser();
    const talk = await Talk.open(hub);
    const port = await sshServer(talk.home);
    await talk.start(`ssh -F none -o UserKnownHostsFile=${talk.home}/known -p ${port} ${user.name}@127.0.0.1`);

    await talk.says("(yes/no/[fingerprint])? ");
    await talk.asked("line", "ssh");
    await talk.answer("yes");
    await talk.says("'s password: ");
    await talk.asked("password", "ssh");
    await talk.answer(user.password);
    await talk.says("$ ");
    const remote = await talk.asked("opaque", "ssh");
    await talk.answer("whoami; tty");
    await talk.says(`\n${user.name}\n/dev/pts/`);
    await talk.says("$ ");
    await talk.asked("opaque", "ssh");
    await talk.answer("exit 5");

    expect(await talk.ended()).toBe(5);
    expect(remote.confidence).toBe("low");
  },
);

test("[PRG-19] git asks for a username and a password, and the server gets them (needs git)", async () => {
  const repository = await guardedRepository();
  const talk = await Talk.open(hub);
  await talk.start(`git clone ${repository.url} copy`);

  await talk.says(`Username for '${new URL(repository.url).origin}': `);
  await talk.asked("line", /^git/);
  await talk.answer("ann");
  await talk.says("Password for ");
  await talk.asked("password", /^git/);
  await talk.answer("open-sesame");

  expect(await talk.ended()).toBe(128);
  expect(repository.credentials()).toBe("ann:open-sesame");
  expect(await talk.output()).not.toContain("open-sesame");
});

test("[PRG-16] gpg's passphrase is asked by pinentry, which is not the program in front (needs gpg and pinentry)", async () => {
  const talk = await Talk.open(hub);
  const gnupg = join(talk.home, "g");
  onTestFinished(() => void spawnSync("gpgconf", ["--homedir", gnupg, "--kill", "all"]));
  await talk.block(`mkdir -m 700 ${gnupg}; echo note > note; export GNUPGHOME=${gnupg} GPG_TTY=$(tty)`);
  await writeFile(join(gnupg, "gpg-agent.conf"), "pinentry-program /usr/bin/pinentry-curses\n");
  await talk.start("gpg --quiet --symmetric --no-symkey-cache note");

  await talk.fillIn("password", "pinentry-curses", "correct horse 9");
  await talk.says("re-enter");
  await talk.fillIn("password", "pinentry-curses", "correct horse 9");
  expect(await talk.ended()).toBe(0);

  await talk.start("gpg --quiet --decrypt note.gpg");
  await talk.fillIn("password", "pinentry-curses", "correct horse 9");
  await talk.says("note");
  expect(await talk.ended()).toBe(0);
});
