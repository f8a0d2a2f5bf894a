import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { operatorClient, spawnTestHub } from "../support/hub.ts";
import { keptPort } from "../support/kept-port.ts";
import { endHostAfterTest } from "../support/terminal-hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { seesInTerminal, shownIn, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

test("[WEB-32, STR-6] viewers of any size change nothing; whoever drives fits the session to the page by a button", async () => {
  const conversation_id = "web-sizes";
  const sessionId = await stage.driven(conversation_id);
  const size = async () => (({ cols, rows }) => [cols, rows])(await stage.person.pty.status({ conversation_id }));
  const before = await size();
  const [wide, narrow] = await Promise.all([
    stage.visit(`#/session/${sessionId}`),
    stage.page(`#/session/${sessionId}`, { width: 390, height: 700 }),
  ]);
  await stage.run(conversation_id, "echo for all of th''em");
  await Promise.all([wide, narrow].map((it) => seesInTerminal(it, "for all of them")));
  const fit = wide.getByRole("button", { name: "Fit to this window" });

  expect([await size(), await fit.count()]).toEqual([before, 0]);
  await wide.getByRole("button", { name: "Take control" }).click();
  await fit.click();
  await eventually(async () => expect(await size()).not.toEqual(before));
  const [cols, rows] = await size();
  await eventually(async () =>
    expect(await Promise.all([wide, narrow].map((it) => it.locator(".xterm-rows > div").count()))).toEqual([
      rows,
      rows,
    ]),
  );
  expect(cols).toBeGreaterThan(80);
  await seesInTerminal(narrow, "for all of them");
});

