/**
 * A host of its own, to be run as another user or without `/proc`: starts a program on a terminal, looks until it waits
 * or the patience is over, prints the last look as JSON. With PROBE_ANSWER in its environment it answers the first
 * question and looks again once the output contains PROBE_THEN.
 *
 *   node look-once.contract.ts <what its output must contain first> <patience ms> <file> <args…>
 */
import { spawn } from "@lydell/node-pty";
import { type Look, Probe } from "./probe.ts";

const [until = "", patienceMs, file = "", ...args] = process.argv.slice(2);
const { PROBE_ANSWER: answer, PROBE_THEN: then = "", ...env } = process.env;
const pty = spawn(file, args, { encoding: null, env: { ...env, TERM: "xterm-256color" } });
const { fd } = pty as typeof pty & { readonly fd: number };
let output = "";
pty.onData((bytes) => void (output += bytes));
const probe = await Probe.open();
const deadline = performance.now() + Number(patienceMs);

async function lookAfter(text: string): Promise<Look | undefined> {
  const modes = { altScreen: false, bracketedPaste: output.includes("\x1b[?2004h"), mouse: false };
  const seen = output.includes(text) ? await probe.look({ fd, shellPid: pty.pid, modes }) : undefined;
  if (seen?.waiting === true || performance.now() > deadline) return seen;
  await new Promise((resolve) => setTimeout(resolve, 30));
  return lookAfter(text);
}

let seen = await lookAfter(until);
if (answer !== undefined) {
  pty.write(`${answer}\r`);
  seen = await lookAfter(then);
}
pty.kill("SIGHUP");
process.stdout.write(`${JSON.stringify(seen ?? { output })}\n`, () => process.exit(0));
