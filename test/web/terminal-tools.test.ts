import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { seesInTerminal, shownIn, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

async function attached(page: Page): Promise<void> {
  await page.locator(".terminal-place[data-there=true]").waitFor();
}

/** As the browser would, with this on the clipboard. */
async function pasteInto(page: Page, text: string): Promise<void> {
  await page.locator(".xterm-helper-textarea").evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** After the page has seen the new size, and before anything is drawn. Resolves when it looks. */
function pressPageUpWhenResized(place: Element): Promise<void> {
  return new Promise((resolve) => {
    let isLooking = false;
    const observer = new ResizeObserver(() => {
      resolve();
      if (!isLooking) return void (isLooking = true);
      observer.disconnect();
      const key = new KeyboardEvent("keydown", { key: "PageUp", shiftKey: true, bubbles: true });
      Object.defineProperty(key, "keyCode", { value: 33 });
      return place.querySelector(".xterm-helper-textarea")?.dispatchEvent(key);
    });
    observer.observe(place);
  });
}

test("[WEB-30, WEB-24] what an agent prints is seen; typing takes control and goes in", async () => {
  const sessionId = await stage.driven("web-typing");
  const page = await stage.visit(`#/session/${sessionId}`);
  await stage.agent.pty.exec_block({
    conversation_id: "web-typing",
    command: "echo from the ag''ent",
    wait_ms: WAIT_BUDGET_MS,
  });
  await seesInTerminal(page, "from the agent");
  expect(await page.locator(".driver").textContent()).toContain("drives");

  await page.locator(".terminal-place").click();
  await page.keyboard.type("echo typed by a per''son\n");

  await seesInTerminal(page, "typed by a person");
  await page.locator(".driver").getByText("You drive").waitFor();
  await eventually(async () =>
    expect((await stage.person.control.get({ sessionId })).reason).toBe("user_input_override"),
  );
});

test("[WEB-24] the first key says from whom control was taken; one click hands it back to them", async () => {
  const sessionId = await stage.driven("web-taken");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);

  await page.locator(".terminal-place").click();
  await page.keyboard.type("x");
  await page.getByText("You took control from agent.").waitFor();
  await page.locator(".taken").getByRole("button", { name: "Hand back" }).click();

  await eventually(async () =>
    expect(await stage.person.control.get({ sessionId })).toMatchObject({
      control_mode: "AGENT",
      holder: { kind: "agent", id: "agent" },
      lease_seconds: 300,
    }),
  );
  await page.locator(".taken").waitFor({ state: "detached" });
});

test("[WEB-34] one plain line is pasted at once; several lines and controls are shown first", async () => {
  const sessionId = await stage.driven("web-paste");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);
  const typed = async () => (await stage.person.event.list({ sessionId, types: ["input"] })).length;

  await pasteInto(page, "echo pas''ted");
  await seesInTerminal(page, "echo pas''ted");
  const before = await typed();
  await pasteInto(page, " one\r\u001b[201~rm two\r");
  const dialog = page.getByRole("dialog", { name: "Paste 3 lines?" });
  const shown = await dialog.locator("pre").textContent();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  const after = await typed();
  await pasteInto(page, " and\nmore");
  await page.getByRole("dialog").getByRole("button", { name: "Paste", exact: true }).click();

  await seesInTerminal(page, /pas''ted and\n.*more/);
  expect(shown).toBe(" one\n\\u{1b}[201~rm two\n");
  expect(after).toBe(before);
});

test("[WEB-37] what lies before comes when somebody scrolls up to it, and the view stays; it is searched too", async () => {
  const sessionId = await stage.driven("web-older");
  await stage.run("web-older", "seq 1 9000");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);
  const terminal = page.locator(".terminal-place");
  const firstNumber = async () => Number((await shownIn(page)).split("\n")[0]);

  await terminal.click();
  while ((await terminal.getAttribute("data-older")) === "maybe") await page.keyboard.press("Shift+PageUp");
  await page.locator("[data-older=all]").waitFor();
  // A snapshot has a thousand lines: what was at its top stays in view.
  await eventually(async () => expect(await firstNumber()).toBeGreaterThan(7_700));
  expect(await firstNumber()).toBeLessThan(8_100);

  await page.keyboard.press("Control+Shift+F");
  const search = page.getByRole("textbox", { name: "Search for" });
  await search.fill("4242");
  await page.getByRole("search").getByText("1 of 1").waitFor();
  await seesInTerminal(page, /^4242$/m);
  await search.fill("seq 1 9000");
  await seesInTerminal(page, "seq 1 9000\n1\n2\n3");
  await page.keyboard.press("Escape");
  await page.getByRole("search").waitFor({ state: "detached" });
});

