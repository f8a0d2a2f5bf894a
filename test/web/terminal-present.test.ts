/** A page that falls behind, is away, or is told late of a size: it comes to the present, and draws it as it is. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page, WebSocketRoute } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { passTimeUntil, seesInTerminal, shownIn, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

async function attached(page: Page): Promise<void> {
  await page.locator(".terminal-place[data-there=true]").waitFor();
}

async function screenOf(conversation_id: string): Promise<string> {
  const { lines } = await stage.person.pty.read_screen({ conversation_id });
  return lines
    .map((it) => it.trimEnd())
    .join("\n")
    .trimEnd();
}

/** As on a machine that draws slower than a program prints. */
async function slowDown(page: Page, rate: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate });
}

type Passing = { readonly page: WebSocketRoute; readonly hub: WebSocketRoute };

/** A page whose stream goes through the test's hands. */
async function routed(hash: string, onStream: (passing: Passing) => void): Promise<Page> {
  const page = await stage.page();
  await page.clock.install();
  await page.routeWebSocket("**/stream", (route) => onStream({ page: route, hub: route.connectToServer() }));
  await page.goto(`${stage.hub.url}/${hash}`);
  await page.reload();
  await attached(page);
  return page;
}

test("[WEB-36, WEB-37] a page that can't follow a flood goes to the present; what it passed over comes by scrolling up, and one types on", async () => {
  const conversation_id = "web-behind";
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.page(`#/session/${sessionId}`);
  let received = 0;
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => (received += payload.length));
  });
  await page.reload();
  await attached(page);
  await slowDown(page, 20);
  const terminal = page.locator(".terminal-place");

  await stage.run(conversation_id, "seq 400000; echo po''ured");
  await eventually(async () => expect(await shownIn(page)).toContain("399999\n400000\npoured"));
  const drawn = received;
  await slowDown(page, 1);
  expect(await shownIn(page)).toBe(await screenOf(conversation_id));
  expect(drawn).toBeLessThan(2_400_000);

  expect(await terminal.getAttribute("data-older")).toBe("maybe");
  await terminal.click();
  while ((await terminal.getAttribute("data-older")) === "maybe") await page.keyboard.press("Shift+PageUp");
  await page.locator("[data-older=far]").waitFor();
  await page.keyboard.press("Control+Shift+F");
  await page.getByRole("textbox", { name: "Search for" }).fill("385000");
  await seesInTerminal(page, /^385000$/m);
  await page.keyboard.press("Escape");
  await page.keyboard.type("echo ty''ped\n");
  await seesInTerminal(page, /^typed$/m);
});

test("[WEB-36] being told to lag alone changes nothing, nor does a flood for whoever has scrolled up", async () => {
  const conversation_id = "web-burst";
  const sessionId = await stage.driven(conversation_id);
  let streams: readonly Passing[] = [];
  let attaches = 0;
  let asked = 0;
  const page = await routed(`#/session/${sessionId}`, (passing) => {
    streams = [...streams, passing];
    passing.page.onMessage((message) => {
      if (String(message).startsWith('{"type":"attach"')) attaches += 1;
      passing.hub.send(message);
    });
  });
  const attachesBefore = attaches;
  await page.route("**/output?*", async (route) => {
    asked += 1;
    // As if much had come that isn't drawn.
    if (asked > 2)
      await route.fulfill({ json: { data: "", from_cursor: 0, cursor: 0, end_cursor: 1e9, oldest_cursor: 0 } });
    else await route.continue();
  });
  const lag = (): void => streams.at(-1)!.page.send(JSON.stringify({ type: "lagged", sessionId, cursor: 1 }));
  const lagUntil = (count: number): Promise<void> =>
    eventually(async () => {
      lag();
      await page.clock.fastForward(1_000);
      expect(asked).toBeGreaterThanOrEqual(count);
    });
  await stage.run(conversation_id, "seq 300");
  await seesInTerminal(page, "299\n300");

  await lagUntil(2);
  await page.locator(".terminal-place").click();
  await page.keyboard.press("Shift+PageUp");
  await lagUntil(4);
  const calm = attaches;
  await page.keyboard.press("Shift+PageDown");

  await eventually(async () => {
    lag();
    await page.clock.fastForward(1_000);
    expect(attaches).toBe(attachesBefore + 1);
  });
  expect(calm).toBe(attachesBefore);
});

