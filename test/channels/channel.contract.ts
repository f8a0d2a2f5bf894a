/**
 * What every `Channel` promises. The adapter's test gives a stage: a channel that isn't started, and the platform behind it in the
 * hand of the test. Rules CHN-40..CHN-52 in docs/spec/channels.md.
 */
import { expect, onTestFinished, test } from "vitest";
import type { Card } from "../../src/domain/channels/card.ts";
import { ChannelFailed } from "../../src/hub/channel-port.ts";
import type { Channel, ChatUser, Incoming, MessageRef, Reaction } from "../../src/hub/channel-port.ts";
import { eventually } from "../support/eventually.ts";

export type StageMessage = {
  readonly ref: MessageRef;
  /** As a reader sees it, without markup. */
  readonly text: string;
  /** Labels, row by row. */
  readonly buttons: readonly (readonly string[])[];
};

export type ChannelTrouble = "too many" | "broken" | "silent" | "refused";

/** The platform: all in the one thread of the stage. */
export type StageServer = {
  says(user: ChatUser, text: string): Promise<MessageRef>;
  /** Presses the button with that label. Answers the notice that the presser was shown, empty if none. */
  presses(user: ChatUser, ref: MessageRef, label: string): Promise<string>;
  /** Messages of the channel that stand in the thread, oldest first; no notices. */
  shown(): readonly StageMessage[];
  /** What was shown to people because of what they wrote. */
  notices(): readonly string[];
  /** The next call that shows or changes something goes wrong; none for a channel without a network. */
  fails?(trouble: ChannelTrouble, retryAfterMs: number): void;
  /** From now on each delivery comes twice; none where that can't be. */
  repeats?(): void;
};

export type Stage = {
  readonly channel: Channel;
  readonly botName: string;
  readonly threadId: string;
  readonly ann: ChatUser;
  readonly server: StageServer;
  /** Tokens: to be seen nowhere. */
  readonly secrets: readonly string[];
  /** All that was logged. */
  readonly logged: () => string;
};

type Live = Stage & { readonly received: Incoming[] };

const LONG = 60_000;
const NOTICE: Card = { kind: "notice", text: "hello", buttons: [] };
const ASKING: Card = {
  kind: "prompt",
  title: "build <b>&amp; test</b>",
  text: "Overwrite *all* _files_ & <i>more</i>? `x`",
  code: 'rm -rf "a b" && echo <done>',
  facts: [{ name: "Program", value: "make <all>" }],
  buttons: [
    [
      { label: "Yes <&>", action: "1a.0", style: "go" },
      { label: "No", action: "1a.1", style: "stop" },
    ],
    [{ label: "Later", action: "1a.2" }],
  ],
};

/** `openHasty`: silence of the platform is noticed after seconds. */
export function channelContract(open: () => Promise<Stage>, openHasty = open): void {
  showing(open);
  changing(open);
  hearing(open);
  troubled(open, openHasty);
}

function showing(open: () => Promise<Stage>): void {
  test("[CHN-40] starting tells the bot's name and the channel is up soon; closing twice is closing", async () => {
    const { channel, botName } = await open();
    expect(await channel.start(async () => ({}))).toBe(botName);
    await eventually(() => expect(channel.health).toEqual({ state: "up" }));

    await channel.close();
    await channel.close();
    expect(channel.health.state).not.toBe("up");
  });

  test("[CHN-41] a card is shown with all its parts; what looks like markup is only text", async () => {
    const { channel, threadId, server } = await live(open);
    const ref = await channel.send(threadId, ASKING);

    expect(server.shown()).toEqual([{ ref, text: expect.any(String), buttons: [["Yes <&>", "No"], ["Later"]] }]);
    const [{ text } = { text: "" }] = server.shown();
    for (const part of [ASKING.title, ASKING.text, ASKING.code, "Program", "make <all>"]) expect(text).toContain(part);
  });

  test("[CHN-41] every kind of card is shown, an agent's message and output too: none has to stand for another", async () => {
    const { channel, threadId, server } = await live(open);
    const kinds = ["prompt", "plan", "approval", "control", "output", "agent_message", "notice"] as const;
    for (const kind of kinds) {
      const words = kind === "output" ? { text: "", code: `of ${kind}` } : { text: `of ${kind}` };
      await channel.send(threadId, { kind, ...words, buttons: [] });
    }

    const shown = server.shown().map(({ text }) => /of \w+/.exec(text)?.[0]);
    expect(shown).toEqual(kinds.map((kind) => `of ${kind}`));
  });

  test("[CHN-41] cards are shown in the order in which they were sent, each with a name of its own", async () => {
    const { channel, threadId, server } = await live(open);
    const refs: MessageRef[] = [];
    for (const text of ["one", "two", "three"]) refs.push(await channel.send(threadId, { ...NOTICE, text }));

    expect(server.shown().map(({ ref, text }) => [ref, text.trim()])).toEqual([
      [refs[0], "one"],
      [refs[1], "two"],
      [refs[2], "three"],
    ]);
    expect(new Set(refs).size).toBe(3);
  });

  test.each(["<", "&", "a\n", "😀"])("[CHN-42] a card that is far too long (of %j) is still shown", async (part) => {
    const { channel, threadId, server } = await live(open);
    const long = part.repeat(LONG / part.length);
    const ref = await channel.send(threadId, { ...ASKING, text: `begin ${long}`, code: `${long} end` });

    const [shown] = server.shown();
    expect(shown?.ref).toBe(ref);
    expect(shown?.text).toContain("begin");
    expect(shown?.text).toContain("end");
    expect(shown?.text.isWellFormed()).toBe(true);
  });

  test("[CHN-42] a card without anything to see is shown", async () => {
    const { channel, threadId, server } = await live(open);
    const ref = await channel.send(threadId, { ...NOTICE, text: " \n" });
    expect(server.shown().map((it) => it.ref)).toEqual([ref]);
  });
}

