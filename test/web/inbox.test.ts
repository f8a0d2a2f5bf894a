import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { POLICY } from "../approvals/judged-hub.ts";
import { asking, pendingIn } from "../prompts/asking-hub.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open({ yaml: POLICY });
  return stage.stop;
});

const kinds = (page: Page) =>
  page.locator(".ask").evaluateAll((all) => all.map((it) => [it.dataset["kind"], it.dataset["waits"]].join(" ")));

/** An agent in a terminal tells its plan and takes lines. */
async function planning(conversation_id: string, steps: readonly string[]): Promise<string> {
  const sessionId = await stage.driven(conversation_id);
  await stage.person.conversation.bind({ channel: "chat", thread_id: conversation_id, session_id: sessionId });
  const lines = ["Here is my plan:", "", ...steps.map((it, at) => `${at + 1}. ${it}`), ""];
  // In one line: the shell's echo of several would be a plan, too.
  const command = `printf '${lines.join(String.raw`\n`)}'; while read -e x; do echo "GOT $x"; done`;
  await stage.agent.pty.exec_interactive({ conversation_id, command });
  await stage.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });
  return sessionId;
}

/** An agent asks for a person's terminal. */
async function requested(title: string, reason: string): Promise<string> {
  const sessionId = await stage.terminal(title);
  await stage.person.control.take({ sessionId });
  await stage.agent.control.request({ sessionId, reason });
  return sessionId;
}

test("[WEB-50] a plan is decided from its card, and every page says by whom", async () => {
  const sessionId = await planning("web-plan", ["Add a test for the parser", "Fix the parser", "Run the tests"]);
  const [page, other] = await Promise.all([stage.visit(`#/session/${sessionId}`), stage.page("#/inbox")]);
  const cards = [page, other].map((it) => it.locator(".ask[data-kind=plan]"));
  await cards[0]!.getByText("Fix the parser").waitFor();
  expect(await cards[0]!.getByRole("button").allInnerTexts()).toEqual(["Execute", "Modify", "Cancel"]);

  // It goes after a while, and each wait may take long.
  const notice = page.locator(".notice", { hasText: "Plan accepted. Agent continuing." }).waitFor();
  await cards[0]!.getByRole("button", { name: "Execute" }).click();

  await Promise.all([notice, ...cards.map((it) => it.getByText("Accepted by operator").waitFor())]);
});

test("[WEB-51, WEB-52, WEB-53, WEB-55] all that waits is in one place, oldest first, and the keyboard goes through it", async () => {
  const page = await stage.visit("#/inbox");
  await page.getByText("Nothing waits for you").waitFor();
  expect(await page.title()).toBe("Sidestick");
  const asked = await asking(stage, "read -p 'Deploy? [y/N] ' x");
  await page.locator(".ask[data-kind=prompt]").waitFor();
  const sessionId = await requested("my own shell", "to look into it");
  await page.locator(".ask[data-kind=request]").waitFor();

  expect(await kinds(page)).toEqual(["prompt true", "request true"]);
  expect(await page.title()).toBe("(2) Sidestick");
  expect(await page.locator(".ask[data-kind=request] a").getAttribute("href")).toBe(`#/session/${sessionId}`);
  const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset["kind"]);
  const walk: (string | undefined)[] = [];
  for (let step = 0; step < 3; step += 1) {
    await page.keyboard.press("Alt+Shift+A");
    walk.push(await focused());
  }
  expect(walk).toEqual(["prompt", "request", "prompt"]);
  await page.getByRole("heading", { name: "Inbox" }).click();
  await page.keyboard.press("Alt+Shift+A");
  expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");

  await page.goto(`${stage.hub.url}/#/session/${sessionId}`);
  await page.locator(".terminal-place").click();
  await page.keyboard.press("Alt+Shift+A");
  await page.waitForURL(/#\/inbox\?card=/);
  await eventually(async () => expect(await focused()).toBe("prompt"));

  await page.locator(".ask[data-kind=request]").getByRole("button", { name: "Decline" }).click();
  await page.locator(".ask[data-kind=request]").getByText("asked for control").waitFor();
  const { prompt_id, nonce } = asked.prompt;
  await stage.person.prompt.reply({ prompt_id, nonce, choice: "no" });
  await page.getByText("Nothing waits for you").waitFor();
  expect([await page.title(), await kinds(page)]).toEqual(["Sidestick", ["prompt false", "request false"]]);
  // By a key: what is told of an answer moves the card, and a card that has just moved can't be clicked.
  await page.locator(".ask[data-kind=prompt]").getByText("CLI advanced").waitFor();
  await page.locator(".ask[data-kind=prompt]").getByRole("button", { name: "Dismiss" }).press("Enter");
  const lately = (): Promise<string> => page.locator(".page").innerText();
  await eventually(async () => expect(await lately()).toMatch(/Decided lately[^]*Answered by operator/));
});

type Told = { readonly title: string; readonly body: string; readonly tag: string; closed: boolean };
type Window = typeof globalThis & { told: (Told & EventTarget)[]; asked: number; hidden: boolean };

/** Stands where the browser's own would: nothing else can be seen without a desktop. */
function recordNotifications(): void {
  const here = globalThis as unknown as Window;
  Object.assign(here, { told: [], asked: 0, hidden: false });
  class Recorded extends EventTarget {
    static permission = "default";
    static async requestPermission(): Promise<string> {
      here.asked += 1;
      Recorded.permission = "granted";
      return "granted";
    }
    closed = false;
    constructor(title: string, options: { readonly body: string }) {
      super();
      // As Chrome does on Android.
      if (options.body.includes("Unheard?")) throw new TypeError("Illegal constructor");
      here.told.push(Object.assign(this, { title }, options) as unknown as Told & EventTarget);
    }
    close(): void {
      this.closed = true;
    }
  }
  Object.defineProperty(here, "Notification", { value: Recorded });
  Object.defineProperty(document, "visibilityState", { get: () => (here.hidden ? "hidden" : "visible") });
}

