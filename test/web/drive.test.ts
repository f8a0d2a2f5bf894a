import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { livingChildrenOf } from "../support/living-children.ts";
import { seesInTerminal, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

async function opened(conversation_id: string): Promise<{ readonly sessionId: string; readonly page: Page }> {
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.visit(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  return { sessionId, page };
}

const control = (sessionId: string) => stage.person.control.get({ sessionId });
const choice = (page: Page, name: string) =>
  page.getByRole("group", { name: "Your choices" }).getByRole("button", { name });

/** What is left of the lease, as the bar counts it. */
async function leftOf(page: Page): Promise<number> {
  const [minutes, seconds] = (await page.locator(".driver").getByRole("timer").textContent())!.split(":").map(Number);
  return minutes! * 60 + seconds!;
}

test("[WEB-22, WEB-20] a grant says for how long and what an open session means; what the agent renews is counted anew", async () => {
  const { sessionId, page } = await opened("web-grant");
  await choice(page, "Take control").click();
  await page.locator(".driver").getByText("You drive").waitFor();

  await page.keyboard.press("Alt+Shift+KeyG");
  const dialog = page.getByRole("dialog");
  const warning = await dialog.locator(".card.warn").textContent();
  await dialog.getByLabel("For how long").selectOption("1 minute");
  await dialog.getByLabel("Note for the agent").fill("only the tests");
  await dialog.getByRole("button", { name: "Grant", exact: true }).click();

  await page.locator(".driver").getByText("agent drives").waitFor();
  expect(await page.locator(".driver").textContent()).toContain("granted by operator");
  expect(await leftOf(page)).toBeLessThanOrEqual(61);
  expect(warning).toMatch(/guard|open|reach/i);
  expect(await control(sessionId)).toMatchObject({ lease_seconds: 60, handback_note: "only the tests" });

  await stage.agent.control.renew({ sessionId, lease_seconds: 900 });
  await eventually(async () => expect(await leftOf(page)).toBeGreaterThan(600));
});

test("[WEB-21, WEB-20] interrupted safely, by a key at the terminal, the agent works on to its next safe point; Wait takes it back", async () => {
  const { sessionId, page } = await opened("web-safely");
  const point = (step: string, sequence: number) => stage.agent.control.safe_point({ sessionId, step, sequence });
  await stage.person.control.grant({ sessionId, attend: true, lease_seconds: 900 });
  await page.locator(".driver").getByText("agent drives").waitFor();
  await page.locator(".terminal-place").click();

  await page.keyboard.press("Alt+Shift+KeyI");
  await page.locator(".driver").getByText("pauses at its next safe point").waitFor();
  expect(await choice(page, "Interrupt safely").getAttribute("aria-pressed")).toBe("true");
  await page.keyboard.press("Alt+Shift+KeyW");
  await eventually(async () => expect(await choice(page, "Wait").getAttribute("aria-pressed")).toBe("true"));
  expect(await point("one", 1)).toMatchObject({ action: "CONTINUE" });
  await choice(page, "Interrupt safely").click();
  await page.locator(".driver").getByText("pauses at its next safe point").waitFor();

  expect(await point("two", 2)).toMatchObject({ action: "PAUSE" });
  await page.locator(".driver").getByText("the agent is paused").waitFor();
});

test("[WEB-21, WEB-25] STOP NOW, one click, ends what runs; its receipt says by whom and what until it is closed, for good", async () => {
  const { sessionId, page } = await opened("web-stop");
  await stage.agent.pty.exec_interactive({ conversation_id: "web-stop", command: "sleep 1000 | sleep 2000" });
  const { pid = 0 } = await stage.agent.pty.status({ conversation_id: "web-stop" });
  // Until then they are bash's own forks.
  await eventually(() => expect(livingChildrenOf(pid).filter((it) => it.includes("sleep"))).toHaveLength(2));

  await choice(page, "STOP NOW").click();

  const receipt = page.locator(".receipt");
  await receipt.getByText("Stopped by you.").waitFor();
  expect(await receipt.textContent()).toMatch(/2 processes killed.*just now.*Killed: sleep \(\d+\), sleep \(\d+\)/);
  expect(await control(sessionId)).toMatchObject({ control_mode: "USER" });
  await receipt.getByRole("button", { name: "Close the receipt" }).click();
  await receipt.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.goBack();
  await choice(page, "STOP NOW").waitFor();
  expect(await receipt.count()).toBe(0);
});

test("[WEB-21] STOP NOW shows at once that it is on its way, and can be pressed again meanwhile", async () => {
  const { sessionId, page } = await opened("web-stop-slow");
  const waiting: (() => void)[] = [];
  await page.route("**/user_intent", async (route) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    await route.continue();
  });
  const button = page.locator(".three .danger");

  await page.keyboard.press("Alt+Shift+KeyX");
  await button.getByText("Stopping …").waitFor();
  expect(await button.getAttribute("aria-busy")).toBe("true");
  await button.click();
  await eventually(() => expect(waiting).toHaveLength(2));
  waiting[0]?.();
  await page.locator(".receipt").waitFor();
  expect(await button.textContent()).toBe("Stopping …");
  waiting[1]?.();

  await button.getByText("STOP NOW").waitFor();
  expect(await button.getAttribute("aria-busy")).toBe("false");
  expect(await control(sessionId)).toMatchObject({ control_mode: "USER", user_intent: "STOP_NOW" });
});

test("[WEB-21, WEB-71] over the replay of a session that lives stands who drives now, and it is stopped from there", async () => {
  const { sessionId, page } = await opened("web-stop-replay");
  await page.getByRole("link", { name: "Replay", exact: true }).click();
  await page.getByText("The bar above is now. All below is the past.").waitFor();
  await page.locator(".driver", { hasText: "now" }).getByText("agent drives").waitFor();
  await page.getByRole("slider").press("Home");
  await page.getByText("Nobody drove").waitFor();

  await page.keyboard.press("Alt+Shift+KeyX");
  await page.locator(".receipt").getByText("Stopped by you.").waitFor();
  await page.locator(".driver").getByText("You drive").waitFor();

  expect(await control(sessionId)).toMatchObject({ control_mode: "USER", user_intent: "STOP_NOW" });
  await stage.person.session.close({ sessionId });
  await choice(page, "STOP NOW").waitFor({ state: "detached" });
  expect(await page.getByText("The bar above").count()).toBe(0);
});

test("[WEB-23, WEB-12] an agent's request stands there in its words on every page, and is declined by one of them", async () => {
  const { sessionId, page } = await opened("web-asks");
  await stage.person.control.take({ sessionId });
  const other = await stage.page(`#/session/${sessionId}`);

  await stage.agent.control.request({ sessionId, reason: "let me \u202Efinish <b>this</b>" });
  await other.locator(".request blockquote").waitFor();
  const words = await page.locator(".request blockquote").textContent();
  const asked = page.waitForRequest("**/control/decline");
  await page.locator(".request").getByRole("button", { name: "Decline" }).click();

  expect((await asked).postDataJSON()).toEqual({ agent_id: "agent" });
  await other.locator(".request").waitFor({ state: "detached" });
  expect(words).toContain("finish <b>this</b>");
  expect(words).not.toContain("\u202E");
  expect(await control(sessionId)).toMatchObject({ control_mode: "USER", requested_by: null });
});

test("[WEB-22] what was taken is handed back with a note and a lease, by the keyboard alone", async () => {
  const { sessionId, page } = await opened("web-back");
  await page.keyboard.press("Alt+Shift+KeyT");
  await page.locator(".driver").getByText("You drive").waitFor();

  await page.keyboard.press("Alt+Shift+KeyH");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("I fixed the path");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");

  await page.locator(".driver").getByText("agent drives").waitFor();
  expect(await control(sessionId)).toMatchObject({ handback_note: "I fixed the path", lease_seconds: 300 });
});

test("[WEB-26] whoever took control sees what the agent changed in its shell, and goes on in a clean one", async () => {
  const { page } = await opened("web-changes");
  await stage.run("web-changes", "alias sudo='echo caught'; cd /usr");
  await choice(page, "Take control").click();
  await page.getByRole("button", { name: "Shell changes" }).click();

  const dialog = page.getByRole("dialog");
  await dialog.getByText("echo caught").waitFor();
  expect(await dialog.locator("dt").allTextContents()).toContain("alias sudo");
  await dialog.getByRole("button", { name: "Open a clean shell" }).click();
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await page.locator(".terminal-place").click();
  await page.keyboard.type("pwd; type sudo\n");
  await seesInTerminal(page, /\n\/usr\n(?!.*aliased)/);
});