function changing(open: () => Promise<Stage>): void {
  test("[CHN-43] an edited card stands in place of the first; without buttons none is left", async () => {
    const { channel, threadId, server } = await live(open);
    const ref = await channel.send(threadId, ASKING);
    await channel.send(threadId, NOTICE);

    await channel.edit(threadId, ref, { ...NOTICE, text: "Answered by Ann" });
    expect(server.shown().map((it) => it.text.trim())).toEqual(["Answered by Ann", "hello"]);
    expect(server.shown()[0]).toMatchObject({ ref, buttons: [] });
  });

  test("[CHN-43] an edit that changes nothing is no failure", async () => {
    const { channel, threadId, server } = await live(open);
    const ref = await channel.send(threadId, ASKING);
    const before = server.shown();

    await channel.edit(threadId, ref, ASKING);
    expect(server.shown()).toEqual(before);
  });

  test("[CHN-44] a removed message is gone; once more, nothing happens, and to edit it will never do", async () => {
    const { channel, threadId, server } = await live(open);
    const ref = await channel.send(threadId, ASKING);

    expect(await channel.remove(threadId, ref)).toBe(true);
    expect(server.shown()).toEqual([]);
    expect(await channel.remove(threadId, ref)).toBe(true);
    await expect(channel.edit(threadId, ref, NOTICE)).rejects.toMatchObject({ name: "ChannelFailed", again: "never" });
  });
}

function hearing(open: () => Promise<Stage>): void {
  test("[CHN-45] a text comes with its thread, its author and its name; the reaction is shown", async () => {
    const { ann, threadId, server, received } = await live(open, async () => ({ notice: "Queued <for> next turn." }));
    const ref = await server.says(ann, "do & <it>");

    await eventually(() => expect(server.notices()).toEqual(["Queued <for> next turn."]));
    const heard = { id: expect.any(String) as string, kind: "text", threadId, user: ann, ref, text: "do & <it>" };
    const { writtenAt: _writtenAt, ...told } = received.find((it) => it.kind === "text") ?? {};
    expect([told, received.length]).toEqual([heard, 1]);
  });

  test("[CHN-46] a press comes with the action of its button and the name of its card; the reaction is shown", async () => {
    const stage = await live(open, async () => ({ notice: "Sent: y + Enter" }));
    const { channel, ann, threadId, server, received } = stage;
    const ref = await channel.send(threadId, ASKING);

    expect(await server.presses(ann, ref, "No")).toBe("Sent: y + Enter");
    expect(received).toEqual([{ id: expect.any(String), kind: "press", threadId, user: ann, ref, action: "1a.1" }]);
  });

  test("[CHN-45, CHN-46] without a notice nobody is told anything", async () => {
    const { channel, ann, threadId, server, received } = await live(open);
    const ref = await channel.send(threadId, ASKING);
    await server.says(ann, "a");

    expect(await server.presses(ann, ref, "Later")).toBe("");
    await eventually(() => expect(received).toHaveLength(2));
    expect(server.notices()).toEqual([]);
  });

  test("[CHN-47] what takes long holds up nobody: the rest comes meanwhile, in its order", async () => {
    const gate = Promise.withResolvers<Reaction>();
    const heard: string[] = [];
    const { ann, server } = await live(open, async (incoming) => {
      heard.push(incoming.kind === "text" ? incoming.text : incoming.action);
      return heard.length === 1 ? gate.promise : {};
    });
    for (const text of ["slow", "/stop", "next"]) await server.says(ann, text);

    await eventually(() => expect(heard).toEqual(["slow", "/stop", "next"]));
    gate.resolve({ notice: "at last" });
    await eventually(() => expect(server.notices()).toEqual(["at last"]));
    expect(heard).toEqual(["slow", "/stop", "next"]);
  });

  test("[CHN-48] a delivery that the platform repeats has the same id, another one another", async () => {
    const { ann, server, received } = await live(open);
    server.repeats?.();
    for (const text of ["one", "two"]) await server.says(ann, text);

    await eventually(() => expect(received).toHaveLength(server.repeats === undefined ? 2 : 4));
    const idsOf = (text: string) => received.filter((it) => it.kind === "text" && it.text === text).map((it) => it.id);
    const [one, two] = [idsOf("one"), idsOf("two")];
    expect([new Set(one).size, new Set(two).size, new Set([...one, ...two]).size]).toEqual([1, 1, 2]);
  });

  test("[CHN-49] what can't be dealt with ends without words, is logged without its text, and the next one comes", async () => {
    const heard: string[] = [];
    const { ann, server, logged } = await live(open, async (incoming) => {
      const text = incoming.kind === "text" ? incoming.text : "";
      heard.push(text);
      if (text === "hunter2") throw new Error("my hunter2 failed");
      return { notice: "ok" };
    });
    await server.says(ann, "hunter2").catch(() => undefined);
    await eventually(() => expect(heard).toContain("hunter2"));
    await server.says(ann, "fine");

    await eventually(() => expect(server.notices()).toEqual(["ok"]));
    expect(logged()).not.toContain("hunter2");
  });
}

