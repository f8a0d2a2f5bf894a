/** The demo to its end, in pictures for the documentation: `npm run screenshots` puts them into docs/screenshots, `npm test` into nowhere. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";
import { passTimeUntil, seesInTerminal, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.guarded();
  return stage.stop;
});

const DOCS = join(import.meta.dirname, "..", "..", "docs", "screenshots");

test("[WEB-81, WEB-84, WEB-22, WEB-23, WEB-21, WEB-25] a newcomer's demo: asked, granted, answered, approved, stopped", async () => {
  const directory = process.env["SIDESTICK_SCREENSHOTS"] === "1" ? DOCS : await temporaryDirectory();
  const taken: string[] = [];
  const take = async (page: Page, name: string): Promise<void> => {
    taken.push(join(directory, `${name}.png`));
    await page.screenshot({ path: taken.at(-1)!, animations: "disabled" });
  };
  const page = await stage.page();
  await page.clock.install();
  await take(page, "first-page");
  await page.getByRole("button", { name: "Start the demo" }).click();
  await page.locator(".request").waitFor();
  await seesInTerminal(page, /[$#] *$/);
  await take(page, "agent-asks");
  await page.locator(".request").getByRole("button", { name: "Grant" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Grant", exact: true }).click();
  await passTimeUntil(page, page.locator(".xterm-rows", { hasText: /two.*three.*one/s }));
  await page
    .locator(".driver")
    .getByText(/^demo-.... drives$/)
    .waitFor();
  await passTimeUntil(page, page.getByLabel("Secret"));
  await take(page, "password");
  await page.getByLabel("Secret").fill("open sesame");
  await page.keyboard.press("Enter");
  await seesInTerminal(page, "11 characters, thank you");
  await passTimeUntil(page, page.getByRole("button", { name: "Approve", exact: true }));
  await take(page, "approval");
  const phone = await stage.page("#/inbox", { width: 390, height: 844, dark: true });
  await phone.getByRole("button", { name: "Approve", exact: true }).waitFor();
  await take(phone, "phone");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await passTimeUntil(page, page.getByText("Demo 5 of 6"));
  await seesInTerminal(page, /while :; do date; sleep 1; done\n.*\d\d:\d\d:\d\d/);
  await page.keyboard.press("Alt+Shift+KeyX");
  await page.locator(".receipt").getByText("Stopped by you.").waitFor();
  await page.getByText("Demo 6 of 6").waitFor();
  await take(page, "stopped");
  await page.getByRole("link", { name: "Replay" }).click();
  await page.getByRole("slider").press("End");
  await seesInTerminal(page, "thank you");
  await take(page, "replay");

  const demo = (await stage.person.token.list()).find((it) => it.name.startsWith("demo-"));
  expect(demo?.revokedAt).toBeDefined();
  for (const path of taken) expect((await stat(path)).size).toBeGreaterThan(10_000);
  // The agent's, when it was stopped.
  expect(stage.complaints.splice(0)).toEqual([expect.stringContaining("409")]);
});

test("[WEB-81] a demo whose page is loaded anew says that it broke off, and begins again", async () => {
  const page = await stage.page();
  await page.getByRole("button", { name: "Start the demo" }).click();
  await page.getByText("Demo 1 of 6").waitFor();
  const sessionId = new URL(page.url()).hash.split("/").at(-1)!;

  await page.reload();
  await page.getByText("The demo broke off").waitFor();
  await page.getByRole("button", { name: "Begin again" }).click();

  await page.getByText("Demo 1 of 6").waitFor();
  expect((await stage.person.session.get({ sessionId })).status).toBe("closed");
  await page.getByRole("button", { name: "End the demo" }).click();
  await page.reload();
  await page.locator(".driver").waitFor();
  expect(await page.getByText("The demo broke off").count()).toBe(0);
});
