/** An agent that wants a person to decide unaware. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { POLICY } from "../approvals/judged-hub.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { passTimeUntil, WebStage } from "./stage.ts";

let stage: WebStage;
let place: string;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "sidestick-cards-"));
  stage = await WebStage.open({ yaml: POLICY });
  return stage.stop;
});

afterAll(() => rm(place, { recursive: true, force: true }));

/** An agent's call that waits for a person; what comes of it doesn't matter. */
function runs(conversation_id: string, command: string, more: object = {}): void {
  void stage.agent.pty
    .exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS, ...more })
    .catch(() => undefined);
}

/** In the page, as soon as the button is there: what a person does whose click was already on its way. */
async function clickWhenThere(page: Page, selector: string): Promise<void> {
  await page.evaluate(
    (wanted) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          const button = document.querySelector(wanted);
          if (button === null) return void requestAnimationFrame(look);
          button.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
          resolve();
        };
        look();
      }),
    selector,
  );
}

test("[WEB-93] a card that appears under a click isn't approved by it; half a second later it is", async () => {
  const path = join(place, "slipped");
  const sessionId = await stage.driven("web-slip");
  const page = await stage.visit(`#/session/${sessionId}`);
  const clicked = clickWhenThere(page, ".ask .decide button.main");

  runs("web-slip", `touch ${path}`);
  await clicked;

  await page.getByText("Nothing was pressed").waitFor();
  const [approval] = await stage.person.approval.list({ sessionId, status: "pending" });
  expect([approval?.status, existsSync(path)]).toEqual(["pending", false]);
  await page.locator(".ask").getByRole("button", { name: "Approve" }).click();
  await eventually(() => expect(existsSync(path)).toBe(true));
});

test("[WEB-93] a card that moves under the hand isn't pressed; the keyboard needs no place", async () => {
  const page = await stage.visit("#/inbox");
  const [above, below] = await Promise.all(
    ["first", "second"].map((action) => stage.agent.approval.request({ kind: "tool", action, payload: { action } })),
  );
  const cardOf = (it: typeof above): Locator => page.locator(`#card-approval-${it?.requestId}`);
  const deny = cardOf(below).getByRole("button", { name: "Deny …" });
  await deny.click({ trial: true });

  await page.evaluate((id) => {
    const card = document.getElementById(id)!;
    card.style.marginBottom = "3rem";
    const [, moved] = document.querySelectorAll(`#${id} ~ .ask .decide button`);
    moved?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
  }, `card-approval-${above?.requestId}`);
  await page.getByText("Nothing was pressed").waitFor();
  expect(await cardOf(below).getByLabel("Why not?").count()).toBe(0);
  await cardOf(below).getByRole("button", { name: "Deny …" }).focus();
  await page.keyboard.press("Enter");

  await cardOf(below).getByLabel("Why not?").waitFor();
  for (const it of [above, below]) {
    await stage.person.approval.resolve({ requestId: it?.requestId ?? "", status: "rejected" });
  }
});

test("[WEB-93] a card that moves shows in the next frame that it can't be pressed", async () => {
  const page = await stage.visit("#/inbox");
  const asked = await Promise.all(
    ["third", "fourth"].map((action) => stage.agent.approval.request({ kind: "tool", action, payload: { action } })),
  );
  const [above = "", below = ""] = asked.map((it) => `card-approval-${it.requestId}`);
  await page.locator(`#${below}`).getByRole("button", { name: "Deny …" }).click({ trial: true });

  const shown = await page.evaluate(
    async ([first, second]) => {
      const card = document.getElementById(first!)!;
      const button = document.querySelector(`#${second} .decide button`)!;
      const nextFrame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
      const states: (string | null)[] = [];
      for (let margin = 1; margin <= 5; margin += 1) {
        button.removeAttribute("aria-disabled");
        card.style.marginBottom = `${margin}rem`;
        await nextFrame();
        await nextFrame();
        states.push(button.getAttribute("aria-disabled"));
      }
      return states;
    },
    [above, below],
  );

  expect(shown).toEqual(Array.from({ length: 5 }, () => "true"));
  for (const { requestId } of asked) await stage.person.approval.resolve({ requestId, status: "rejected" });
});

