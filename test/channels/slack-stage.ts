/** A Slack channel on a server of its own, in a thread of a channel with Ann. */
import { expect, onTestFinished } from "vitest";
import { SlackChannel, type SlackOptions } from "../../src/channels/slack/slack-channel.ts";
import type { Channel } from "../../src/hub/channel-port.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { patience } from "../../tools/suite/patience.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { eventually } from "../support/eventually.ts";
import type { ChannelTrouble, Stage } from "./channel.contract.ts";
import {
  APP_TOKEN,
  BOT_NAME,
  BOT_TOKEN,
  BOT_USER,
  type SlackFault,
  type SlackServer,
  startSlackServer,
} from "./slack-server.ts";

export const ANN = { id: "UANN", name: "Ann" };
export const CHANNEL = "C0GENERAL";
export const PARENT = "1750000000.000100";
export const THREAD = `${CHANNEL}/${PARENT}`;

export type SlackStage = Stage & { readonly slack: SlackServer };

/** When a call that Slack never answers is given up; longer than a busy machine takes for one that it does. */
export const SOON_MS = 1_000 * patience();

export const openHastySlack = (): Promise<SlackStage> => openSlack({ callMs: SOON_MS });

export async function openSlack(more: Partial<SlackOptions> = {}): Promise<SlackStage> {
  const slack = await startSlackServer();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  slack.people.set(ANN.id, ANN.name);
  const lines: string[] = [];
  const channel = new SlackChannel({
    name: "slack",
    botToken: BOT_TOKEN,
    appToken: APP_TOKEN,
    apiRoot: slack.url,
    isBound: (threadId) => threadId === THREAD,
    logger: createLogger("debug", (line) => void lines.push(line)),
    retryMs: 20,
    callMs: DEADLINE_MS,
    ...more,
  });
  onTestFinished(() => channel.close());
  const pressed = new PressesAnswered(slack);
  return {
    channel: pressed.around(channel),
    slack,
    botName: `@${BOT_NAME}`,
    threadId: THREAD,
    ann: ANN,
    secrets: [BOT_TOKEN, APP_TOKEN, "secret-ticket"],
    logged: () => lines.join(""),
    server: {
      says: async (user, text) => slack.says(user.id, CHANNEL, text, { under: PARENT }).ts,
      presses: async (user, ref, label) => {
        slack.presses(user.id, ref, label);
        return pressed.next();
      },
      shown: () =>
        ours(slack)
          .filter((it) => it.onlyFor === undefined)
          .map(({ ts, title, text, code, facts, fallback, buttons }) => ({
            ref: ts,
            text: [title, text || fallback, code, ...facts].join("\n"),
            buttons,
          })),
      notices: () =>
        ours(slack)
          .filter((it) => it.onlyFor !== undefined)
          .map((it) => it.text),
      fails: (trouble, retryAfterMs) =>
        slack.fails(["chat.postMessage", "chat.update"], { ...faultOf(trouble, retryAfterMs), times: 1 }),
      repeats: () => slack.repeats(),
    },
  };
}

/** Slack says nothing to who pressed when there is nothing to say; only the one who was asked knows that it is over. */
class PressesAnswered {
  readonly #slack: SlackServer;
  readonly #reactions: Promise<string>[] = [];

  constructor(slack: SlackServer) {
    this.#slack = slack;
  }

  around(channel: Channel): Channel {
    const start: Channel["start"] = (receive) =>
      channel.start((incoming) => {
        const reaction = receive(incoming);
        if (incoming.kind === "press") this.#reactions.push(reaction.then(({ notice }) => notice ?? ""));
        return reaction;
      });
    return new Proxy(channel, {
      get: (target, key) => {
        if (key === "start") return start;
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async next(): Promise<string> {
    const notice = await eventually(() => this.#reactions.shift() ?? Promise.reject(new Error("not yet")));
    if (notice !== "") await eventually(() => expect(this.#told()).toContain(notice));
    return notice;
  }

  #told(): string[] {
    return ours(this.#slack).flatMap((it) => (it.onlyFor === ANN.id ? [it.text] : []));
  }
}

function ours(slack: SlackServer) {
  return slack.shown(CHANNEL).filter((it) => it.by === BOT_USER);
}

function faultOf(trouble: ChannelTrouble, retryAfterMs: number): SlackFault {
  switch (trouble) {
    case "too many":
      return { status: 429, retryAfter: retryAfterMs / 1_000 };
    case "broken":
      return { status: 502 };
    case "silent":
      return { hangs: true };
    case "refused":
      return { error: "not_in_channel" };
  }
}
