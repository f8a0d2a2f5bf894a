import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { asking, pendingIn, prints } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { WebStage } from "./stage.ts";

let stage: WebStage;
let inbox: Page;

beforeAll(async () => {
  stage = await WebStage.open();
  inbox = await stage.lastingPage("#/inbox");
  return stage.stop;
});

function cardOf(page: Page, { prompt_id }: Pick<AskedPrompt, "prompt_id">): Locator {
  return page.locator(`[id="card-prompt-${prompt_id}"]`);
}

const press = (name: string) => (card: Locator) => card.getByRole("button", { name }).click();
const dialog = (rest: string): string => `exec 3>&1; x=$(whiptail ${rest} 2>&1 1>&3 </dev/tty); echo GOT $x.`;

const QUESTIONS = [
  {
    what: "yes or no",
    program: "bash",
    command: "read -p 'Deploy? [y/N] ' x; echo GOT $x.",
    marked: "no\ndefault",
    answer: press("yes"),
    got: "GOT y.",
    told: ["Sent: y + Enter", "CLI advanced"],
  },
  {
    what: "a choice",
    program: "bash",
    command: "select x in red green; do echo GOT $x.; break; done",
    marked: "2  green",
    answer: press("green"),
    got: "GOT green.",
    told: ["Sent: option 2 + Enter", "CLI advanced"],
  },
  {
    what: "a choice",
    program: "whiptail",
    command: dialog("--menu Task 15 50 4 web Server db Database"),
    marked: "highlighted",
    answer: press("db"),
    got: "GOT db.",
    told: ["Sent: option db + Enter", "CLI advanced"],
  },
  {
    what: "Enter",
    program: "bash",
    command: "read -p 'Press Enter to continue' x; echo GOT $x.",
    marked: "enter",
    answer: press("enter"),
    got: "GOT .",
    told: ["Sent: Enter", "CLI advanced"],
  },
  {
    what: "text",
    program: "bash",
    command: "read -p 'Name of the host: ' x; echo GOT $x.",
    marked: "Send",
    answer: async (card: Locator) => {
      await card.getByLabel("Answer").fill("web7");
      await inbox.keyboard.press("Enter");
    },
    got: "GOT web7.",
    told: ['Sent: "web7" + Enter', "CLI advanced"],
  },
] as const;

test.each(QUESTIONS)(
  "[WEB-45, WEB-46, WEB-48] $what is answered from its card: $command (needs $program)",
  async (question) => {
    const it = await asking(stage, question.command);
    const card = cardOf(inbox, it.prompt);
    await card.getByRole("heading", { name: `asks for ${question.what}` }).waitFor();

    expect(await card.innerText()).toContain(`${question.program} waits`);
    expect((await card.getByRole("button").allInnerTexts()).join("\n")).toContain(question.marked);
    await question.answer(card);

    await prints(stage.person, it, question.got);
    await card.getByText("Answered by operator").waitFor();
    await card.getByText("CLI advanced").waitFor();
    await eventually(async () =>
      expect(await card.locator(".feedback li").allInnerTexts()).toEqual([...question.told]),
    );
  },
);

test("[WEB-45] of a menu with boxes those are chosen that are checked on the card (needs whiptail)", async () => {
  const it = await asking(stage, dialog("--checklist Parts 15 50 4 a docs off b tests on c more off"));
  const card = cardOf(inbox, it.prompt);
  await card.getByLabel("tests").waitFor();
  expect(await card.getByRole("checkbox", { checked: true }).count()).toBe(1);

  await card.getByLabel("docs").check();
  await card.getByLabel("tests").uncheck();
  await card.getByLabel("more").check();
  await card.getByRole("button", { name: "Choose these" }).click();

  await prints(stage.person, it, 'GOT "a" "c".');
});

test("[WEB-47, WEB-46] a secret is typed in, and stands in no page, address or event; who only claims to be sudo is named", async () => {
  const secret = "correct-horse-7";
  const it = await asking(stage, "read -s -p '[sudo] password for ann: ' x; echo; echo GOT ${#x}.");
  const page = await stage.visit(`#/session/${it.sessionId}`);
  const card = cardOf(page, it.prompt);
  await card.getByText("bash waits, echo off").waitFor();
  await card.getByText("looks like one of sudo, but bash would read the answer").waitFor();
  const field = card.getByLabel("Secret");
  expect([await field.getAttribute("type"), await field.getAttribute("name")]).toEqual(["password", null]);

  const whileSent: string[] = [];
  await page.route("**/reply", async (route) => {
    whileSent.push(await field.inputValue());
    await route.continue();
  });

  await field.fill(secret);
  await page.keyboard.press("Enter");

  await card.getByText("Sent: [REDACTED] + Enter").waitFor();
  await prints(stage.person, it, `GOT ${secret.length}.`);
  expect(whileSent).toEqual([""]);
  const fields = await page.locator("input").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
  const events = await stage.person.event.list({ limit: 5000 });
  expect([await page.content(), page.url(), ...fields, JSON.stringify(events)].join("\n")).not.toContain(secret);
});

test("[WEB-45, WEB-42] what was answered elsewhere says by whom, and what is typed at the terminal clears its card; who drives unfolds it and types on", async () => {
  const it = await asking(
    stage,
    "read -p 'Go? [y/n] ' x; read -p 'Which town? ' y; echo GOT $x $y.; read -p 'More? [y/n] ' z; echo GOT $z.",
  );
  const page = await stage.visit(`#/session/${it.sessionId}`);
  const { prompt_id, nonce } = it.prompt;
  await cardOf(page, it.prompt).waitFor();

  await stage.agent.prompt.reply({ prompt_id, nonce, choice: "yes" });
  await cardOf(page, it.prompt).getByText("Answered by agent").waitFor();
  const second = await pendingIn(stage.person, it.sessionId, it.prompt);
  await cardOf(page, second).waitFor();
  await page.locator(".terminal-place").click();
  await page.keyboard.type("Ulm\n");

  await prints(stage.person, it, "GOT y Ulm.");
  await cardOf(page, second).waitFor({ state: "detached" });
  await cardOf(inbox, second).getByText("No longer asked").waitFor();
  const third = await pendingIn(stage.person, it.sessionId, second);
  await page.getByText("asks for yes or no: answer it here or in the terminal").click();
  await cardOf(page, third).getByRole("button", { name: "yes" }).click();
  await prints(stage.person, it, "GOT y.");
  await eventually(async () =>
    expect(await page.evaluate("document.activeElement.className")).toBe("xterm-helper-textarea"),
  );
});
