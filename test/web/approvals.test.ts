import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/client/sidestick.ts";
import type { Input } from "../../src/protocol/operations.ts";
import { POLICY } from "../approvals/judged-hub.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { clientOf } from "../support/terminal-hub.ts";
import { cuttableLink, WebStage } from "./stage.ts";

let stage: WebStage;
let inbox: Page;
let place: string;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "sidestick-cards-"));
  stage = await WebStage.open({ yaml: POLICY });
  inbox = await stage.lastingPage("#/inbox");
  return async () => {
    await stage.stop();
    await rm(place, { recursive: true, force: true });
  };
});

type Asking = { readonly approval: ApprovalRequest; readonly call: Promise<unknown> };

async function asked(conversation_id: string, command: string, more: Partial<Input<"pty.exec_block">> = {}) {
  const call = stage.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS, ...more });
  const settled = call.catch((error: unknown) => error);
  const approval = await eventually(async () => {
    const found = (await stage.person.approval.list()).find((it) => it.payload["command"] === command);
    if (found === undefined) throw new Error("nothing is asked");
    return found;
  });
  return { approval, call: settled } satisfies Asking;
}

function cardOf(page: Page, { approval }: Pick<Asking, "approval">): Locator {
  return page.locator(`#card-approval-${approval.requestId}`);
}

test("[WEB-40, WEB-41, WEB-42] what is approved in its session runs, and both pages say by whom", async () => {
  const path = join(place, "approved");
  const it = await asked("web-approve", `touch ${path}`, { reason: "to show\nthat it works" });
  const page = await stage.visit(`#/session/${it.approval.sessionId}`);
  const card = cardOf(page, it);

  await card.getByRole("timer").waitFor();
  const shown = await card.innerText();
  expect(shown).toMatch(/agent wants to run in \S+:/);
  expect(await card.locator("pre.command").textContent()).toBe(`touch ${path}`);
  expect(shown).toMatch(/high, in an open session.*asks: leaves something behind/s);
  expect(await card.locator(".words").innerText()).toMatch(/agent says, in its own words:\s+to show\nthat it works/);
  await card.getByRole("button", { name: "Approve" }).click();

  for (const decided of [card, cardOf(inbox, it)]) {
    await decided.getByText("Approved by operator").waitFor();
    await decided.getByText("it was started").waitFor();
  }
  await eventually(() => expect(existsSync(path)).toBe(true));
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["×"]);
  await page.locator(".ask:focus").waitFor();
  // By a key: what became of it moves the card, and a card that has just moved can't be clicked.
  await card.getByRole("button", { name: "Dismiss" }).press("Enter");
  await page.locator("main:focus").waitFor();
  expect(await page.locator(".ask").count()).toBe(0);
});

test("[WEB-41] an edit is shown as a diff before it is sent, and runs in the place of what was asked", async () => {
  const [first, second] = [join(place, "asked"), join(place, "edited")];
  const it = await asked("web-edit", `touch ${first}\ntrue`);
  const card = cardOf(inbox, it);
  await card.getByRole("button", { name: "Edit …" }).click();
  const send = card.getByRole("button", { name: "Approve as edited" });

  expect(await send.isDisabled()).toBe(true);
  await card.getByLabel("Run this instead").fill(`touch ${second}\ntrue`);
  expect(await card.locator(".diff").textContent()).toBe(`- touch ${first}\n+ touch ${second}\n  true\n`);
  await send.click();

  await card.getByText("Approved by operator, as edited").waitFor();
  await card.getByText("it was started").waitFor();
  await it.call;
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
});

