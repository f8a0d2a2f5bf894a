/** What stands for a platform in tests keeps what every channel promises. */
import { ChannelFailed, type ChatUser } from "../../src/hub/channel-port.ts";
import { BOT, TestChannel } from "../support/test-channel.ts";
import { channelContract, type Stage } from "./channel.contract.ts";

async function openTestChannel(): Promise<Stage> {
  const channel = new TestChannel();
  const [threadId, notices]: [string, string[]] = ["t", []];
  let repeats = false;
  const told = ({ notice }: { readonly notice?: string | undefined }): string => {
    if (notice !== undefined) notices.push(notice);
    return notice ?? "";
  };
  const server: Stage["server"] = {
    says: async (user: ChatUser, text) => {
      const id = `d-${text}`;
      const times = repeats ? [1, 2] : [1];
      for (const _time of times) channel.says(user, threadId, text, id).then(told, () => undefined);
      return channel.lastRef();
    },
    presses: async (user, ref, label) => {
      const { card } = channel.shown.find((it) => it.ref === ref)!;
      const { action = "" } = card.buttons.flat().find((it) => it.label === label) ?? {};
      return (await channel.presses(user, threadId, action, ref)).notice ?? "";
    },
    shown: () =>
      channel.shown.map(({ ref, card }) => ({
        ref,
        text: [card.title, card.text, card.code, ...(card.facts ?? []).map((it) => `${it.name} ${it.value}`)]
          .filter((it) => it !== undefined)
          .join("\n"),
        buttons: card.buttons.map((row) => row.map((it) => it.label)),
      })),
    notices: () => notices,
    fails: (trouble, retryAfterMs) => {
      const again = trouble === "refused" ? "never" : "later";
      channel.fails = new ChannelFailed(trouble, again, trouble === "too many" ? retryAfterMs : undefined);
    },
    repeats: () => void (repeats = true),
  };
  return { channel, botName: BOT, threadId, ann: { id: "1", name: "Ann" }, server, secrets: [], logged: () => "" };
}

channelContract(openTestChannel);
