/** Programs whose output is made to blind, hold up or lead astray whoever looks. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { seesInTerminal, shownIn, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

async function attached(conversation_id: string): Promise<{ readonly page: Page; readonly sessionId: string }> {
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.visit(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  return { page, sessionId };
}

/** How many bytes each input had that came of `acting` and of the one key behind it, with which control is taken. */
async function typedAfter(page: Page, sessionId: string, acting: () => Promise<void>): Promise<readonly unknown[]> {
  const inputs = () => stage.person.event.list({ sessionId, types: ["input"] });
  const before = (await inputs()).length;
  await acting();
  // What went before it has arrived when this has. A page that is just connecting anew sends nothing.
  await eventually(async () => {
    await page.locator("[data-link=live]").waitFor();
    await page.keyboard.type("k");
    await page.getByText("You took control from agent.").waitFor({ timeout: 5_000 });
  });
  const after = (await inputs()).slice(before);
  expect(after).not.toEqual([]);
  return after.map((it) => it.payload["bytes"]);
}

test("[WEB-92] no count of a sequence holds up the page, however it is written", async () => {
  const { page } = await attached("web-counts");
  const finals = ["b", "S", "L", "M", "T", "I", "Z", "@", "P", "X"].map((it) => `x\\033[2147483647${it}`);
  const others = ["x\\302\\23399999999S", `x\\033[${"0".repeat(80)}99999999L`, "x\\033[99999\\00799999b"];

  await stage.run("web-counts", `printf '${[...finals, ...others].join("")}'; clear; echo still''here`);

  await seesInTerminal(page, "stillhere");
});

test("[WEB-92] a flood of what is slow to draw leaves STOP NOW within reach", async () => {
  const sessionId = await stage.driven("web-slow");
  // Of its own: what it has got of the flood keeps it busy for longer than this test.
  const page = await stage.page(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  const slow = String.raw`\033#8\033[2J\033[99999S\033[99999L\033[?1049h\033[?1049l`;
  await stage.agent.pty.exec_interactive({
    conversation_id: "web-slow",
    command: `slow=$(printf '${slow}%.0s' $(seq 500)); while :; do printf "$slow"; done`,
  });

  await page.getByRole("button", { name: "STOP NOW" }).click();
  await page.locator(".receipt").waitFor();
  await eventually(async () => expect((await stage.person.control.get({ sessionId })).agent_status).toBe("STOPPED"));
});

test("[SCR-46] output that scrolls leaves a saved cursor in its row on the page too", async () => {
  const { page } = await attached("web-saved");

  await stage.run("web-saved", String.raw`printf '\033[2J\033[3;5H\0337\033[99H\n\n\n\0338'; echo st''ayed`);

  await seesInTerminal(page, "stayed");
  expect((await shownIn(page)).split("\n")[2]).toBe("    stayed");
});

test("[WEB-95] whoever only looks, with the mouse over the terminal, types nothing and takes nothing", async () => {
  const sessionId = await stage.driven("web-mouse");
  await stage.run("web-mouse", String.raw`printf '\033[?1004h\033[?1003h\033[?1006h\033[?1049h'; echo menu`);
  const page = await stage.visit(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await seesInTerminal(page, "menu");
  const { x, y } = (await page.locator(".xterm-screen").boundingBox())!;

  const typed = await typedAfter(page, sessionId, async () => {
    await page.mouse.move(x + 50, y + 50);
    await page.mouse.move(x + 90, y + 90, { steps: 5 });
    await page.mouse.wheel(0, 100);
    await page.mouse.click(x + 90, y + 90);
  });

  expect(typed).toEqual(typed.map(() => 1));
});

test("[WEB-95] Alt and a click, where no program asks for the mouse, type nothing and take nothing", async () => {
  const { page, sessionId } = await attached("web-alt-click");

  const typed = await typedAfter(page, sessionId, async () => {
    await page.locator(".xterm-screen").click({ modifiers: ["Alt"], position: { x: 400, y: 90 } });
  });

  expect(typed).toEqual(typed.map(() => 1));
});

test("[WEB-95, WEB-45] neither a terminal that comes late nor a change of who drives takes the keyboard from a password", async () => {
  const sessionId = await stage.driven("web-focus");
  await stage.agent.pty.exec_interactive({ conversation_id: "web-focus", command: "read -rsp 'Password: ' x" });
  await eventually(async () => expect(await stage.person.prompt.list({ session_id: sessionId })).toHaveLength(1));
  const page = await stage.page();
  const held = Promise.withResolvers<void>();
  await page.route("**/assets/terminal-view*.js", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(`${stage.hub.url}/#/session/${sessionId}`);
  const field = page.getByLabel("Secret");
  await field.focus();
  await page.keyboard.type("half");
  held.resolve();
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await page.keyboard.type("-rest");
  const late = await field.inputValue();
  await stage.person.control.take({ sessionId });
  await page.getByText("You drive", { exact: true }).waitFor();
  await page.keyboard.type("-end");

  expect([late, await field.inputValue()]).toEqual(["half-rest", "half-rest-end"]);
});

test("[WEB-97] a text behind which an address lies shows the address before it opens", async () => {
  const { page } = await attached("web-named");
  const target = `${stage.hub.url}/healthz`;
  await stage.run("web-named", String.raw`clear; printf '\033]8;;${target}\033\\https://good.example\033]8;;\033\\\n'`);
  await seesInTerminal(page, "https://good.example");
  const box = (await page.locator(".xterm-screen").boundingBox())!;
  const asked: string[] = [];
  page.on("dialog", (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  const { rows } = await stage.person.pty.status({ conversation_id: "web-named" });
  const line = (await shownIn(page)).split("\n").findIndex((it) => it.startsWith("https://good"));
  const [x, y] = [box.x + 30, box.y + ((line + 0.5) * box.height) / rows];
  await page.mouse.move(x - 5, y);
  await page.mouse.move(x, y);
  await page.locator(".xterm-cursor-pointer").waitFor();
  await page.mouse.click(x, y);

  await eventually(() => expect(asked).toEqual([`Open a page of ${new URL(target).host}?\n\n${target}`]));
  expect(page.context().pages()).toHaveLength(1);
});
