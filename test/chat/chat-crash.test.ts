/** What leaves for chats when the hub is killed, again and again. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { killAfter } from "../crash/victim.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ANN, type ChattingHub, openChattingHub, THREAD } from "./chatting-hub.ts";
import { PACE } from "./pace.ts";
import { IS_SOAK } from "../support/soak.ts";

const LIVES = IS_SOAK ? 12 : 3;

test("[CHN-29] killed again and again: every plan is told once, in order, and decided; no output is lost or repeated", async () => {
  const dataDir = await temporaryDirectory();
  const begin = Date.now();
  const born = await openChattingHub(dataDir, { now: PACE(begin) });
  // Nobody attends it: the in-memory gate forgets with its process what it was told of that.
  const config = { kind: "terminal", workspaceId: "default", interactive: false, title: "build" } as const;
  const { sessionId } = await born.sessions.create(config, ANN);
  await born.bind(THREAD, sessionId);
  await born.close();
  const told: string[] = [];
  for (let life = 0; life < LIVES; life += 1) {
    const child = victim(dataDir, sessionId, String(life * 1_000), String(begin));
    const printed = /(?:plan .*\n[^]*){2}/;
    told.push(...(await killAfter(child, { delayMs: 150 + 130 * life, printed })));
  }

  const hub = await openChattingHub(dataDir, { now: PACE(begin) });
  onTestFinished(hub.close);
  await hub.sessions.close(sessionId, ANN);
  await eventually(() => expect([hub.outbox.forwarded, hub.outbox.waiting("web")]).toEqual([[], 0]));
  const messages = await hub.messages();
  const plans = messages.filter(({ card }) => card.kind === "plan");
  const numbers = plans.map(({ card }) => Number(/^Plan (\d+)/.exec(card.text)?.[1]));
  const output = messages.flatMap(({ card }) => (card.kind === "output" ? [card.code ?? ""] : [])).join("");

  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(numbers).toEqual(expect.arrayContaining(numbersIn(told.join("\n"), /plan (\d+)/g)));
  expect(plans.map(({ card }) => [card.facts?.at(-1)?.value, card.buttons])).toEqual(await outcomes(hub, numbers));
  expect(Math.max(...plans.map(({ edits, tellings }) => Math.max(edits, tellings)))).toBeLessThanOrEqual(2);
  const printed = numbersIn(output, /npm info (\d+);/g);
  expect(printed).toEqual([...new Set(printed)].toSorted((a, b) => a - b));
  expect(charactersOf(output)).toBe(await hub.output.size(sessionId));
  expect([numbers.length > LIVES, printed.length > LIVES]).toEqual([true, true]);
});

function victim(...args: readonly string[]): ChildProcess {
  const program = join(import.meta.dirname, "chat-victim.ts");
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function numbersIn(text: string, shape: RegExp): number[] {
  return [...text.matchAll(shape)].map(([, number]) => Number(number));
}

/** What was shown and what was said to be left out. */
function charactersOf(output: string): number {
  const notes = [...output.matchAll(/… (\d+) characters left out …\n/g)];
  return notes.reduce((sum, [note, count]) => sum - note.length + Number(count), output.length);
}

/** A plan that nobody had decided ends with its session. */
async function outcomes(hub: ChattingHub, numbers: readonly number[]) {
  const decided = new Set<string>();
  for await (const batch of hub.log.scan(["plan"])) {
    for (const { payload } of batch) {
      const { planId, decision } = payload as { readonly planId: string; readonly decision?: string };
      if (decision !== undefined) decided.add(planId);
    }
  }
  return numbers.map((it) => [decided.has(`plan-${it}`) ? `Accepted by person-${it}` : "The session has ended", []]);
}
