/**
 * A hub that lives at a quick pace, until it is killed: plans are found and decided, output is printed and forwarded, all to one
 * thread. Prints a line for each plan and each piece of output that the log has.
 *
 *   node chat-victim.ts <data-dir> <session id> <first number> <begin of time>
 */
import { ANN, openChatDesks } from "./chat-desks.ts";
import { PACE } from "./pace.ts";
import { printNow } from "../support/print-now.ts";

const [dataDir = "", sessionId = "", first = "0", begin = "0"] = process.argv.slice(2);
const hub = await openChatDesks(dataDir, { now: PACE(Number(begin)) });

async function decide(index: number): Promise<void> {
  const plan = { planId: `plan-${index}`, title: `Plan ${index}`, steps: ["Add a test", "Fix it"] };
  await hub.journal.note(sessionId, "process", [{ type: "plan", payload: plan, source: ANN }]);
  printNow(`plan ${index}\n`);
  const decision = { planId: plan.planId, decision: "execute", by: `person-${index}` };
  await hub.journal.note(sessionId, "process", [{ type: "plan", payload: decision, source: ANN }]);
}

async function print(index: number): Promise<void> {
  const bytes = Buffer.from(`npm info ${index};\n`);
  await hub.sessions.input(sessionId, { bytes, by: ANN, class: "drive" });
  printNow(`print ${index}\n`);
}

for (let index = Number(first); ; index += 1) {
  await Promise.all([decide(index), print(index), hub.forwarder.flush()]);
  await new Promise((resolve) => setImmediate(resolve));
}