test("[WEB-33] a size that is told after its bytes is drawn as it was", async () => {
  const conversation_id = "web-late";
  const sessionId = await stage.driven(conversation_id);
  const held: (() => void)[] = [];
  const page = await routed(`#/session/${sessionId}`, (passing) => {
    passing.hub.onMessage((message) => {
      const isSize = typeof message === "string" && message.includes('"type":"resize"');
      if (isSize) held.push(() => passing.page.send(message));
      else passing.page.send(message);
    });
  });
  const wider = join(await temporaryDirectory(), "wider");
  await stage.agent.pty.exec_interactive({
    conversation_id,
    command: `printf '\\033[?1049h\\033[Hsmall'; until [ -e ${wider} ]; do sleep 0.05; done; printf '\\033[2;150Hright'; tail -f /dev/null`,
  });
  await seesInTerminal(page, "small");

  await stage.agent.pty.resize({ conversation_id, cols: 160, rows: 24 });
  await writeFile(wider, "");
  await eventually(async () => expect(await screenOf(conversation_id)).toMatch(/^ {149}right$/m));
  await seesInTerminal(page, /^ight$/m);
  for (const tell of held) tell();

  await eventually(async () => expect(await shownIn(page)).toBe(await screenOf(conversation_id)));
});

test("[WEB-33] where the size changed while the page was away, it comes back to the screen that there is", async () => {
  const conversation_id = "web-away";
  const sessionId = await stage.driven(conversation_id);
  let stream: WebSocketRoute | undefined;
  const page = await routed(`#/session/${sessionId}`, (passing) => {
    stream = passing.page;
    passing.hub.onMessage((message) => {
      // As where the log no longer has it.
      if (!String(message).includes('"type":"resize"')) passing.page.send(message);
    });
  });
  const directory = await temporaryDirectory();
  const until = (file: string): string => `until [ -e ${join(directory, file)} ]; do sleep 0.05; done`;
  // Half a title at the end: what is drawn anew must not be taken for its rest.
  await stage.agent.pty.exec_interactive({
    conversation_id,
    command: `clear; printf 'first\\033]0;half'; ${until("away")}; printf '\\007\\033[2;100Hearly\\033]0;half'; ${until("back")}; printf '\\007\\033[10Hlast'; tail -f /dev/null`,
  });
  await seesInTerminal(page, /^first$/m);
  await page.route("**/stream/tickets", (route) => route.abort());
  await stream?.close({ code: 4000 });
  await page.locator("[data-link=offline]").waitFor();

  await writeFile(join(directory, "away"), "");
  await eventually(async () => expect(await screenOf(conversation_id)).toMatch(/^ {99}early$/m));
  await stage.agent.pty.resize({ conversation_id, cols: 70, rows: 20 });
  // The hub tells a page that comes back of the size that it has stored.
  await eventually(async () => {
    const resizes = await stage.person.event.list({ sessionId, types: ["resize"] });
    expect(resizes.at(-1)?.payload).toMatchObject({ cols: 70, rows: 20 });
  });
  await page.unroute("**/stream/tickets");

  await passTimeUntil(page, page.locator("[data-link=live]"));
  await writeFile(join(directory, "back"), "");
  await seesInTerminal(page, /^last$/m);
  await eventually(async () => expect(await shownIn(page)).toBe(await screenOf(conversation_id)));
  stage.complaints.splice(0);
});

test("[WEB-39] a screen reader finds the terminal's text once that is wanted, also after loading the page anew", async () => {
  const conversation_id = "web-aloud";
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.page(`#/session/${sessionId}`);
  const tree = page.locator(".xterm").getByRole("list");
  const button = page.getByRole("button", { name: "Screen reader" });
  await attached(page);
  const before = [await tree.count(), await button.getAttribute("aria-pressed")];

  await button.click();
  await stage.run(conversation_id, "echo to be re''ad");
  await tree.getByText("to be read", { exact: true }).waitFor();
  await page.reload();
  await tree.getByText("to be read", { exact: true }).waitFor();
  const after = await button.getAttribute("aria-pressed");
  await page.locator(".terminal-place").click();
  await page.keyboard.type("echo ty''ped\n");
  await tree.getByText("typed", { exact: true }).waitFor();
  await button.click();
  await tree.waitFor({ state: "detached" });

  expect([before, after]).toEqual([[0, "false"], "true"]);
});
