/**
 * The page in a real browser: how soon a session with 100 MB of history is painted, how long the page is busy at once while
 * 50 MB pour in, and how evenly a list of 200 sessions scrolls while commands run in some of them. Needs Debian's headless Chromium and what `npm run build` made.
 */
import type { Page } from "playwright-core";
import { WebStage } from "../test/web/stage.ts";
import { type Measure, median, percentile } from "./measure.ts";

const HISTORY_BYTES = 100_000_000;
const FLOOD_BYTES = 50_000_000;
const PAINTS = 5;
const PAINT_MAX_MS = 300;
const GAP_MAX_MS = 500;
const SEEKS = 8;
const SEEK_MAX_MS = 1000;
const SESSIONS = 200;
const BUSY_SESSIONS = 3;
const SCROLLED_MS = 4000;
/** Two frames of a screen that draws 60 a second. */
const FRAME_MAX_MS = 34;
const LINE = "some terminal output as a compiler prints it, with a path /src/a/b.ts:17";

export async function* run(): AsyncIterable<Measure> {
  const stage = await WebStage.open();
  try {
    yield* await paints(stage);
    yield* await flood(stage);
    yield* await list(stage);
  } finally {
    await stage.stop();
  }
}

/** From choosing it in the list to its last line on the screen, in a page that has shown a terminal before. */
async function paints(stage: WebStage): Promise<Measure[]> {
  const conversation_id = "bench-paint";
  const sessionId = await stage.driven(conversation_id);
  const other = await stage.driven("bench-other");
  await print(stage, conversation_id, HISTORY_BYTES);
  const page = await stage.page(`#/session/${other}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  const times: number[] = [];
  for (let round = 0; round < PAINTS; round += 1) {
    times.push(
      await page.evaluate(
        ([id, text]) =>
          new Promise<number>((resolve) => {
            const from = performance.now();
            location.hash = `#/session/${id}`;
            const look = (): void => {
              const rows = document.querySelector(`[data-session="${id}"] .xterm-rows`);
              if (rows?.textContent?.includes(text!) === true) resolve(performance.now() - from);
              else requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
          }),
        [sessionId, "all printed"],
      ),
    );
    await page.evaluate((id) => (location.hash = `#/session/${id}`), other);
    await page.locator(`[data-session="${other}"][data-there=true]`).waitFor();
  }
  const seeks = await seekTimes(page, sessionId);
  await page.context().close();
  return [
    { name: "replay seek, 100 MB of history, median", value: median(seeks), unit: "ms", atMost: SEEK_MAX_MS },
    { name: "first paint, 100 MB of history, median", value: median(times), unit: "ms", atMost: PAINT_MAX_MS },
    { name: "first paint, 100 MB of history, largest", value: Math.max(...times), unit: "ms" },
  ];
}

/** To and fro, each time to where nothing near was drawn before. */
async function seekTimes(page: Page, sessionId: string): Promise<number[]> {
  const times: number[] = [];
  await page.evaluate((id) => (location.hash = `#/session/${id}/replay`), sessionId);
  await page.locator("[data-shown]").waitFor();
  for (let round = 0; round < SEEKS; round += 1) {
    const cursor = Math.floor(((round * 5) % SEEKS) * (HISTORY_BYTES / SEEKS)) + 1_000_000;
    const from = performance.now();
    await page.evaluate(([id, at]) => (location.hash = `#/session/${id}/replay?at=c${at}`), [sessionId, cursor]);
    await page.locator(`[data-shown="${cursor}"]`).waitFor();
    times.push(performance.now() - from);
  }
  return times;
}

/** The longest time between two frames, and how much of the flood's time went by. */
async function flood(stage: WebStage): Promise<Measure[]> {
  const conversation_id = "bench-flood";
  const sessionId = await stage.driven(conversation_id);
  const page = await stage.page(`#/session/${sessionId}`);
  await page.locator(".terminal-place[data-there=true]").waitFor();
  await page.evaluate(() => {
    const seen = { longest: 0, last: performance.now() };
    (globalThis as unknown as { seen: typeof seen }).seen = seen;
    const tick = (): void => {
      const now = performance.now();
      seen.longest = Math.max(seen.longest, now - seen.last);
      seen.last = now;
      setTimeout(tick, 0);
    };
    tick();
  });
  const from = performance.now();
  await print(stage, conversation_id, FLOOD_BYTES);
  await page.waitForFunction(
    () => document.querySelector(".xterm-rows")?.textContent?.includes("all printed"),
    undefined,
    {
      timeout: 120_000,
    },
  );
  const took = performance.now() - from;
  const longest = await page.evaluate(() => (globalThis as unknown as { seen: { longest: number } }).seen.longest);
  await page.context().close();
  return [
    { name: "flood of 50 MB, longest that the page was busy at once", value: longest, unit: "ms", atMost: GAP_MAX_MS },
    { name: "flood of 50 MB, until all is drawn", value: took, unit: "ms" },
  ];
}

/** Scrolled to and fro in each frame: how far apart the frames are. */
async function list(stage: WebStage): Promise<Measure[]> {
  const busy = Array.from({ length: BUSY_SESSIONS }, (_, index) => `bench-busy-${index}`);
  await Promise.all(busy.map((conversation_id) => stage.driven(conversation_id)));
  const { sessions } = await stage.person.hub.overview();
  const open = sessions.filter((it) => it.status !== "closed").length;
  for (let made = open; made < SESSIONS; made += 1) {
    await stage.person.session.create({ kind: "terminal", title: `session ${made}` });
  }
  const page = await stage.page();
  await page.waitForFunction((count) => document.querySelectorAll(".session-row").length >= count, SESSIONS);
  const over = new AbortController();
  const working = busy.map(async (conversation_id) => {
    while (!over.signal.aborted) await stage.agent.pty.exec_block({ conversation_id, command: "true", wait_ms: 5000 });
  });
  const gaps = await page.evaluate(
    (durationMs) =>
      new Promise<number[]>((resolve, reject) => {
        const side = document.querySelector(".session-list")!;
        const begun = performance.now();
        const seen: number[] = [];
        let last = begun;
        let by = 40;
        const step = (now: number): void => {
          seen.push(now - last);
          last = now;
          const at = side.scrollTop;
          side.scrollTop = at + by;
          if (side.scrollTop === at) by = -by;
          if (now - begun < durationMs) requestAnimationFrame(step);
          else if (side.scrollHeight > 4 * side.clientHeight) resolve(seen.slice(1));
          else reject(new Error("There is nothing to scroll"));
        };
        requestAnimationFrame(step);
      }),
    SCROLLED_MS,
  );
  over.abort();
  await Promise.all(working);
  await page.context().close();
  const p95 = percentile(gaps, 0.95);
  return [
    { name: "scrolling 200 sessions, frame to frame, p95", value: p95, unit: "ms", atMost: FRAME_MAX_MS },
    { name: "scrolling 200 sessions, frame to frame, largest", value: Math.max(...gaps), unit: "ms" },
  ];
}

async function print(stage: WebStage, conversation_id: string, bytes: number): Promise<void> {
  const lines = Math.ceil(bytes / (LINE.length + 2));
  const command = `yes '${LINE}' | head -n ${lines}; echo all print''ed`;
  const { pending } = await stage.agent.pty.exec_block({ conversation_id, command, wait_ms: 45_000 });
  if (pending === true) await stage.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: 120_000 });
}
