import { buffer } from "node:stream/consumers";
import type { SidestickClient } from "../../client/sidestick.ts";
import { INPUT_LIMIT } from "../../protocol/sessions.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { conversationOf } from "../terminals.ts";

type Sent = { readonly data: string } | { readonly data_b64: string } | { readonly keys: string[] };

export const send = defineCommand({
  name: "send",
  summary: "Type into the running program, and print the cursor from which to wait for what it says",
  takes: ["<conversation>"],
  options: {
    text: { type: "string", value: "TEXT", help: "exactly this, without Enter" },
    enter: { type: "boolean", help: "press Enter, after the text if there is one" },
    keys: { type: "string", value: "K,K", help: "keys by name: C-c, Up, F5, M-x, Escape, comma" },
    "if-prompt": { type: "string", value: "ID", help: "only if this prompt still waits; else fail and type nothing" },
  },
  examples: [
    "sidestick send py --text 'print(6*7)' --enter",
    "sidestick send setup --keys Down,Down,Enter",
    "sidestick send build --keys C-c",
    "cat answers.txt | sidestick send setup",
  ],
  notes: [
    "Without --text, --keys and --enter it types what comes on stdin. Secrets belong there: other programs can see\narguments.",
  ],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const parts = await partsOf(values);
    const conversation_id = await conversationOf(client, name);
    const if_prompt = values["if-prompt"];
    const sent = await sendAll(client, { conversation_id, if_prompt }, parts);
    if (values.json === true) terminal.printJson(sent);
    else terminal.print(String(sent.cursor));
    return EXIT.ok;
  },
});

async function sendAll(
  client: SidestickClient,
  { conversation_id, if_prompt }: { readonly conversation_id: string; readonly if_prompt: string | undefined },
  [first, ...more]: readonly [Sent, ...Sent[]],
) {
  const begun = await client.pty.send({ conversation_id, if_prompt, ...first });
  let { bytes, position } = begun;
  for (const part of more) {
    const sent = await client.pty.send({ conversation_id, ...part });
    bytes += sent.bytes;
    position = sent.position;
  }
  return { ...begun, bytes, position };
}

async function partsOf(values: {
  readonly text?: string | undefined;
  readonly enter?: boolean | undefined;
  readonly keys?: string | undefined;
}): Promise<readonly [Sent, ...Sent[]]> {
  const { text, enter = false, keys } = values;
  if (keys !== undefined) {
    if (text !== undefined) throw new UsageError("Give --text or --keys, not both.");
    const names = keys.split(",").map((key) => (key.toLowerCase() === "comma" ? "," : key));
    return [{ keys: enter ? [...names, "Enter"] : names }];
  }
  if (text !== undefined || enter) return [{ data: (text ?? "") + (enter ? "\r" : "") }];
  if (process.stdin.isTTY)
    throw new UsageError("What should be typed? Give --text, --keys, --enter, or a file on stdin.");
  return inPieces(await buffer(process.stdin));
}

/** One call takes a bounded amount. */
function inPieces(bytes: Buffer): readonly [Sent, ...Sent[]] {
  if (bytes.length === 0) throw new UsageError("There was nothing on stdin.");
  const piece = (from: number): Sent => ({ data_b64: bytes.subarray(from, from + INPUT_LIMIT).toString("base64") });
  const more = Array.from({ length: Math.ceil(bytes.length / INPUT_LIMIT) - 1 }, (_, at) =>
    piece((at + 1) * INPUT_LIMIT),
  );
  return [piece(0), ...more];
}