test("[WEB-54] with permission, and only while the page is hidden, each thing is notified once, briefly", async () => {
  const page = await stage.page("#/inbox");
  await page.addInitScript(recordNotifications);
  await page.reload();
  const told = () =>
    page.evaluate(() => (globalThis as unknown as Window).told.map(({ body, closed }) => ({ body, closed })));
  const button = page.getByRole("button", { name: "Notify me when this page is hidden" });
  await button.waitFor();
  expect(await page.evaluate(() => (globalThis as unknown as Window).asked)).toBe(0);
  await button.click();
  await page.getByText("You are notified when this page is hidden.").waitFor();

  const seen = await asking(stage, "read -p 'Seen? [y/n] ' x");
  await page.locator(".ask", { hasText: "Seen?" }).waitFor();
  await page.evaluate(() => ((globalThis as unknown as Window).hidden = true));
  await page.goto(`${stage.hub.url}/#/`);
  const secret = `ghp_${"a1B2".repeat(9)}`;
  await requested("a shell", `${secret} ${"very ".repeat(40)}long`);
  await eventually(async () => expect(await told()).toHaveLength(1));
  const [first] = await told();
  expect(first?.body).toMatch(/^agent asks for control: ghp_\*{36} very .*…$/);
  expect(first?.body).toHaveLength(100);

  const unheard = await asking(stage, "read -p 'Unheard? [y/n] ' x");
  const hidden = await asking(stage, "read -p 'Hidden? [y/n] ' x");
  await eventually(async () => expect(await told()).toHaveLength(2));
  await page.evaluate(() => (globalThis as unknown as Window).told.at(-1)?.dispatchEvent(new Event("click")));
  await page.locator(".ask:focus", { hasText: "Hidden?" }).waitFor();
  for (const { prompt } of [seen, unheard, hidden]) {
    await stage.person.prompt.reply({ prompt_id: prompt.prompt_id, nonce: prompt.nonce, choice: "no" });
  }
  await eventually(async () =>
    expect(await told()).toEqual([first, { body: "bash asks: Hidden? [y/n]", closed: true }]),
  );
});

test("[WEB-54] what comes while the page is still loading what notifies is notified, and nothing that waited before", async () => {
  await requested("asked before", "too early");
  const page = await stage.page("#/");
  await page.addInitScript(recordNotifications);
  await page.addInitScript(() => {
    (globalThis as unknown as Window).hidden = true;
    Object.assign(Notification, { permission: "granted" });
  });
  let load = (): void => undefined;
  const mayLoad = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/assets/notifier*.js", (route) => mayLoad.then(() => route.continue()));
  await page.reload({ waitUntil: "commit" });
  await page.locator("[data-link=live]").waitFor();

  await requested("asked meanwhile", "in time");
  await page.waitForFunction(() => document.querySelectorAll(".session-row .badge").length >= 2);
  load();

  const told = () => page.evaluate(() => (globalThis as unknown as Window).told.map(({ body }) => body));
  await eventually(async () => expect(await told()).toEqual(["agent asks for control: in time"]));
});

const BAD = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u202Egnp\u200B";
/** As a program prints it: in a command such signs alone make policy ask. */
const PRINTED = String.raw`<img src=x onerror=alert(1)> [x](javascript:alert(1)) \342\200\256gnp\342\200\213`;
const SHOWN = String.raw`<img src=x onerror=alert(1)> [x](javascript:alert(1)) \u{202e}gnp\u{200b}`;

test("[WEB-12] whatever agents and programs say is only ever text, with signs for what can't be seen", async () => {
  const { sessionId } = await stage.agent.session.create({
    kind: "terminal",
    title: "<img src=x onerror=alert(1)>",
    conversationId: "web-bad",
  });
  await stage.person.session.get({ sessionId });
  const call = stage.agent.pty.exec_block({
    conversation_id: "web-bad",
    command: `touch /nowhere/'${BAD}' # \u001B[31mred`,
    reason: BAD,
    wait_ms: 0,
  });
  await call.catch((error: unknown) => expect(error).toMatchObject({ code: "approval_pending" }));
  await stage.agent.approval.request({ kind: "tool", action: BAD, payload: { [BAD]: BAD } });
  await requested("bad reason", BAD);
  const question = await asking(stage, `read -p "$(printf '${PRINTED} [y/n] ')" x`);
  const plan = await planning("web-bad-plan", [`Fix ${PRINTED}`, `Test ${PRINTED}`, "Run the tests"]);
  const page = await stage.visit("#/inbox");

  for (const kind of ["approval", "request", "prompt", "plan"]) {
    await page.locator(`.ask[data-kind=${kind}][data-waits=true]`, { hasText: "<img" }).first().waitFor();
  }
  const shown = await page.locator("main").innerText();
  expect(shown.split(SHOWN).length).toBeGreaterThanOrEqual(8);
  expect(["\u202E", "\u200B", "\u001B"].filter((it) => shown.includes(it))).toEqual([]);
  for (const place of ["#/inbox", `#/session/${sessionId}`, `#/session/${plan}`, `#/session/${question.sessionId}`]) {
    await page.goto(`${stage.hub.url}/${place}`);
    await page.locator(".ask").first().waitFor();
    const made = await page.locator("img, iframe, object, [onerror], a[href^='javascript'], main script").count();
    expect([place, made]).toEqual([place, 0]);
  }
  expect((await pendingIn(stage.person, question.sessionId)).question).toContain("<img");
});
