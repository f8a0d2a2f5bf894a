import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { Probe, type ProbeTarget } from "./probe.ts";
import { closeProbe, inShell, look, lookUntil } from "./program-on-pty.contract.ts";
import { STUCK, THROWS } from "./stuck.contract.ts";
import { soakCount } from "../../../../test/support/soak.ts";

afterAll(closeProbe);

const LOOK_MS = 2_000;

async function probeWith(file: string): Promise<Probe> {
  const probe = await Probe.open({ deadlineMs: LOOK_MS, thread: new URL(file, import.meta.url) });
  onTestFinished(() => probe.close());
  return probe;
}

const at = (fd: number): ProbeTarget => ({
  fd,
  shellPid: 1,
  modes: { altScreen: false, bracketedPaste: false, mouse: false },
});
const looked = (fd: number) => ({ waiting: false, confidence: "high", reason: `looked at ${fd}` });
const unknown = (reason: string) => ({ waiting: false, confidence: "low", reason: `unknown: ${reason}` });

/** Lets the time of a look that hangs go by, once its thread has it. */
async function timedOut(look: Promise<unknown>): Promise<void> {
  const over = look.then(() => true);
  while (!(await Promise.race([over, nextTurn(false)]))) vi.advanceTimersByTime(LOOK_MS);
}

test("[PRB-19] a look that hangs or breaks is unknown, and those behind it are answered", async () => {
  const probe = await probeWith("stuck.contract.ts");

  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const looks = [10, STUCK, 11, THROWS, STUCK, 12].map((fd) => probe.look(at(fd)));

  await looks[0];
  await timedOut(looks[1]!);
  await looks[3];
  await timedOut(looks[4]!);

  const late = unknown("the look took too long");
  expect(await Promise.all(looks)).toEqual([looked(10), late, looked(11), unknown("it broke"), late, looked(12)]);
});

test("[PRB-19] of a look's time a machine that stood still takes a part: one timer is over, whatever the clock says", async () => {
  const probe = await probeWith("stuck.contract.ts");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  const hanging = probe.look(at(STUCK)).finally(() => (isOver = true));

  vi.advanceTimersToNextTimer();
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  const wasOver = isOver;
  vi.advanceTimersByTime(LOOK_MS);

  expect(wasOver).toBe(false);
  expect(await hanging).toEqual(unknown("the look took too long"));
});

test("[PRB-19] closing answers what hangs; afterwards everything is unknown", async () => {
  const probe = await probeWith("stuck.contract.ts");
  const hanging = probe.look(at(STUCK));

  await probe.close();

  expect(await hanging).toEqual(unknown("the probe is closed"));
  expect(await probe.look(at(10))).toEqual(unknown("the probe is closed"));
});

test("[PRB-19] a thread that can't be started is told on opening", async () => {
  await expect(probeWith("nowhere.ts")).rejects.toThrow("nowhere.ts");
});

test("[PRB-19] many looks at once are all answered, each for its own terminal", async () => {
  const [asking, busy] = [inShell("read -s secret"), inShell("exec sleep 1000")];
  await Promise.all([lookUntil(asking, { kind: "password" }), busy.running("sleep")]);

  const looks = await Promise.all(Array.from({ length: 50 }, (_, index) => look(index % 2 === 0 ? asking : busy)));

  expect(looks.map((it) => it.waiting)).toEqual(looks.map((_, index) => index % 2 === 0));
});

test("[PRB-22] programs at work are never reported as waiting", async () => {
  const rounds = soakCount(10);
  const work = [
    "NODE_DISABLE_COMPILE_CACHE=1 npm --version",
    "echo 'int main(void) { return 0; }' | gcc -O2 -x c - -o /dev/null",
    "/usr/bin/python3 -c 'import json, time; [json.loads(json.dumps(list(range(999)))) for _ in range(500)]; time.sleep(0.2)'",
    "find /usr/share -name '*.txt' | wc -l",
    "while read -r line; do :; done < /etc/services",
    "node -e 'let n = 0; const t = setInterval(() => ++n > 20 && clearInterval(t), 10)'",
    "apt-cache policy bash",
  ].join("; ");
  const program = inShell(`for i in $(seq ${rounds}); do ${work}; done; echo a''ll; exec sleep 1000`);
  const waiting: unknown[] = [];
  let samples = 0;

  await eventually(async () => {
    const seen = await look(program);
    samples += 1;
    if (seen.waiting) waiting.push(seen);
    expect(program.output).toContain("all");
  });

  expect(waiting).toEqual([]);
  expect(samples).toBeGreaterThan(10);
});
