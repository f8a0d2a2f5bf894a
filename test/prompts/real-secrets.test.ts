/** sudo and ssh themselves: their questions are offered, and a person's answers let them through. */
import { beforeAll, expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { sshServer } from "../fixtures/programs/ssh-server.ts";
import { temporaryUser } from "../fixtures/programs/temporary-user.ts";
import { IS_ROOT } from "../support/account.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { asking, feedback, pendingIn, prints } from "./asking-hub.ts";
import { headingOf, linkTo, posted } from "./secret-page.ts";

const SUPPLIED = "200 Supplied. You can close this page.";

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

test.skipIf(!IS_ROOT)(
  "[PMT-110, PMT-133, PMT-111] sudo takes a wrong password by a reply and the right one by a link (needs root, useradd and sudo)",
  async () => {
    const user = temporaryUser();
    const it = await asking(hub, `su - ${user.name} --session-command 'sudo -k id -un | tr a-z A-Z'`);
    expect(it.prompt).toMatchObject({
      class: "PASSWORD_INPUT",
      confidence: "HIGH",
      question: `[sudo] password for ${user.name}:`,
      program: "sudo",
    });
    expect(it.prompt.warning).toBeUndefined();
    const { prompt_id, nonce } = it.prompt;

    const wrong = await hub.person.prompt.reply({
      prompt_id,
      nonce,
      value: "not the one",
      wait_ms: OUTCOME_WAIT_MAX_MS,
    });
    const again = await pendingIn(hub.person, it.sessionId, it.prompt);
    const right = await posted(await linkTo(hub.person, again), user.password);

    await prints(hub.agent, it, "ROOT");
    expect(wrong).toMatchObject({ status: "answered", outcome: "advanced" });
    expect(again.prompt_id).not.toBe(prompt_id);
    expect(headingOf(right)).toBe(SUPPLIED);
    expect(JSON.stringify(await hub.person.event.list({ sessionId: it.sessionId, limit: 5000 }))).not.toContain(
      user.password,
    );
  },
);

test.skipIf(!IS_ROOT)(
  "[PMT-110, PMT-133, PMT-5] ssh gets yes for the host key and the password by a link, and lets in (needs root, useradd, sudo, ssh and sshd)",
  async () => {
    const user = temporaryUser();
    const directory = await temporaryDirectory();
    const port = await sshServer(directory);
    const options = `-F none -o UserKnownHostsFile=${directory}/known -p ${port}`;
    const it = await asking(hub, `ssh ${options} ${user.name}@127.0.0.1 'echo IN as $(whoami)'`);
    expect(it.prompt).toMatchObject({ class: "YES_NO", confidence: "HIGH", program: "ssh" });
    expect(it.prompt.choices.map(({ types }) => types)).toEqual(["yes", "no"]);
    const { prompt_id, nonce } = it.prompt;

    await hub.person.prompt.reply({ prompt_id, nonce, choice: "yes", wait_ms: OUTCOME_WAIT_MAX_MS });
    const password = await pendingIn(hub.person, it.sessionId, it.prompt);
    const supplied = await posted(await linkTo(hub.person, password), user.password);

    await prints(hub.agent, it, `IN as ${user.name}`);
    expect(password).toMatchObject({
      class: "PASSWORD_INPUT",
      program: "ssh",
      question: `${user.name}@127.0.0.1's password:`,
    });
    expect(headingOf(supplied)).toBe(SUPPLIED);
    expect((await feedback(hub.person, it.sessionId)).slice(0, 3)).toEqual([
      "Sent: yes + Enter",
      "CLI advanced",
      "Sent: [REDACTED] + Enter",
    ]);
  },
);
