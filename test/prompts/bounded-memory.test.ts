/** The seed's "Bounded memory", at a hub of its own whose memory can be looked at. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { spawnTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest } from "../support/terminal-hub.ts";
import { asking, pendingIn, prints } from "./asking-hub.ts";

const FLOOD_MB = 100;
/** Less than what is printed, far more than a hub needs to pass it on. */
const GROWTH_MB = 80;
/** A thread prints while `input` waits. */
const PROGRAM = `
import sys, threading
def flood():
    begun.wait()
    for _ in range(${FLOOD_MB} * 16): sys.stdout.write("x" * 65536)
    sys.stdout.write("FLOOD" + "ED")
    sys.stdout.flush()
begun = threading.Event()
threading.Thread(target=flood).start()
print("GOT", input("Begin? [Y/n] "))
begun.set()
print("AND", input("Go on? [Y/n] "))
`;

test("[PMT-21, PMT-24] Bounded memory: 100 MB without a line end while a question stands end neither it nor the hub", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const { url, child } = await spawnTestHub(dataDir, [], "terminal-hub");
  const peakMb = () => memoryPeakMb(child.pid ?? 0);
  const people = { agent: await clientOf(url, dataDir, "agent"), person: await clientOf(url, dataDir, "operator") };
  await writeFile(join(dataDir, "flood.py"), PROGRAM);
  const it = await asking(people, `python3 ${dataDir}/flood.py`);
  const beforeMb = peakMb();

  await people.person.prompt.reply({ prompt_id: it.prompt.prompt_id, nonce: it.prompt.nonce, value: "y" });
  const { conversation_id, sessionId } = it;
  const flooded = { conversation_id, match: "FLOODED", from_cursor: 0, timeout_ms: WAIT_BUDGET_MS } as const;
  expect(await people.agent.pty.wait_for(flooded)).toMatchObject({ matched: true });
  const grownMb = peakMb() - beforeMb;
  const { prompt_id, nonce, question } = await pendingIn(people.person, sessionId, it.prompt);
  await people.person.prompt.reply({ prompt_id, nonce, value: "y", wait_ms: OUTCOME_WAIT_MAX_MS });

  await prints(people.agent, it, "AND y");
  const offers = await people.person.event.list({ sessionId, types: ["prompt_request"] });
  expect(grownMb).toBeLessThan(GROWTH_MB);
  expect(question.length).toBeLessThanOrEqual(300);
  expect(offers.length).toBeLessThan(10);
  expect(Math.max(...offers.map(({ payload }) => JSON.stringify(payload).length))).toBeLessThan(4_000);
});

function memoryPeakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