test("[WEB-93] a dialog stands still whatever the card does that opened it", async () => {
  const sessionId = await stage.driven("web-dialog");
  await stage.person.control.take({ sessionId });
  await stage.agent.control.request({ sessionId, reason: "to go on" });
  const page = await stage.visit("#/inbox");
  const card = page.locator(".ask[data-kind=request]");
  await card.getByRole("button", { name: "Grant …" }).click();
  await page.getByRole("dialog").waitFor();

  const isDisabled = await card.evaluate((it) => {
    it.style.marginTop = "3rem";
    const button = it.querySelector("dialog .row button + button");
    button?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
    return button?.getAttribute("aria-disabled");
  });

  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect([isDisabled, await page.getByText("Nothing was pressed").count()]).toEqual([null, 0]);
  await stage.person.control.decline({ sessionId });
});

/** Where each letter of an element stands, by its place in the text. */
async function lettersOf(element: Locator): Promise<readonly number[]> {
  return element.evaluate((it) => {
    const text = it.firstChild!;
    return Array.from({ length: text.textContent!.length }, (_, at) => {
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return Math.round(range.getBoundingClientRect().x);
    });
  });
}

test("[WEB-94] a command whose end is out of sight can't be approved before somebody was there", async () => {
  const path = join(place, "at-the-end");
  const sessionId = await stage.driven("web-long");
  const page = await stage.visit(`#/session/${sessionId}`, { height: 700 });
  runs("web-long", `true\n${"# harmless\n".repeat(60)}touch ${path}`);
  const card = page.locator(".ask");
  const approve = card.getByRole("button", { name: "Approve" });

  await card.getByRole("button", { name: "Deny …" }).click({ trial: true });
  expect([await approve.isDisabled(), await card.getByRole("button", { name: "Edit …" }).isDisabled()]).toEqual([
    true,
    true,
  ]);
  await card.getByRole("button", { name: "Read to the end" }).click();
  await approve.click();

  await eventually(() => expect(existsSync(path)).toBe(true));
});

test("[WEB-94] letters that run from right to left don't turn what is decided about", async () => {
  const text = "keep \u05d0 1 \u05d1 2 \u05d2 !";
  await stage.driven("web-bidi");
  runs("web-bidi", `touch ${text}`);
  const { requestId } = await stage.agent.approval.request({ kind: "tool", action: text, payload: { text } });
  const page = await stage.visit("#/inbox");
  const own = page.locator(`#card-approval-${requestId}`);
  const command = page.locator(".ask pre.command").filter({ hasText: "touch keep" });

  for (const shown of [command, own.locator("h2"), own.locator(".dd, dd").first(), own.locator("blockquote")]) {
    const letters = (await lettersOf(shown)).slice(0, "touch keep x 1 x 2 x !".length);
    const line = letters.slice(letters.lastIndexOf(letters[0]!));
    expect(line).toEqual(line.toSorted((a, b) => a - b));
  }
});

test("[WEB-96] what an agent says at length leaves STOP NOW and the terminal in sight, on a phone too", async () => {
  const sessionId = await stage.driven("web-note");
  await stage.agent.control.release({ sessionId, note: "look here\n".repeat(300) });
  await stage.person.control.take({ sessionId });
  await stage.agent.control.request({ sessionId, reason: "please\n".repeat(60) });
  const page = await stage.visit(`#/session/${sessionId}`, { width: 390, height: 844 });
  await page.locator(".request").waitFor();
  await page.locator(".terminal-place[data-there=true]").waitFor();

  const stop = (await page.getByRole("button", { name: "STOP NOW" }).boundingBox())!;
  const terminal = (await page.locator(".terminal-place").boundingBox())!;
  expect(stop.y + stop.height).toBeLessThan(400);
  expect(terminal.y).toBeLessThan(700);
});

