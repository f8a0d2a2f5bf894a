/** Web sites and local servers that want a person's login. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { seesInTerminal, shownIn, WebStage } from "./stage.ts";

let stage: WebStage;

beforeAll(async () => {
  stage = await WebStage.open();
  return stage.stop;
});

/** A server on another port of this machine, as any program in a session can run one. */
async function trap(): Promise<{ readonly url: string; readonly cookies: readonly string[] }> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.setHeader("set-cookie", `sidestick_${new URL(stage.hub.url).port}=planted; Path=/; HttpOnly`);
    response.end("a report");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, cookies };
}

async function follow(page: Page, text: string): Promise<Page> {
  const box = (await page.locator(".xterm-screen").boundingBox())!;
  const { rows } = await stage.person.pty.status({ conversation_id: "web-trap" });
  const line = (await shownIn(page)).split("\n").findIndex((it) => it.startsWith(text));
  const [x, y] = [box.x + 12, box.y + ((line + 0.5) * box.height) / rows];
  await page.mouse.move(x - 5, y);
  await page.mouse.move(x, y);
  await page.locator(".xterm-cursor-pointer").waitFor();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), page.mouse.click(x, y)]);
  await opened.waitForURL(text);
  return opened;
}

test("[WEB-90] a server on another port, to which a printed link leads, gets nothing that it could act with", async () => {
  const { url, cookies } = await trap();
  const sessionId = await stage.driven("web-trap");
  const page = await stage.page(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await stage.run("web-trap", `clear; echo ${url}`);
  await seesInTerminal(page, url);

  const opened = await follow(page, url);
  const [cookie = ""] = cookies;
  const answer = await fetch(`${stage.hub.url}/tokens`, {
    method: "POST",
    headers: { cookie, origin: stage.hub.url, "sidestick-csrf": "1", "content-type": "application/json" },
    body: JSON.stringify({ role: "operator", name: "thief" }),
  });

  expect(cookie).toContain("sidestick_operator_");
  expect(answer.status).toBe(401);
  expect(await opened.evaluate(() => localStorage.length)).toBe(0);
  // The planted cookie logs the page out at worst: it is nobody's.
  await page.reload();
  await page.getByText("You aren't logged in").waitFor();
  expect(stage.complaints.splice(0).filter((it) => !it.includes("401"))).toEqual([]);
});

test("[WEB-91] whoever opens a link for somebody else is asked first", async () => {
  const page = await stage.page();
  const { url } = await stage.person.login.link({ role: "viewer", name: "guest" });

  await page.goto(url);
  await page.getByText("This browser is logged in as operator (operator). The link is for guest (viewer).").waitFor();
  await page.getByRole("link", { name: "stay as you are" }).click();
  await page.locator(".who", { hasText: /^operator$/ }).waitFor();
  await page.goto(url);
  await page.getByRole("button", { name: "Log in as guest instead" }).click();

  await page.locator(".who", { hasText: "guest (only looks)" }).waitFor();
  expect(stage.complaints.splice(0).filter((it) => !it.includes("409"))).toEqual([]);
});
