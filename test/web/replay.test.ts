import { beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { cuttableLink, passTimeUntil, seesInTerminal, shownIn, WebStage } from "./stage.ts";
import { soakCount } from "../support/soak.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

type Look = { readonly cursor: number; readonly text: string };

async function look(conversation_id: string): Promise<Look> {
  const { lines, cursor } = await stage.person.pty.read_screen({ conversation_id });
  const text = lines.map((it) => it.trimEnd()).join("\n");
  return { cursor, text: text.trimEnd() };
}

async function shows(page: Page, { cursor, text }: Look): Promise<void> {
  await page.locator(`[data-shown="${cursor}"]`).waitFor();
  await eventually(async () => expect(await shownIn(page)).toBe(text));
}

test("[WEB-70, WEB-71, WEB-74, WEB-75] scrubbing shows each screen as it was, and who drove then", async () => {
  const conversation_id = "web-replay";
  const run = (command: string) => stage.run(conversation_id, command);
  const sessionId = await stage.driven(conversation_id);
  await run("echo first; printf '\\033[31mred\\033[m\\n'");
  const looks = [await look(conversation_id)];
  await run(`seq ${soakCount(200_000)}`);
  looks.push(await look(conversation_id));
  await run("printf '\\033[2J\\033[5;10Hhere'");
  looks.push(await look(conversation_id));
  await stage.person.session.input({ sessionId, data: "echo by a per''son\r" });
  await stage.person.pty.wait_for({ conversation_id, match: "by a person" });
  await eventually(async () => expect((await look(conversation_id)).text).toMatch(/by a person\n.*[$#]$/));
  looks.push(await look(conversation_id));

  const page = await stage.visit(`#/session/${sessionId}/replay?at=c${looks[1]!.cursor}`);
  await shows(page, looks[1]!);
  const hash = (cursor: number) =>
    page.evaluate((at) => (location.hash = at), `#/session/${sessionId}/replay?at=c${cursor}`);
  for (const index of [3, 0, 2, 1, 3]) {
    await hash(looks[index]!.cursor);
    await shows(page, looks[index]!);
  }

  expect(await page.locator(".moment-driver").textContent()).toBe("operator drove, somebody typed");
  await hash(looks[0]!.cursor);
  await eventually(async () => expect(await page.locator(".moment-driver").textContent()).toMatch(/^agent drove/));
  expect(await page.locator(".lane-drive [data-driver=agent]").count()).toBeGreaterThan(0);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export asciicast" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${sessionId}.cast`);
  await download.cancel();
});

test("[WEB-72, WEB-73] it is scrubbed by keys, plays, jumps to events, and gives a link to the moment", async () => {
  const conversation_id = "web-replay-keys";
  const run = (command: string) => stage.run(conversation_id, command);
  const sessionId = await stage.driven(conversation_id);
  await run("echo one");
  await run("echo two");
  const end = await look(conversation_id);
  await stage.person.session.close({ sessionId });
  const page = await stage.visit(`#/session/${sessionId}/replay`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const slider = page.getByRole("slider", { name: "Time" });
  const ms = async () => Number(await slider.inputValue());

  await slider.focus();
  await page.keyboard.press("End");
  await seesInTerminal(page, "two");
  expect((await shownIn(page)).trimEnd()).toContain(end.text);
  await page.keyboard.press("Home");
  await eventually(async () => expect([await ms(), await shownIn(page)]).toEqual([0, ""]));
  await page.keyboard.press("ArrowRight");
  const second = await ms();
  const next = page.getByRole("button", { name: "Next event" });
  await slider.focus();
  await page.keyboard.press("Home");
  const isThere = async () => (await page.locator(".moment-last", { hasText: "echo one" }).count()) > 0;
  while (!(await isThere())) await next.click();
  const stop = await ms();
  await page.getByRole("button", { name: "Copy link to this moment" }).click();
  await page.getByText("Copied a link to this moment.").waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());

  await page.getByLabel("Speed").selectOption("16");
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor();
  await seesInTerminal(page, "two");
  expect(second).toBeGreaterThan(0);
  expect(link).toBe(`${stage.hub.url}/#/session/${sessionId}/replay?at=${stop}`);
});

test("[WEB-77] it opens on the first that was drawn, and says what the marks mean", async () => {
  const conversation_id = "web-replay-first";
  const sessionId = await stage.driven(conversation_id);
  await stage.person.session.close({ sessionId });

  const page = await stage.visit(`#/session/${sessionId}/replay`);

  await seesInTerminal(page, /[$#]/);
  const marks = await page.getByRole("list", { name: "Marks" }).getByRole("listitem").allTextContents();
  expect(marks).toEqual(["$ command", "⇄ who drives, or what the person wants", "■ end"]);
});

test("[WEB-71, WEB-13] a moment that could not be had while the hub was away is drawn when it is back", async () => {
  const conversation_id = "web-replay-away";
  const sessionId = await stage.driven(conversation_id);
  await stage.run(conversation_id, "echo the e''nd");
  await stage.person.session.close({ sessionId });
  const page = await stage.page(`#/session/${sessionId}/replay?at=0`);
  const link = await cuttableLink(page);
  await page.locator('[data-shown="0"]').waitFor();
  const PAST = /\/(?:output|keyframe)\?/;

  await page.route(PAST, (route) => route.abort());
  await link.cut();
  await page.locator("[data-link=offline]").waitFor();
  await page.getByRole("slider", { name: "Time" }).press("End");
  await page.getByText("Try again when the page is live").waitFor();
  const meanwhile = await shownIn(page);
  await page.unroute(PAST);
  link.mend();
  await seesInTerminal(page, "the end");

  expect(meanwhile).not.toContain("the end");
  expect(stage.complaints.splice(0).filter((it) => !/ERR_FAILED|WebSocket/.test(it))).toEqual([]);
});

test("[WEB-70] the track of a session that goes on grows, and playing goes on with it", async () => {
  const conversation_id = "web-replay-live";
  const run = (command: string) => stage.run(conversation_id, command);
  const sessionId = await stage.driven(conversation_id);
  await run("echo one");
  const { cursor } = await look(conversation_id);
  const page = await stage.page(`#/session/${sessionId}/replay?at=c${cursor}`);
  await page.clock.install();
  await page.reload();
  await seesInTerminal(page, "one");

  await page.getByRole("button", { name: "Play" }).click();
  await run("echo later");
  await passTimeUntil(page, page.locator(".xterm-rows", { hasText: "later" }));
  await page.getByText(/drove|might/).waitFor();
  expect(await page.locator(".moment").textContent()).toContain("going on");
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(1);

  await stage.person.session.close({ sessionId });
  await passTimeUntil(page, page.getByRole("button", { name: "Play" }));
  expect(await page.locator(".moment").textContent()).toContain("The session ended");
});
