import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { ChatLine } from "./chat-line.ts";
import { Terminal } from "./terminal.ts";

/** Somebody at a keyboard, and all that they see. */
function keyboard() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let seen = "";
  const see = (chunk: unknown): true => {
    seen += String(chunk);
    return true;
  };
  for (const stream of [stdout, stderr]) stream.on("data", see);
  const spy = vi.spyOn(process.stderr, "write").mockImplementation(see);
  onTestFinished(() => spy.mockRestore());
  const said: string[] = [];
  const secrets: string[] = [];
  const line = new ChatLine(new Terminal(stdout, stderr, () => input), {
    onLine: (it) => said.push(it),
    onSecret: (it) => secrets.push(it),
    onEnd: () => undefined,
  });
  onTestFinished(() => line[Symbol.dispose]());
  const type = async (text: string): Promise<void> => {
    input.write(text);
    await nextTurn();
  };
  return { line, type, said, secrets, seen: () => seen };
}

test("[CHN-36] a secret is hidden, and the draft that it interrupted comes back", async () => {
  const { line, type, said, secrets, seen } = keyboard();

  await type("dra");
  line.askSecret("Secret: ");
  await type("canary\r");
  await type("ft\r");

  expect([secrets, said]).toEqual([["canary"], ["draft"]]);
  expect(seen()).not.toContain("canary");
});

test.each([
  { when: "before and after it is answered elsewhere", before: "half-", after: "of-it\r" },
  { when: "just after it is answered elsewhere", before: "", after: "half-of-it\r" },
])("[CHN-36] what is typed of a secret $when stays hidden and is forgotten at Enter", async ({ before, after }) => {
  const { line, type, said, secrets, seen } = keyboard();

  line.askSecret("Secret: ");
  await type(before);
  line.endSecret();
  line.show("Answered by ann");
  await type(after);
  await type("hello\r");

  expect([secrets, said]).toEqual([[], ["hello"]]);
  expect(seen()).not.toMatch(/half|of-it/);
  expect(seen()).toContain("Not sent: it may be part of the secret");
});

test("[CHN-36] after two seconds without a key messages are sent again; whoever typed something is told to press Enter", async () => {
  const { line, type, said, seen } = keyboard();

  line.askSecret("Secret: ");
  line.endSecret();
  vi.advanceTimersByTime(2_000);
  await type("hello\r");
  line.askSecret("Secret: ");
  await type("half");
  line.endSecret();
  vi.advanceTimersByTime(2_000);

  expect(said).toEqual(["hello"]);
  expect(seen()).toContain("What you typed is hidden and will not be sent.");
  expect(seen()).not.toContain("half");
});

test("[CHN-36] the next secret is asked for after that, unless nobody wants it any more either", async () => {
  const { line, type, secrets, seen } = keyboard();

  line.askSecret("First: ");
  await type("half");
  line.endSecret();
  line.askSecret("Second: ");
  await type("-of-it\r");
  await type("other\r");
  line.askSecret("Third: ");
  line.endSecret();
  line.askSecret("Fourth: ");
  line.endSecret();
  vi.advanceTimersByTime(2_000);

  expect(secrets).toEqual(["other"]);
  expect(seen()).toMatch(/First: [^]*Second: /);
  expect(seen()).not.toContain("Fourth");
});