function troubled(open: () => Promise<Stage>, openHasty: () => Promise<Stage>): void {
  test.each([
    { trouble: "too many", again: "later", retryAfterMs: 2_000 },
    { trouble: "broken", again: "later", retryAfterMs: undefined },
    { trouble: "silent", again: "later", retryAfterMs: undefined },
    { trouble: "refused", again: "never", retryAfterMs: undefined },
  ] as const)(
    "[CHN-50] $trouble: try again $again, and then it goes well",
    async ({ trouble, again, retryAfterMs }) => {
      const { channel, threadId, server } = await live(trouble === "silent" ? openHasty : open);
      if (server.fails === undefined) return;
      server.fails(trouble, 2_000);

      await expect(channel.send(threadId, NOTICE)).rejects.toMatchObject({
        name: "ChannelFailed",
        again,
        retryAfterMs,
      });
      const ref = await channel.send(threadId, NOTICE);
      server.fails(trouble, 2_000);
      await expect(channel.edit(threadId, ref, ASKING)).rejects.toMatchObject({ name: "ChannelFailed", again });
      await channel.edit(threadId, ref, ASKING);
      expect(server.shown().at(-1)?.text).toContain(ASKING.text);
    },
  );

  test("[CHN-51] no failure, state or log line holds a token", async () => {
    const { channel, threadId, server, secrets, logged } = await live(openHasty);
    const told: string[] = [];
    for (const trouble of ["too many", "broken", "silent", "refused"] as const) {
      server.fails?.(trouble, 1_000);
      const failure: unknown = await channel.send(threadId, NOTICE).catch((error: unknown) => error);
      if (failure instanceof ChannelFailed) told.push(everythingOf(failure));
      told.push(JSON.stringify(channel.health));
    }

    const all = [...told, logged()].join("\n");
    for (const secret of secrets) expect(all).not.toContain(secret);
  });

  test("[CHN-52] a closed channel sends nothing and tells nothing any more", async () => {
    const { channel, ann, threadId, server, received } = await live(open);
    await channel.close();
    await server.says(ann, "anybody?").catch(() => undefined);

    await expect(channel.send(threadId, NOTICE)).rejects.toThrow(ChannelFailed);
    expect(server.shown()).toEqual([]);
    expect(received).toEqual([]);
  });
}

/** With what hangs on it: a log line prints causes and stacks too. */
function everythingOf(error: Error): string {
  const own = Object.getOwnPropertyNames(error).map((name) => `${name}: ${String(Reflect.get(error, name))}`);
  const cause = error.cause instanceof Error ? everythingOf(error.cause) : "";
  return [String(error), ...own, JSON.stringify(error), cause].join("\n");
}

async function live(
  open: () => Promise<Stage>,
  react: (incoming: Incoming) => Promise<Reaction> = async () => ({}),
): Promise<Live> {
  const stage = await open();
  const received: Incoming[] = [];
  onTestFinished(() => stage.channel.close());
  await stage.channel.start((incoming) => {
    received.push(incoming);
    return react(incoming);
  });
  return { ...stage, received };
}
