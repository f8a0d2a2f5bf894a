/** Real programs in which text and Enter go apart: Enter follows into the question, and into no other asking of it. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { sshServer } from "../fixtures/programs/ssh-server.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { asking, feedback, pendingIn, prints } from "./asking-hub.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/programs", import.meta.url));
const LONG = "a word and ".repeat(34).trim();
const URL_WITH_SECRET = "postgres://u:hunter2secret@db/x";

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

function answer({ prompt_id, nonce }: AskedPrompt, value: string): Promise<AskedPrompt> {
  return hub.person.prompt.reply({ prompt_id, nonce, value, wait_ms: OUTCOME_WAIT_MAX_MS });
}

const dialog = (rest: string): string => `exec 3>&1; x=$(whiptail ${rest} 2>&1 1>&3 </dev/tty); echo "GOT \${#x}."`;
const edited = (prompt: string): string => `read -e -p '${prompt}' x; echo GOT \${#x}.`;
const node = (prompt: string): string =>
  `${process.execPath} -e "const rl = require('readline').createInterface(process.stdin, process.stdout);
rl.question('${prompt}', (x) => { console.log('GOT ' + x.length + '.'); rl.close(); });"`;

test.each([
  { name: "a menu with a bare sign", run: node("1) build\\n2) deploy\\n> "), reply: "2" },
  { name: "a menu as of select", run: node("1) build\\n2) deploy\\n#? "), reply: "2" },
  { name: "a field below its question", run: node("What is your name?\\n> "), reply: "Ann" },
  { name: "an answer of many lines", run: edited("Message: "), reply: LONG },
  { name: "an answer that is masked", run: edited("Database: "), reply: URL_WITH_SECRET },
  { name: "a box that is filled (needs whiptail)", run: dialog("--inputbox Host 8 40"), reply: "web".repeat(11) },
  { name: "a box that is too narrow (needs whiptail)", run: dialog("--inputbox Host 8 40"), reply: "web".repeat(20) },
])("[PMT-70] Enter follows the text into $name", async ({ run, reply }) => {
  const it = await asking(hub, run);

  const answered = await answer(it.prompt, reply);

  await prints(hub.agent, it, `GOT ${reply.length}.`);
  expect(answered).toMatchObject({ outcome: "advanced" });
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toHaveLength(2);
});

test("[PMT-79, PMT-116] a menu that clears the screen and asks again is answered once and offered anew", async () => {
  const it = await asking(hub, `python3 ${FIXTURES}/menu_again.py`);

  const answered = await answer(it.prompt, "1");
  const again = await pendingIn(hub.person, it.sessionId, it.prompt);
  await answer(again, "2");
  await answer(await pendingIn(hub.person, it.sessionId, again), "3");

  await prints(hub.agent, it, "DONE Deploy, Roll back, Quit");
  expect(answered).toMatchObject({ outcome: "advanced", feedback: ["Sent: option 1 + Enter", "CLI advanced"] });
});

test("[PMT-79, PMT-67] who reads one key and asks again at the same place gets no Enter", async () => {
  const menu = String.raw`clear; printf '1) Deploy\n2) Quit\n'; read -n 1 -p 'Choice: ' c; got="$got<$c>"`;
  const it = await asking(hub, `while [ "$c" != 2 ]; do ${menu}; done; echo " GOT $got"`);

  const first = await answer(it.prompt, "1");
  await answer(await pendingIn(hub.person, it.sessionId, it.prompt), "2");

  await prints(hub.agent, it, "GOT <1><2>");
  expect(first).toMatchObject({ outcome: "advanced" });
  const told = ["Sent: option 1", "CLI advanced", "Sent: option 2", "CLI advanced"];
  expect(await feedback(hub.person, it.sessionId)).toEqual(told);
});

test.skipIf(process.getuid?.() !== 0)(
  "[PMT-75, PMT-70] over ssh a menu is moved through too (needs root) (needs ssh, sshd, whiptail)",
  async () => {
    const directory = await temporaryDirectory();
    const [key, keys] = [join(directory, "key"), join(directory, "keys")];
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    writeFileSync(keys, readFileSync(`${key}.pub`));
    const port = await sshServer(directory, keys);
    const options = `-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i ${key}`;
    const box = "x=$(whiptail --menu Task 15 50 4 web Server db Database mail Mail 3>&1 1>&2 2>&3); echo GOT $x.";
    const it = await asking(hub, `ssh -t ${options} -p ${port} 127.0.0.1 '${box}'`);
    expect(it.prompt).toMatchObject({ kind: "opaque", entry: "arrows" });

    const answered = await answer(it.prompt, "mail");

    await prints(hub.agent, it, "GOT mail.");
    expect(answered).toMatchObject({ outcome: "advanced", feedback: ["Sent: option mail + Enter", "CLI advanced"] });
  },
);
