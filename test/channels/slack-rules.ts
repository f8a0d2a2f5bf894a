/** What Slack refuses of a message, by its documented limits; nothing means that it would be shown. */
import { z } from "zod";

const plain = (max: number) => {
  return z.object({ type: z.literal("plain_text"), text: z.string().min(1).max(max), emoji: z.boolean().optional() });
};
const Mrkdwn = (max: number) => {
  return z.object({
    type: z.literal("mrkdwn"),
    text: z.string().min(1).max(max).refine(isEscaped, "unescaped characters"),
    verbatim: z.boolean().optional(),
  });
};
const ButtonBlock = z.strictObject({
  type: z.literal("button"),
  action_id: z.string().min(1).max(255),
  text: plain(75),
  value: z.string().max(2_000).optional(),
  url: z.url().max(3_000).optional(),
  style: z.enum(["primary", "danger"]).optional(),
});
const Block = z.union([
  z.strictObject({ type: z.literal("header"), text: plain(150) }),
  z.strictObject({ type: z.literal("section"), text: z.union([plain(3_000), Mrkdwn(3_000)]) }),
  z.strictObject({ type: z.literal("section"), fields: z.array(Mrkdwn(2_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal("context"), elements: z.array(Mrkdwn(3_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal("actions"), elements: z.array(ButtonBlock).min(1).max(25) }),
]);
const Blocks = z.array(Block).max(50);

export type ShownBlock = z.infer<typeof Block>;
export type Checked =
  | { readonly ok: true; readonly text: string; readonly blocks: readonly ShownBlock[] }
  | { readonly ok: false; readonly error: string; readonly messages: readonly string[] };

/** Not documented; as others have measured it. */
const ALL_BLOCKS_MAX = 13_000;
const TEXT_MAX = 40_000;

export function checkMessage(form: URLSearchParams): Checked {
  const text = form.get("text") ?? "";
  const written = form.get("blocks") ?? "[]";
  const blocks = Blocks.safeParse(JSON.parse(written));
  if (!blocks.success)
    return refuse(
      "invalid_blocks",
      blocks.error.issues.map((it) => `[ERROR] ${it.message}`),
    );
  if (written.length > ALL_BLOCKS_MAX) return refuse("msg_blocks_too_long");
  // Slack takes a message without it and warns; for us it is a fault, as notifications would be empty.
  if (text === "") return refuse("no_text");
  if (text.length > TEXT_MAX) return refuse("msg_too_long");
  if (!isEscaped(text)) return refuse("invalid_arguments", ["[ERROR] text has unescaped characters"]);
  const ids = blocks.data.flatMap((it) => (it.type === "actions" ? it.elements.map(({ action_id: id }) => id) : []));
  if (new Set(ids).size < ids.length) return refuse("invalid_blocks", ["[ERROR] `action_id` is not unique"]);
  return { ok: true, text, blocks: blocks.data };
}

export function unescape(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function isEscaped(text: string): boolean {
  return !/[<>]|&(?!amp;|lt;|gt;)/u.test(text);
}

function refuse(error: string, messages: readonly string[] = []): Checked {
  return { ok: false, error, messages };
}
