/** Output on its way to chats, over the hub's own desks; the clock is the test's. */
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ANN, chattingHub, HOME, openChattingHub, THREAD } from "./chatting-hub.ts";
import type { Message } from "./log-stage.ts";

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const said = ({ card }: Message): string => card.code ?? card.text;

async function clockedHub(terms: Parameters<typeof chattingHub>[0] = {}) {
  let time = Date.now();
  const hub = await chattingHub({ ...terms, now: () => time });
  /** So much later what is due has been sent. */
  const after = async (ms: number): Promise<readonly Message[]> => {
    time += ms;
    await hub.forwarder.flush();
    await hub.drained();
    return hub.messages();
  };
  return { ...hub, after, now: () => time };
}

test("[CHN-21] output of a bound session is collected for two seconds and shown in equal widths; prose as a message", async () => {
  const hub = await clockedHub({ homes: () => [HOME] });
  const sessionId = await hub.terminal();
  await hub.print(sessionId, "npm warn old package\r\n");
  const early = await hub.after(1_900);
  await hub.print(sessionId, "added 12 packages\r\n");
  await hub.after(100);
  await hub.print(sessionId, "I have fixed the parser and all of its tests pass now.\r\n");

  const messages = await hub.after(2_000);
  expect(early).toEqual([]);
  expect(messages.map((it) => [it.card.kind, it.card.title, said(it)])).toEqual([
    ["output", "build", "npm warn old package\nadded 12 packages\n"],
    ["agent_message", "build prints:", "I have fixed the parser and all of its tests pass now.\n"],
  ]);
  expect((await hub.messages(HOME)).map(({ card }) => card.kind)).toEqual(["notice"]);
});

test("[PMT-92] with `show_raw_output` in its workspace prose is output too", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  await hub.workspaces.put({ workspaceId: "default", settings: { show_raw_output: true } }, ANN);
  await hub.print(sessionId, "I have fixed the parser and all of its tests pass now.\r\n");

  const messages = await hub.after(2_000);
  expect(messages.map((it) => [it.card.kind, said(it)])).toEqual([
    ["output", "I have fixed the parser and all of its tests pass now.\n"],
  ]);
});

test("[CHN-22] long output is read by its bytes: the end is shown and the rest counted", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  const lines = Array.from({ length: 3_000 }, (_, index) => `npm info line ${index}\n`).join("");
  await hub.print(sessionId, lines);

  const [message] = await hub.after(2_000);
  const [, count = "", rest = ""] = /^… (\d+) characters left out …\n(.*)$/s.exec(said(message!)) ?? [];
  expect(rest.endsWith("npm info line 2999\n")).toBe(true);
  expect(Number(count) + rest.length).toBe(lines.length);
  expect(said(message!).length).toBeLessThanOrEqual(2_000);
});

test("[CHN-22] a character or a colour that is cut by the two seconds comes whole with the next message", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  const bytes = Buffer.from("npm info one \u001B[31mdone: \u001B[32mgrün\u001B[0m and more output\n");
  const cut = bytes.indexOf("ü") + 1;
  const send = async (from: number, to: number) => {
    await hub.sessions.input(sessionId, { bytes: bytes.subarray(from, to), by: ANN, class: "drive" });
    await eventually(async () => {
      const { cursor, length } = (await hub.log.last(sessionId, "stdout"))?.payload ?? {};
      expect(Number(cursor) + Number(length)).toBeGreaterThanOrEqual(to - 1);
    });
  };
  await send(0, bytes.indexOf("[32m") + 2);
  await hub.after(2_000);
  await send(bytes.indexOf("[32m") + 2, cut);
  await hub.after(2_000);
  await send(cut, bytes.length);

  const messages = await hub.after(2_000);
  expect(messages.map(said).join("")).toBe("npm info one done: grün and more output\n");
});

test("[CHN-23] fifteen messages go out in a minute; what comes meanwhile is kept for the next", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  for (let index = 0; index < 17; index += 1) {
    await hub.print(sessionId, `npm info step ${index}\n`);
    await hub.after(2_000);
  }
  const inTime = (await hub.messages()).length;

  const messages = await hub.after(30_000);
  expect(inTime).toBe(15);
  expect(messages.map(said).join("")).toBe(
    Array.from({ length: 17 }, (_, index) => `npm info step ${index}\n`).join(""),
  );
});

test("[CHN-23] the end of a session sends what is left, however little, before it is told", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  await hub.print(sessionId, "bye\n");
  await hub.sessions.close(sessionId, ANN);

  const messages = await eventually(async () => {
    const found = await hub.messages();
    expect(found).toHaveLength(2);
    return found;
  });
  expect(messages.map(said)).toEqual(["bye\n", expect.stringMatching(/^The session has ended/)]);
  expect(hub.outbox.forwarded).toEqual([]);
});

test("[CHN-23] of a session that ends with signs that nobody sees nothing is waited for", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  await hub.print(sessionId, "\u200B\u2060\n");
  await hub.sessions.close(sessionId, ANN);

  await eventually(() => expect(hub.outbox.forwarded).toEqual([]));
});

test("[CHN-24] after a restart it goes on where the last message ended", async () => {
  const first = await clockedHub();
  const sessionId = await first.terminal();
  await first.print(sessionId, "npm info one\n");
  await first.after(2_000);
  await first.print(sessionId, "npm info two\n");
  await first.close();

  let time = first.now();
  const second = await openChattingHub(first.dataDir, { now: () => time });
  onTestFinished(second.close);
  await second.print(sessionId, "npm info three\n");
  time += 2_000;
  await second.forwarder.flush();
  await second.drained();
  expect((await second.messages()).map(said)).toEqual(["npm info one\n", "npm info two\nnpm info three\n"]);
});

test("[CHN-24] a thread that left hears no more, one that came hears from then on", async () => {
  const hub = await clockedHub();
  const [one, two] = [await hub.terminal(), await hub.terminal(null)];
  await hub.print(two, "npm info before\n");
  await hub.bind(THREAD, two);
  await hub.print(one, "npm info unheard\n");
  await hub.print(two, "npm info heard\n");

  expect((await hub.after(2_000)).map(said)).toEqual(["npm info heard\n"]);
  expect(hub.outbox.forwarded.map((it) => it.sessionId)).toEqual([two]);
});

test("[CHN-24] a secret that got into output is masked before it leaves", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  await hub.print(sessionId, `npm info token ${TOKEN}\n`);
  const messages = await hub.after(2_000);

  expect(messages).toHaveLength(1);
  expect(JSON.stringify([messages, await hub.store.outbox.rows(), hub.logged()])).not.toContain(TOKEN.slice(8, 30));
});

test("[CHN-28] a plan in the middle of long output is found, once and whole", async () => {
  const hub = await clockedHub();
  const sessionId = await hub.terminal();
  const noise = Array.from({ length: 400 }, (_, index) => `npm info line ${index} of a long build\n`).join("");
  const plan = "Here is my plan:\n\n1. Add a test for the parser\n2. Fix the parser\n3. Run the tests\n\n";
  await hub.print(sessionId, noise + plan + noise);

  const [message] = await eventually(async () => {
    const found = (await hub.messages()).filter(({ card }) => card.kind === "plan");
    expect(found).toHaveLength(1);
    return found;
  });
  expect(message?.card.text).toBe(
    "Here is my plan\n\n1. Add a test for the parser\n2. Fix the parser\n3. Run the tests",
  );
});