test("[WEB-32] whoever scrolls just as the letters change size ends where they meant to", async () => {
  const sessionId = await stage.driven("web-letters");
  await stage.run("web-letters", "seq 1 900");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);
  const firstNumber = async () => Number((await shownIn(page)).split("\n")[0]);
  const lettersPx = () =>
    page.locator(".xterm-rows").evaluate((it) => Number.parseFloat(getComputedStyle(it).fontSize));
  const began = page.viewportSize() ?? { width: 0, height: 0 };
  await page.locator(".terminal-place").click();
  await page.keyboard.press("Shift+PageUp");
  await eventually(async () => expect(await firstNumber()).toBeLessThan(850));

  for (const height of [began.height - 150, began.height]) {
    const [before, px] = [await firstNumber(), await lettersPx()];
    await page.locator(".terminal-place").evaluate(pressPageUpWhenResized);
    await page.setViewportSize({ ...began, height });
    await eventually(async () => expect(await lettersPx()).not.toBe(px));
    const rows = (await shownIn(page)).split("\n").length;
    await eventually(async () => expect(await firstNumber()).toBe(before - rows + 1));
  }
});

test("[WEB-37, WEB-13] a search that can't be loaded says so, and links that can't are no fault of the page", async () => {
  const sessionId = await stage.driven("web-unloaded");
  const page = await stage.page();
  await page.route("**/assets/addon-*.js", (route) => route.abort());

  await page.goto(`${stage.hub.url}/#/session/${sessionId}`);
  await attached(page);
  await page.keyboard.press("Control+Shift+F");

  await page.getByText("The search could not be loaded.").waitFor();
  expect(stage.complaints.splice(0).filter((it) => !it.includes("Failed to load resource"))).toEqual([]);
});

test("[WEB-37] more lines than a terminal has room for: it says where the first of them are, also when they go later", async () => {
  const sessionId = await stage.driven("web-many");
  await stage.run("web-many", "seq 1 30000");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);
  const terminal = page.locator(".terminal-place");
  const pageUp = async (): Promise<void> => {
    await terminal.click();
    while ((await terminal.getAttribute("data-older")) === "maybe") await page.keyboard.press("Shift+PageUp");
  };

  await pageUp();
  await page.locator("[data-older=far]").waitFor();
  await page.getByText("What is older is in the replay.").waitFor();
  await page.keyboard.press("Control+Shift+F");
  const search = page.getByRole("textbox", { name: "Search for" });
  await search.fill("12345");
  await seesInTerminal(page, /^12345$/m);
  await page.keyboard.press("Escape");

  const young = await stage.driven("web-young");
  await stage.run("web-young", "seq 1 100");
  await page.goto(`${stage.hub.url}/#/session/${young}`);
  await page.locator(`[data-session="${young}"][data-there=true]`).waitFor();
  await pageUp();
  await page.locator("[data-older=all]").waitFor();
  await stage.run("web-young", "seq 1 30000");
  await page.locator("[data-older=far]").waitFor();
});

test("[WEB-38] commands are listed with how they ended; each is jumped to and copied", async () => {
  const sessionId = await stage.driven("web-blocks");
  await stage.run("web-blocks", "echo the first; (exit 3)");
  await stage.run("web-blocks", "seq 500");
  const page = await stage.visit(`#/session/${sessionId}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await attached(page);
  await page.getByRole("button", { name: "Commands" }).click();
  const block = page.locator(".blocks li").filter({ hasText: "echo the first" });
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

  await block.getByText("exit 3", { exact: true }).waitFor();
  await block.getByRole("button", { name: "Copy output" }).click();
  await page.getByText("Copied the output.").waitFor();
  const output = await clipboard();
  await block.getByRole("button", { name: "Copy command" }).click();
  await eventually(async () => expect(await clipboard()).toBe("echo the first; (exit 3)"));
  expect(await shownIn(page)).not.toContain("the first\n");
  await block.getByRole("button", { name: "Jump" }).click();

  await seesInTerminal(page, "the first\n");
  expect(output).toBe("the first\n");
  await stage.run("web-blocks", "true");
  await page.locator(".blocks li").filter({ hasText: "true" }).getByText("exit 0").waitFor();
  await page.getByRole("button", { name: "Close the list of commands" }).press("Escape");
  await page.locator(".blocks").waitFor({ state: "detached" });
  await page.locator(".terminal-tools button:focus", { hasText: "Commands" }).waitFor();
});

test("[WEB-35] a link leads to http and https alone, in a page that knows nothing of this one", async () => {
  const sessionId = await stage.driven("web-links");
  const page = await stage.visit(`#/session/${sessionId}`);
  await attached(page);
  const link = `${stage.hub.url}/healthz`;
  await stage.run(
    "web-links",
    `clear; printf '%s\\n' ${link}; printf '\\033]8;;javascript:alert(1)\\033\\\\evil\\033]8;;\\033\\\\\\n'`,
  );
  await seesInTerminal(page, /healthz\nevil/);
  const box = (await page.locator(".xterm-screen").boundingBox())!;
  const { rows } = await stage.person.pty.status({ conversation_id: "web-links" });
  const lines = (await shownIn(page)).split("\n");
  const at = async (text: string) => {
    const y = box.y + ((lines.findIndex((it) => it.startsWith(text)) + 0.5) * box.height) / rows;
    await page.mouse.move(box.x + 5, y);
    await page.mouse.move(box.x + 12, y);
    return { x: box.x + 12, y };
  };

  const evil = await at("evil");
  await page.mouse.click(evil.x, evil.y);
  const good = await at(link.slice(0, 10));
  await page.locator(".xterm-cursor-pointer").waitFor();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.mouse.click(good.x, good.y)]);
  await opened.waitForURL(link);

  expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
  expect(page.context().pages()).toHaveLength(2);
});
