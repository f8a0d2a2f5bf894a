/** The real hub with real shells, and a real browser that looks at its page. */
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { Output, SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { eventually } from "../support/eventually.ts";
import { openGuardedHub } from "../support/guarded-hub.ts";
import { ask } from "../support/http.ts";
import { cookieOf } from "../support/login.ts";
import type { HubPolicy } from "../support/hub.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { lookOften, workersBrowser } from "./browser.ts";

type StoppableHub = Omit<TerminalHub, "where"> & { readonly stop: () => Promise<void> };

type Sight = { readonly width?: number; readonly height?: number; readonly dark?: boolean };

export type PageOptions = Sight & {
  /** Logged in as somebody who only looks. */
  readonly viewer?: string;
  /** Absent: the stage's own. */
  readonly at?: { readonly url: string; readonly person: SidestickClient };
};

export class WebStage {
  readonly hub: Omit<TerminalHub, "where">;
  readonly person: SidestickClient;
  readonly agent: SidestickClient;
  /** Whatever a page complained about: a policy that was broken, a script that failed. */
  readonly complaints: string[] = [];
  readonly #browser: Browser;
  #visited: Page | undefined;
  readonly #contexts = new Set<BrowserContext>();
  readonly #stopHub: () => Promise<void>;

  private constructor(hub: StoppableHub, browser: Browser) {
    this.hub = hub;
    this.person = hub.person;
    this.agent = hub.agent;
    this.#browser = browser;
    this.#stopHub = hub.stop;
  }

  /** For a whole file: what `beforeAll` returns must be `stop`. */
  static async open(policy?: HubPolicy): Promise<WebStage> {
    return WebStage.#over(openTerminalHub({}, policy));
  }

  /** The product as a process, with its own policy, whose agents' terminals are guarded. */
  static async guarded(): Promise<WebStage> {
    return WebStage.#over(openGuardedHub({ policy: "extends: default\n" }).then((hub) => ({ ...hub, stop: hub.end })));
  }

  static async #over(opening: Promise<StoppableHub>): Promise<WebStage> {
    const [hub, browser] = await Promise.all([opening, workersBrowser()]);
    return new WebStage(hub, browser);
  }

  /** Last of all it says what the pages complained about. */
  readonly stop = async (): Promise<void> => {
    await Promise.all([...this.#contexts].map((it) => it.close()));
    await this.#stopHub();
    expect(this.complaints).toEqual([]);
  };

  /** A browser's window of its own, logged in, at a place of the page; closed when the test is over. */
  async page(hash = "#/", options: PageOptions = {}): Promise<Page> {
    const page = await this.lastingPage(hash, options);
    onTestFinished(() => page.context().close());
    return page;
  }

  /**
   * The file's own window, at another place: that costs a tenth of opening one. What a test does to it for good, such as to
   * its clock, its storage or its stream, needs a window of its own.
   */
  async visit(hash = "#/", { width = 1280, height = 800, dark = false }: Sight = {}): Promise<Page> {
    const page = (this.#visited ??= await this.lastingPage());
    onTestFinished(async ({ task }) => {
      await page.unrouteAll();
      if (task.result?.state === "fail") this.#visited = undefined;
    });
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    await page.goto(`${this.hub.url}/#/`);
    // What the test before looked at is gone.
    await page.locator(".beginnings").waitFor();
    await page.goto(`${this.hub.url}/${hash}`);
    return page;
  }

  /** For a whole file. */
  async lastingPage(hash = "#/", options: PageOptions = {}): Promise<Page> {
    const {
      width = 1280,
      height = 800,
      dark = false,
      viewer,
      at = { url: this.hub.url, person: this.person },
    } = options;
    const colorScheme = dark ? "dark" : "light";
    const context: BrowserContext = await this.#browser.newContext({ viewport: { width, height }, colorScheme });
    this.#contexts.add(context);
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    lookOften(page);
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (said) => {
      if (said.type() === "error") this.complaints.push(`${said.text()} ${said.location().url}`.trimEnd());
    });
    await logIn(context, at, viewer);
    await page.goto(`${at.url}/${hash}`);
    await page.locator("[data-link=live]").waitFor();
    return page;
  }

  /** A person's terminal at its prompt. */
  async terminal(title: string): Promise<string> {
    const { sessionId } = await this.person.session.create({ kind: "terminal", title });
    await this.#active(sessionId);
    return sessionId;
  }

  /** An agent's terminal, which it drives. */
  async driven(conversation_id: string): Promise<string> {
    const { workspace_session_id } = await this.agent.pty.exec_block({
      conversation_id,
      command: ":",
      wait_ms: WAIT_BUDGET_MS,
    });
    return workspace_session_id;
  }

  /** A command of the agent's, to its end. */
  run(conversation_id: string, command: string): Promise<Output<"pty.exec_block">> {
    return this.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  }

  async #active(sessionId: string): Promise<void> {
    await eventually(async () => expect((await this.person.session.get({ sessionId })).status).toBe("active"));
  }
}

/** What the page of a login link does and leaves behind, without showing it: each page that is shown costs a second. */
async function logIn(
  context: BrowserContext,
  { url, person }: Required<PageOptions>["at"],
  viewer?: string,
): Promise<void> {
  const link = await person.login.link(viewer === undefined ? {} : { role: "viewer", name: viewer });
  const code = new URL(link.url).hash.replace("#code=", "");
  const answer = await ask(url, { method: "POST", path: "/login", body: { code }, headers: { origin: url } });
  const [name = "", value = ""] = cookieOf(answer).split("=");
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
  const kept = { origin: url, key: String(answer.body.key) };
  await context.addInitScript(({ origin, key }) => {
    if (location.origin === origin) localStorage["sidestick-page-key"] ??= key;
  }, kept);
}

/** What the page's terminal shows. */
export async function shownIn(page: Page): Promise<string> {
  const rows = await page.locator(".xterm-rows > div").allTextContents();
  return rows
    .map((it) => it.replaceAll("\u00A0", " ").trimEnd())
    .join("\n")
    .trimEnd();
}

export async function seesInTerminal(page: Page, text: string | RegExp): Promise<void> {
  await eventually(async () => {
    const shown = await shownIn(page);
    if (typeof text === "string") expect(shown).toContain(text);
    else expect(shown).toMatch(text);
  });
}

/** Passes what the page waits before it tries again, until that is there. Its clock must have been installed. */
export async function passTimeUntil(page: Page, there: Locator): Promise<void> {
  await eventually(async () => {
    await page.clock.fastForward(2_000);
    await there.first().waitFor({ timeout: 250 });
  });
}

/** The page's way to the hub, which breaks when told to and stays so until it is mended. */
export async function cuttableLink(page: Page) {
  let [isCut, close] = [false, async (): Promise<void> => undefined];
  await page.routeWebSocket("**/stream*", async (socket) => {
    close = () => socket.close({ code: 4000 });
    if (isCut) await close();
    else socket.connectToServer();
  });
  await page.reload();
  const cut = (): Promise<void> => {
    isCut = true;
    return close();
  };
  return { cut, mend: () => (isCut = false) };
}