test("[WEB-96] a card that can't be drawn leaves the others, and who drives, as they are", async () => {
  const sessionId = await stage.driven("web-broken");
  const { requestId } = await stage.agent.approval.request({ sessionId, kind: "tool", action: "ok", payload: {} });
  const page = await stage.page();
  await page.route("**/overview", async (route) => {
    const response = await route.fetch();
    const overview = (await response.json()) as { readonly approvals: readonly object[] };
    const broken = {
      ...overview.approvals.at(-1),
      requestId: "broken",
      payload: { command: "x", touches: 7 },
      epoch: 1,
    };
    await route.fulfill({ response, json: { ...overview, approvals: [...overview.approvals, broken] } });
  });
  await page.goto(`${stage.hub.url}/#/session/${sessionId}`);
  await page.reload();

  await page.getByText("This part of the page is broken: this card.").waitFor();
  await page.locator(`#card-approval-${requestId}`).getByRole("button", { name: "Approve" }).waitFor();
  await page.getByRole("button", { name: "STOP NOW" }).waitFor();
  for (const hash of ["#/session/%", "#/%E0%A4%A"]) {
    await page.goto(`${stage.hub.url}/${hash}`);
    await page.locator("main h1").waitFor();
  }
  expect(stage.complaints.splice(0).filter((it) => !/is not a function|404/.test(it))).toEqual([]);
  await stage.person.approval.resolve({ requestId, status: "rejected" });
});

/** In the page: how often a long text was made readable. */
const COUNT_LONG_TEXTS = `{
  const { replaceAll } = String.prototype;
  const { dataset } = document.body;
  String.prototype.replaceAll = function (...given) {
    if (this.length > 10_000) dataset.worked = Number(dataset.worked ?? 0) + 1;
    return replaceAll.apply(this, given);
  };
}`;

test("[WEB-98] events work out no card anew that they don't change", async () => {
  const payload = { long: "y\u202e ".repeat(10_000) };
  const { requestId } = await stage.agent.approval.request({ kind: "tool", action: "long", payload });
  const sessionId = await stage.driven("web-flood");
  const page = await stage.page("#/inbox");
  await page.locator(`#card-approval-${requestId}`).waitFor();
  await page.evaluate(COUNT_LONG_TEXTS);

  for (let sequence = 0; sequence < 20; sequence += 1)
    await stage.agent.control.safe_point({ sessionId, step: `step ${sequence}`, sequence });
  await stage.terminal("after the flood");
  await page.getByRole("link", { name: /after the flood/ }).waitFor();

  expect(await page.evaluate(() => document.body.dataset["worked"])).toBeUndefined();
  await stage.person.approval.resolve({ requestId, status: "rejected" });
});

test("[WEB-96] a screen or an overview that can't be had doesn't log the page out, nor leave it waiting", async () => {
  const sessionId = await stage.terminal("closed");
  await stage.person.session.close({ sessionId });
  const page = await stage.page();
  await page.clock.install();
  await page.route("**/keyframe*", (route) => route.fulfill({ status: 500, body: "{}" }));
  await page.goto(`${stage.hub.url}/#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await page.locator(".notice.bad").waitFor();
  expect(await page.locator("[data-link=live]").count()).toBe(1);

  await page.route("**/overview", (route) => route.fulfill({ status: 503, body: "{}" }), { times: 1 });
  await page.reload();
  await passTimeUntil(page, page.locator("[data-link=live]"));
  await page.locator(".terminal-place[data-there=true]").waitFor();

  expect(stage.complaints.splice(0).filter((it) => !/50[03]/.test(it))).toEqual([]);
});