test("[WEB-42, WEB-52, WEB-86] what is asked now is in sight in a small window, and what was decided says of which command and leaves the terminal its room", async () => {
  const deny = async (it: Asking): Promise<void> => {
    const { requestId } = it.approval;
    await stage.person.approval.resolve({ requestId, status: "rejected", approved: false });
    await it.call;
  };
  const first = await asked("web-small", `touch ${join(place, "small-0")}`);
  const hash = `#/session/${first.approval.sessionId}`;
  const page = await stage.visit(hash, { width: 390, height: 780 });
  await cardOf(page, first).waitFor();
  await deny(first);
  for (const name of ["small-1", "small-2"]) {
    const it = await asked("web-small", `touch ${join(place, name)}`);
    await cardOf(page, it).waitFor();
    await deny(it);
  }
  await page.locator(".ask[data-waits=false]").nth(2).waitFor();
  expect(await cardOf(page, first).locator("pre.command").innerText()).toBe(first.approval.payload["command"]);

  const command = `touch ${join(place, "small-3")}`;
  const now = await asked("web-small", command);

  await eventually(async () => {
    const boxOf = async (inside: string) => (await page.locator(inside).boundingBox())!;
    const shown = (await cardOf(page, now).locator("pre.command").boundingBox())!;
    expect(shown.y).toBeGreaterThanOrEqual((await boxOf(".session-cards")).y);
    expect(shown.y + shown.height).toBeLessThanOrEqual((await boxOf(".session-cards .decide")).y);
  });
  await deny(now);
  // The inbox would show as a card what it still sees waiting.
  await page.locator(".ask[data-waits=false]").nth(3).waitFor();
  expect((await page.locator(".terminal-place").boundingBox())!.height).toBeGreaterThan(780 / 3);
  await page.goto(`${stage.hub.url}/#/inbox`);
  await page.getByRole("region", { name: "Decided lately" }).getByText(command).waitFor();
});

test("[WEB-41] what is denied doesn't run, and the agent is told why", async () => {
  const path = join(place, "denied");
  const it = await asked("web-deny", `touch ${path}`);
  const card = cardOf(inbox, it);

  await card.getByRole("button", { name: "Deny …" }).click();
  await card.getByLabel("Why not?").fill("not on a Friday");
  await inbox.keyboard.press("Enter");

  await card.getByText("Denied by operator: not on a Friday").waitFor();
  expect(await it.call).toMatchObject({ code: "approval_rejected", details: { reason: "not on a Friday" } });
  expect(existsSync(path)).toBe(false);
});

test("[WEB-42] what ends with a stop says so", async () => {
  const stopped = await asked("web-stop", `touch ${join(place, "stopped")}`);
  const card = cardOf(inbox, stopped);
  await card.waitFor();
  await stage.person.control.user_intent({ sessionId: stopped.approval.sessionId, intent: "STOP_NOW" });

  await card.getByText("Ended: stopped").waitFor();
  expect(await card.getByRole("button", { name: "Approve" }).count()).toBe(0);
});

test("[WEB-42] whoever decides too late is told, and sees who was first", async () => {
  const path = join(place, "raced");
  const olga = await clientOf(stage.hub.url, stage.hub.dataDir, "operator", "olga");
  const it = await asked("web-race", `touch ${path}`);
  const { requestId } = it.approval;
  const page = await stage.visit("#/inbox");
  // The page's own yes is held up on its way until somebody else has said no.
  await page.route("**/resolve", async (route) => {
    await olga.approval.resolve({ requestId, status: "rejected", reason: "I was first" });
    await route.continue();
  });

  await cardOf(page, it).getByRole("button", { name: "Approve" }).click();

  await page.locator(".notice", { hasText: "Somebody decided first" }).waitFor();
  for (const card of [cardOf(page, it), cardOf(inbox, it)])
    await card.getByText("Denied by olga: I was first").waitFor();
  expect(existsSync(path)).toBe(false);
  // The refused request is a fault to the browser, and what this test wants.
  expect(stage.complaints.splice(0)).toEqual([expect.stringContaining("409")]);
});

test("[WEB-44] what was decided while the page was offline is shown as decided", async () => {
  const it = await asked("web-offline", `touch ${join(place, "offline")}`);
  const page = await stage.page("#/inbox");
  const link = await cuttableLink(page);
  await cardOf(page, it).waitFor();

  await link.cut();
  await page.locator("[data-link=offline]").waitFor();
  await stage.person.approval.resolve({ requestId: it.approval.requestId, status: "rejected", reason: "meanwhile" });
  link.mend();

  await cardOf(page, it).getByText("Denied by operator: meanwhile").waitFor();
});

test("[WEB-15, WEB-40] a viewer sees the card and no way to decide", async () => {
  const it = await asked("web-viewer", `touch ${join(place, "viewed")}`);
  const page = await stage.page("#/inbox", { viewer: "vera" });

  await cardOf(page, it).locator("pre.command").waitFor();

  expect(await cardOf(page, it).getByRole("button").count()).toBe(0);
  await stage.person.approval.resolve({ requestId: it.approval.requestId, status: "rejected" });
});