test("[WEB-87] on a phone the letters stay readable, and the cursor's part of the line is in sight", async () => {
  const sessionId = await stage.terminal("on a phone");
  const page = await stage.visit(`#/session/${sessionId}`, { width: 390, height: 844 });
  await page.locator(".terminal-place[data-there=true]").waitFor();
  const place = page.locator(".terminal-place");
  const scrolled = () => place.evaluate((it) => it.scrollLeft);
  const type = (data: string) => stage.person.session.input({ sessionId, data });

  // A program's line: where a shell's ends depends on the machine's name, and on whether it was typed before the prompt.
  await type("\u0015clear; printf %075d 0; read x\r");
  await seesInTerminal(page, /^0{75}$/);
  const cursor = (await page.locator(".xterm-cursor").boundingBox())!;
  expect(await scrolled()).toBeGreaterThan(0);
  expect(cursor.x).toBeGreaterThan(0);
  expect(cursor.x + cursor.width).toBeLessThanOrEqual(390);
  await type("\r");
  await eventually(async () => expect(await scrolled()).toBe(0));

  const font = await page.locator(".xterm-rows").evaluate((it) => getComputedStyle(it).fontSize);
  expect([font, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual(["9px", 390]);
});

test("[WEB-31, WEB-15] who only looks types nothing, and a program's question gets exactly one answer", async () => {
  const conversation_id = "web-asks";
  const sessionId = await stage.driven(conversation_id);
  const pages = await Promise.all([
    stage.visit(`#/session/${sessionId}`),
    stage.page(`#/session/${sessionId}`, { viewer: "guest" }),
  ]);
  await Promise.all(pages.map((it) => it.locator(".terminal-place[data-there=true]").waitFor()));
  const guest = pages[1];
  await guest.locator(".terminal-place").click();
  await guest.keyboard.type("echo never\n");
  const answers = join(stage.hub.dataDir, "answers");
  // The terminal answers in order: the place of the cursor, which ends with R, is the last of its own.
  const asks = "stty raw -echo; printf '\\033[c\\033]11;?\\033\\\\\\033[6n'; IFS= read -rd R own; printf as''ked";
  const command = `${asks}; IFS= read -rd q x; printf %s "$own"R"$x" >${answers}; stty sane; echo; echo do''ne`;
  await stage.agent.pty.exec_interactive({ conversation_id, command });
  // Whatever a page had answered went on its way before the key that ends the reading.
  await Promise.all(pages.map((it) => seesInTerminal(it, "asked")));
  await pages[0].locator(".terminal-place").click();
  await pages[0].keyboard.type("q");
  await Promise.all(pages.map((it) => seesInTerminal(it, /^done$/m)));

  const answered = await readFile(answers, "latin1");
  const count = (pattern: RegExp): number => [...answered.matchAll(pattern)].length;
  // oxlint-disable-next-line no-control-regex -- answers of terminals are made of them
  expect([count(/\u001B\[\?[\d;]*c/g), count(/\u001B\[\d+;\d+R/g), count(/\u001B\]11;rgb:/g)]).toEqual([1, 1, 1]);
  const inputs = await stage.person.event.list({ sessionId, types: ["input"] });
  expect(inputs.filter((it) => it.source.id === "guest")).toEqual([]);
  expect(await shownIn(guest)).not.toContain("never");
});

test("[WEB-33, WEB-11] after a restart of the hub the page shows the screen that the session has, and goes on", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const port = String(await keptPort());
  const first = await spawnTestHub(dataDir, ["--port", port], "terminal-hub");
  const person = operatorClient(dataDir);
  const conversation_id = "web-restart";
  const run = (command: string) => person.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  const { workspace_session_id: sessionId } = await run(
    "echo before; (sleep 1; echo mean''while; touch there) & sleep 0.1",
  );
  const page = await stage.page(`#/session/${sessionId}`, { at: { url: first.url, person } });
  await seesInTerminal(page, "before");

  await first.kill("SIGKILL");
  await page.locator("[data-link=offline]").waitFor();
  await spawnTestHub(dataDir, ["--port", port], "terminal-hub");
  await page.locator("[data-link=live]").waitFor();
  await seesInTerminal(page, "meanwhile");
  await run("echo after; seq 100; printf '\\033[3;5Hplaced'");

  const screen = async () => {
    const { lines } = await person.pty.read_screen({ conversation_id });
    return lines
      .map((it) => it.trimEnd())
      .join("\n")
      .trimEnd();
  };
  await seesInTerminal(page, "placed");
  await eventually(async () => expect(await shownIn(page)).toBe(await screen()));
  const refused = stage.complaints.splice(0);
  expect(refused.filter((it) => !/ERR_CONNECTION|WebSocket|Failed to load resource/.test(it))).toEqual([]);
});

test("[WEB-2, WEB-30, WEB-83] colours of 24 bits are shown under the page's policy, and others change with the page's", async () => {
  const conversation_id = "web-colours";
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.visit(`#/session/${sessionId}`);
  await stage.run(conversation_id, "printf '\\033[38;2;10;200;30mgre''en\\033[m\\n'");
  await seesInTerminal(page, /^green$/m);

  // In one step: a line that is drawn anew between two has other spans.
  const colour = () =>
    page.evaluate(() => {
      const spans = [...document.querySelectorAll(".xterm-rows span")];
      return getComputedStyle(spans.find((it) => it.textContent === "green")!).color;
    });
  expect(await colour()).toBe("rgb(10, 200, 30)");
  const letters = () => page.locator(".xterm-rows").evaluate((it) => getComputedStyle(it).color);
  expect(await letters()).toBe("rgb(27, 31, 36)");
  await page.emulateMedia({ colorScheme: "dark" });
  await eventually(async () => expect(await letters()).toBe("rgb(230, 232, 235)"));
});

test("[WEB-30, WEB-61, WEB-13] a session that is over shows its last screen; where that can't be had, the page says so and goes on", async () => {
  const conversation_id = "web-over";
  const sessionId = await stage.driven(conversation_id);
  await stage.run(conversation_id, "seq 300; echo the la''st");
  await stage.person.session.close({ sessionId });

  const page = await stage.visit(`#/session/${sessionId}`);

  await seesInTerminal(page, /300\nthe last\n/);
  // What the earlier page still asks for is not counted.
  const address = page.url();
  await page.goto("about:blank");
  let links = 0;
  page.on("websocket", () => (links += 1));
  const refused: string[] = [];
  await page.route("**/keyframe*", (route) => {
    refused.push(route.request().url());
    return route.fulfill({ status: 503 });
  });
  await page.goto(address);
  await page.locator(".notice.bad").waitFor();
  expect(await page.locator("[data-link]").getAttribute("data-link")).toBe("live");
  // A page that lost its link, as on a busy machine, asks once more when it is back.
  await page.unroute("**/keyframe*");
  expect(refused).not.toEqual([]);
  expect(refused.length).toBeLessThanOrEqual(links);
  const isExpected = (it: string): boolean => it.includes("503") && refused.some((url) => it.includes(url));
  expect(stage.complaints.splice(0).filter((it) => !isExpected(it))).toEqual([]);
});

test("[WEB-36, WEB-76] while a flood pours in the page does what it is told, and then shows the end of it", async () => {
  const conversation_id = "web-flood";
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.visit(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  const enough = join(await temporaryDirectory(), "enough");
  const pouring = stage.run(
    conversation_id,
    `until [ -e ${enough} ]; do seq 20000; done; seq 999990 1000000; echo po''ured`,
  );
  await seesInTerminal(page, /^\d+\n\d+$/m);

  await page.getByRole("button", { name: "Commands" }).click();
  await page.locator(".blocks li").filter({ hasText: "seq 20000" }).getByText("running").waitFor();

  await writeFile(enough, "");
  await pouring;
  await seesInTerminal(page, "999999\n1000000\npoured");
  expect(await page.locator("[data-link]").getAttribute("data-link")).toBe("live");
});
